"""The document job: an intent a file, a header that changes no token of code, and the file's lines in the index."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from fleet.jobs.document.audit import DocumentAudit
from fleet.jobs.document.code_map import CodeMap, outline_of
from fleet.jobs.document.eligibility import Eligible, assess
from fleet.jobs.document.index import index_lines, index_operation
from fleet.jobs.document.language import BOM
from fleet.jobs.document.languages import language_of
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.proof import Broken, prove
from fleet.jobs.document.settings import Settings as DocumentSettings
from fleet.jobs.document.writing import Inserted, Refused, insert
from fleet.jobs.registry import code_digest
from qodebase.change import SUBMODULE, SYMLINK, AnyOperation, Change, Hunk, Patch
from qodebase.collision import Declined
from qodebase.edits import materialise
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from qodebase.ports import Accepted, JobAudit, Message, Prompt, ReplayRequest, SharedPath, Tree, Unusable
from qodebase.runs import digest_of
from qodebase.trunk.naming import fault_of_path

_MOST_OUTPUT_TOKENS = 700
_MOST_TEXT = 24_000
_LFS = b"version https://git-lfs.github.com/spec/"
_FENCES = ("```", '"""', "'''")


class BadIndex(QodebaseError):
    """A path that no index can have."""


class KeptElsewhere(QodebaseError):
    """A file whose content is not in the repository."""


class Document:
    """Write the header documentation that source files lack; see `qodebase.ports.Job`."""

    name = "document"
    Settings = DocumentSettings

    def __init__(self, settings: DocumentSettings) -> None:
        self._settings = settings
        self._base: Tree | None = None
        self._index = RepoPath(settings.index.encode())
        fault = fault_of_path(self._index) if self._index else None
        if fault:
            raise BadIndex(f"--index {settings.index}: {fault}", hint="Give a path inside the repository.")

    @cached_property
    def digest(self) -> str:
        """Return a digest of the job's code, prompts and settings."""
        module = sys.modules["fleet.jobs.document"]
        return digest_of(
            [code_digest(module), [str(getattr(self._settings, name)) for name in DocumentSettings.__slots__]]
        )

    @property
    def shared(self) -> tuple[SharedPath, ...]:
        """Return the index, bound to its rule."""
        return (SharedPath(path=self._index, rule="sorted-index"),) if self._index else ()

    def open(self, base: Tree) -> None:
        """Take the code that the run began on."""
        self._base = base
        if language_of(self._index) is not None:
            raise BadIndex(f"--index {self._index.text} is a source file", hint="Give docs/API_INDEX.md, say.")
        parts = self._index.split(b"/")
        for above in (RepoPath(b"/".join(parts[:depth])) for depth in range(1, len(parts))):
            if base.entry(above) is not None:
                raise BadIndex(f"--index {self._index.text}: {above.text} is a file", hint="Give another path.")

    def ready(self) -> None:
        """Outline every file and find who uses whom."""
        _ = self._code

    def close(self) -> None:
        """Hold nothing."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Leave the lanes to the tree."""
        return {}

    def intents(self) -> Iterator[Intent]:
        """Yield an intent for each source file that the settings choose.

        Raises:
            KeptElsewhere: a file that the job would have to read is a Git LFS pointer.
        """
        yield from [self._intent(path, mode) for path, mode in self._readable()]

    def _readable(self) -> list[tuple[RepoPath, int]]:
        elsewhere = [
            path
            for path, mode in self._files
            if mode not in (SUBMODULE, SYMLINK) and self._tree.read(path).startswith(_LFS)
        ]
        if elsewhere:
            more = f" and {len(elsewhere) - 1} more files are" if len(elsewhere) > 1 else " is"
            raise KeptElsewhere(
                f"{elsewhere[0].text}{more} kept elsewhere by Git LFS, so the job cannot read them",
                hint="Leave them out: " + " ".join(f"--exclude '{path.text}'" for path in elsewhere[:20]),
            )
        return self._files

    def _intent(self, path: RepoPath, mode: int) -> Intent:
        content = b"" if mode in (SUBMODULE, SYMLINK) else self._tree.read(path)
        found = assess(path, content, mode, max_bytes=self._settings.max_bytes)
        language = language_of(path)
        ended = not isinstance(found, Eligible)
        return Intent(
            id=f"document:{path.text}",
            asked=f"Document {path.text}: its header and its index lines",
            scope=(path,),
            symbols=(f"{path.text}#",),
            group=language.name if language else "",
            ending=Ending.SKIPPED if ended else Ending.PENDING,
            reason="" if isinstance(found, Eligible) else f"{found.ending}: {found.reason}",
        )

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Return the question about one file, as prose and as facts."""
        path = intent.scope[0]
        content = fork.read(path)
        users = self._code.usage.used_by(path)
        system, _, template = _template().partition("---\n")
        text = content.decode(errors="replace")
        shown = text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "\n[the rest of the file is not shown]"
        again = "The file has changed since an earlier answer; this is its newest text.\n" if replay is not None else ""
        asked = (
            template.replace("{path}", path.text)
            .replace("{language}", intent.group)
            .replace("{used_by}", ", ".join(RepoPath(user).text for user in users[:8]) or "no file of this tree")
            .replace("{replay}", again)
            .replace("{text}", shown)
        )
        return Prompt(
            messages=(Message(role="system", text=system), Message(role="user", text=asked)),
            max_output_tokens=_MOST_OUTPUT_TOKENS,
            facts={
                "path": path,
                "outline": self._outline(path, content),
                "used_by": users,
                "uses": self._code.usage.uses(path),
                "siblings": self._code.usage.siblings(path),
                "scripted": f"Hold the code of {path.text}.",
            },
        )

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Put the answer's text at the file's place, and the file's lines into the index as the fork has it."""
        path = intent.scope[0]
        text = _bare(answer)
        if not text:
            return Unusable(ending=Ending.NO_ANSWER, why="empty: the answer holds no text")
        before = fork.read(path)
        inserted = insert(path, before, text)
        if isinstance(inserted, Refused):
            return Unusable(ending=Ending.REFUSED, why=inserted.reason)
        operations: list[AnyOperation] = [
            Patch(path=path, hunks=(Hunk(offset=inserted.offset, text=inserted.run),)),
        ]
        symbols = []
        if self._index:
            outline = self._landed_outline(path, before, inserted)
            lines = index_lines(path, outline, most=self._settings.names) if outline else []
            index = fork.read(self._index) if fork.entry(self._index) is not None else None
            operation = index_operation(self._index, index, lines)
            if isinstance(operation, Declined):
                return Unusable(ending=Ending.REFUSED, why=f"{self._index.text}: {operation.why}")
            if operation is not None:
                operations.append(operation)
            symbols = [line.split(b"`")[3].decode() for line in lines]
        return Accepted(
            change=Change(
                base=fork.commit,
                operations=tuple(operations),
                symbols=tuple(f"{path.text}#{name}" for name in symbols),
            ),
            sanitised=inserted.sanitised,
        )

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Prove that the change puts one comment or docstring at its place and moves no other byte."""
        path = intent.scope[0]
        edit = materialise(change, fork, lambda other: other == path)[path]
        if edit is None:
            return Unusable(ending=Ending.REFUSED, why="deletes the file")
        proof = prove(path, fork.read(path), edit.content)
        if isinstance(proof, Broken):
            return Unusable(ending=Ending.REFUSED, why=f"code: {proof.reason}")
        return f"one run of {proof.length} bytes at {proof.offset}" + (", reparsed" if proof.reparsed else "")

    def idempotent(self, path: RepoPath) -> bool:
        """Say that equal index lines are meant once."""
        return path == self._index

    def audit(self) -> JobAudit:
        """Return the audit of this job's promise."""
        return DocumentAudit(self._index, names=self._settings.names)

    def _landed_outline(self, path: RepoPath, before: bytes, inserted: Inserted) -> Outline | None:
        """Return the outline of a file with its header.

        A header can only change what the outline makes of the comments beside it, so where there are none the outline
        of the file without it will do, which is there already.
        """
        above = before[: inserted.offset].lstrip(BOM).strip()
        below = before[inserted.offset :].lstrip()
        if above or below.startswith((b"#", b"/")):
            return outline_of(path, inserted.content)
        return self._outline(path, before)

    def _outline(self, path: RepoPath, content: bytes) -> Outline | None:
        """Return the outline of a file as an agent sees it; the base's own where it has not moved."""
        unmoved = self._tree.entry(path) is not None and self._tree.read(path) == content
        return self._code.outlines.get(path) if unmoved else outline_of(path, content)

    @property
    def _tree(self) -> Tree:
        if self._base is None:
            raise RuntimeError("the job was not opened on a tree")
        return self._base

    @cached_property
    def _files(self) -> list[tuple[RepoPath, int]]:
        chosen = matcher(self._settings.paths) if self._settings.paths else lambda path: True
        excluded = matcher(self._settings.exclude)
        return [
            (path, entry.mode)
            for path, entry in self._tree.walk()
            if language_of(path) is not None and chosen(path) and not excluded(path) and path != self._index
        ]

    @cached_property
    def _code(self) -> CodeMap:
        readable = [path for path, mode in self._files if mode not in (SUBMODULE, SYMLINK)]
        return CodeMap(self._tree, readable, max_bytes=self._settings.max_bytes)


def _template() -> str:
    return (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")


def _bare(answer: str) -> str:
    """Return an answer without the fence or quotes that models put around text."""
    text = answer.strip()
    for fence in _FENCES:
        if text.startswith(fence) and text.endswith(fence) and len(text) >= 2 * len(fence):
            text = text[len(fence) : -len(fence)]
            head, newline, rest = text.partition("\n")
            if fence == "```" and newline and head.strip().isalnum():
                text = rest
            text = text.strip()
    return text

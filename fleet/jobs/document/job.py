"""The document job: an intent a file, a header that changes no token of code, and the file's lines in the index."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from fleet.jobs.document.answers import fault_of
from fleet.jobs.document.audit import DocumentAudit
from fleet.jobs.document.code_map import CodeMap, Outliners, outline_of
from fleet.jobs.document.eligibility import Eligible, NotEligible, assess
from fleet.jobs.document.index import index_lines, index_operation
from fleet.jobs.document.language import BOM
from fleet.jobs.document.language import Ending as Left
from fleet.jobs.document.languages import language_of
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.prompting import Template, read_template
from fleet.jobs.document.proof import Broken, prove
from fleet.jobs.document.settings import Settings as DocumentSettings
from fleet.jobs.document.shards import IndexPaths, is_sharded
from fleet.jobs.document.writing import Inserted, Refused, insert
from fleet.jobs.registry import code_digest
from qodebase.change import SUBMODULE, SYMLINK, AnyOperation, Change, Hunk, Patch
from qodebase.collision import Declined
from qodebase.edits import materialise
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from qodebase.ports import Accepted, JobAudit, Prompt, ReplayRequest, SharedPath, Tree, Unusable
from qodebase.runs import digest_of
from qodebase.trunk.naming import fault_of_path

_MOST_OUTPUT_TOKENS = 700
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
        self._outliners = Outliners()
        self._index = RepoPath(settings.index.encode())
        self._paths = IndexPaths(self._index)
        fault = fault_of_path(self._index) if self._index else None
        if fault:
            raise BadIndex(f"--index {settings.index}: {fault}", hint="Give a path inside the repository.")

    @cached_property
    def digest(self) -> str:
        """Return a digest of the job's code, prompts and settings; a prompt's file counts by what it says."""
        module = sys.modules["fleet.jobs.document"]
        settings = [str(getattr(self._settings, name)) for name in DocumentSettings.__slots__ if name != "prompt"]
        return digest_of([code_digest(module), settings, [self._template.system, self._template.asked]])

    @property
    def shared(self) -> tuple[SharedPath, ...]:
        """Return the index or its shards, bound to their rule."""
        return self._paths.shared

    def open(self, base: Tree) -> None:
        """Take the code that the run began on."""
        self._base = base
        if language_of(self._index) is not None:
            raise BadIndex(f"--index {self._index.text} is a source file", hint="Give docs/API_INDEX.md, say.")
        parts = self._index.split(b"/")
        for above in (RepoPath(b"/".join(parts[:depth])) for depth in range(1, len(parts))):
            if base.entry(above) is not None:
                raise BadIndex(f"--index {self._index.text}: {above.text} is a file", hint="Give another path.")

    def route(self, lanes: Mapping[str, Sequence[str]], landings: int) -> None:
        """Give each lane a shard of the index where the run is large, or where the settings say so.

        Raises:
            BadIndex: something stands where a shard would be.
        """
        if not self._index or not is_sharded(self._settings.index_layout, landings):
            return
        self._paths = IndexPaths(self._index, lanes)
        folder = RepoPath(next(iter(self._paths.shards)).rpartition(b"/")[0])
        for path in (folder, *sorted(self._paths.shards)):
            fault = fault_of_path(path) or ("it stands there already" if self._tree.entry(path) else None)
            if fault:
                raise BadIndex(
                    f"{path.text}, for a shard of the index: {fault}",
                    hint="Take --index-layout single, or another --index: shards go into the folder `api` beside it.",
                )

    @property
    def apart(self) -> bool:
        """Say that a helper may make prompts and changes, unless it would have to parse every file again."""
        return not self._settings.usage

    def ready(self) -> None:
        """Outline every file and find who uses whom."""
        _ = self._code

    def interrupt(self) -> None:
        """Give up `ready`."""
        self._outliners.stop()

    def close(self) -> None:
        """Hold nothing."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Leave the lanes to the tree."""
        return {}

    def intents(self) -> Iterator[Intent]:
        """Yield an intent for each source file that the settings choose.

        Raises:
            KeptElsewhere: a file that the job would have to read is a Git LFS pointer.
            BadPrompt: the prompt is none.
        """
        _ = self._template
        elsewhere: list[RepoPath] = []
        intents = []
        for path, mode in self._files:
            content = b"" if mode in (SUBMODULE, SYMLINK) else self._tree.read(path)
            if content.startswith(_LFS):
                elsewhere.append(path)
            else:
                intents.append(self._intent(path, mode, content))
        if elsewhere:
            more = f" and {len(elsewhere) - 1} more files are" if len(elsewhere) > 1 else " is"
            raise KeptElsewhere(
                f"{elsewhere[0].text}{more} kept elsewhere by Git LFS, so the job cannot read them",
                hint="Leave them out: " + " ".join(f"--exclude '{path.text}'" for path in elsewhere[:20]),
            )
        yield from intents

    def _intent(self, path: RepoPath, mode: int, content: bytes) -> Intent:
        found = assess(path, content, mode, max_bytes=self._settings.max_bytes)
        if path in self._pulled_in:
            found = NotEligible(ending=Left.NO_PLACE, reason="other files pull it in as text")
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
        text = content.decode(errors="replace")
        most = self._settings.most_text
        shown = text if len(text) <= most else text[:most] + "\n[the rest of the file is not shown]"
        again = "The file has changed since an earlier answer; this is its newest text.\n" if replay is not None else ""
        messages = self._template.messages(
            path=path.text, language=intent.group, used_by=self._users(users), replay=again, text=shown
        )
        return Prompt(
            messages=messages,
            max_output_tokens=_MOST_OUTPUT_TOKENS,
            facts={"path": path, "scripted": f"Hold the code of {path.text}.", **self._facts(path, content)},
        )

    def _facts(self, path: RepoPath, content: bytes) -> dict[str, Any]:
        """Return what programs that describe a file ask for; nothing where files are not looked at beforehand."""
        if not self._settings.usage:
            return {}
        usage = self._code.usage
        return {
            "outline": self._outline(path, content),
            "used_by": usage.used_by(path),
            "uses": usage.uses(path),
            "siblings": usage.siblings(path),
        }

    def _users(self, users: Sequence[bytes]) -> str:
        if not self._settings.usage:
            return "not looked at"
        return ", ".join(RepoPath(user).text for user in users[:8]) or "no file of this tree"

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Put the answer's text at the file's place, and the file's lines into the index as the fork has it."""
        path = intent.scope[0]
        text = _bare(answer)
        if not text:
            return Unusable(ending=Ending.NO_ANSWER, why="empty: the answer holds no text")
        before = fork.read(path)
        fault = fault_of(text, before, self._template.text) if self._settings.screen else ""
        if fault:
            return Unusable(ending=Ending.NO_ANSWER, why=f"not documentation: {fault}")
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
            operation = self._index_operation(path, fork, lines)
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

    def _index_operation(self, path: RepoPath, fork: Tree, lines: Sequence[bytes]) -> AnyOperation | Declined | None:
        """Return the edit that adds a file's lines where they go, without those that the index has already."""
        target = self._paths.of(path)
        here = fork.read(target) if fork.entry(target) is not None else None
        if target != self._index and fork.entry(self._index) is not None:
            index = fork.read(self._index)
            lines = [line for line in lines if line not in index]
        return index_operation(target, here, lines)

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
        return path in self._paths.all

    def audit(self) -> JobAudit:
        """Return the audit of this job's promise."""
        return DocumentAudit(self._paths, names=self._settings.names)

    def _landed_outline(self, path: RepoPath, before: bytes, inserted: Inserted) -> Outline | None:
        """Return the outline of a file with its header.

        Where a language's headers stand apart, one can only change what the outline makes of the comments
        beside it, so where there are none the outline of the file without it will do, which is there already.
        """
        language = language_of(path)
        above = before[: inserted.offset].lstrip(BOM).strip()
        below = before[inserted.offset :].lstrip()
        if above or below.startswith((b"#", b"/")) or language is None or not language.header_apart:
            return outline_of(path, inserted.content)
        return self._outline(path, before)

    def _outline(self, path: RepoPath, content: bytes) -> Outline | None:
        """Return the outline of a file as an agent sees it; the base's own where it has not moved."""
        unmoved = self._settings.usage and self._tree.entry(path) is not None and self._tree.read(path) == content
        return self._code.outlines.get(path) if unmoved else outline_of(path, content)

    @cached_property
    def _template(self) -> Template:
        return read_template(self._settings.prompt)

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
    def _pulled_in(self) -> frozenset[bytes]:
        """Return the files that others pull in as text, where a header may be an error."""
        if not any(language.pulls_in for path, _ in self._files if (language := language_of(path)) is not None):
            return frozenset()
        found: set[bytes] = set()
        for path, entry in self._tree.walk():
            language = language_of(path)
            if language is not None and language.pulls_in and entry.mode not in (SUBMODULE, SYMLINK):
                found.update(language.pulled_in(path, self._tree.read(path)))
        return frozenset(found)

    @cached_property
    def _code(self) -> CodeMap:
        readable = [path for path, mode in self._files if mode not in (SUBMODULE, SYMLINK) and self._settings.usage]
        return CodeMap(self._tree, readable, max_bytes=self._settings.max_bytes, beside=self._outliners)


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

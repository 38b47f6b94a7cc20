"""A second job in one file: each intent writes one line of text, in one file or in two, or moves a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.jobs.registry import digest_of_file
from qodebase.change import AnyOperation, Change, Rename, Write
from qodebase.intent import Intent
from qodebase.paths import RepoPath
from qodebase.ports import (
    Accepted,
    JobAudit,
    Landing,
    Message,
    Prompt,
    ReplayRequest,
    SharedPath,
    Tree,
    Unusable,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the job can be told."""

    edits: tuple[str, ...] = field(
        default=(),
        metadata={"help": "PATH[+PATH]=TEXT: put TEXT above each file (PATH_=TEXT: below, PATH>PATH=: move it)."},
    )


class Edit:
    """Put a line of text at the top of files."""

    name = "edit"
    Settings = Settings
    shared: tuple[SharedPath, ...] = ()

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.digest = digest_of_file(Path(__file__))

    def open(self, base: Tree) -> None:
        """Need nothing of the base."""

    def ready(self) -> None:
        """Need nothing."""

    def close(self) -> None:
        """Hold nothing."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Leave the lanes to the tree."""
        return {}

    def intents(self) -> Iterator[Intent]:
        """Yield one intent an edit."""
        for number, edit in enumerate(self._settings.edits):
            paths, _, text = edit.partition("=")
            scope = tuple(RepoPath(path.encode()) for path in paths.rstrip("_").replace(">", "+").split("+"))
            what = "Put" if ">" not in paths else "Move"
            where = "below" if paths.endswith("_") else "above"
            yield Intent(id=f"edit-{number}", asked=f"{what} {text!r} {where} {paths}", scope=scope)

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Ask for the line."""
        message = Message(role="user", text=f"{intent.asked} {replay.replay if replay else 0}")
        return Prompt(messages=(message,), max_output_tokens=10, facts={"scripted": intent.asked.split("'")[1]})

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Put the answer above each file."""
        line = answer.encode() + b"\n"
        operations: tuple[AnyOperation, ...]
        if intent.asked.startswith("Move"):
            operations = (Rename(path=intent.scope[0], target=intent.scope[1]),)
        elif " below " in intent.asked:
            operations = tuple(Write(path=path, content=fork.read(path) + line) for path in intent.scope)
        else:
            operations = tuple(Write(path=path, content=line + fork.read(path)) for path in intent.scope)
        return Accepted(change=Change(base=fork.commit, operations=operations))

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Promise nothing."""
        return "nothing promised"

    def idempotent(self, path: RepoPath) -> bool:
        """Say that equal lines are meant twice."""
        return False

    def audit(self) -> JobAudit:
        """Promise nothing."""
        return NothingPromised()


class NothingPromised:
    """An audit without findings."""

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Find nothing."""
        return ""

    def shared_edit(self, landing: Landing, path: RepoPath, before: Tree, after: Tree) -> str:
        """Find nothing."""
        return ""

    def shared_whole(
        self, path: RepoPath, base: bytes | None, final: bytes | None, landed: Iterable[Landing]
    ) -> list[str]:
        """Find nothing."""
        return []

    def account(self, path: RepoPath) -> Mapping[str, int]:
        """Count nothing."""
        return {}


JOB = Edit

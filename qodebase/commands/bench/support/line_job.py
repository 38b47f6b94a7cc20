"""A job for the fleet's benches: each intent writes the one line of one file, as the benches' endpoint answers.

What an answer says is not looked at before it lands, as no job can look into what a model means; the audit knows the
endpoint's right answers and finds every wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.jobs.registry import digest_of_file
from fleet.unshared import Unshared
from qodebase.change import Change, Write
from qodebase.commands.bench.support.endpoint_plan import answer_to
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Accepted, JobAudit, Landing, Message, Prompt, ReplayRequest, SharedPath, Tree, Unusable

_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The job can be told nothing."""


class Lines:
    """Write the line of each file."""

    name = "line"
    Settings = Settings
    shared: tuple[SharedPath, ...] = ()

    def __init__(self, settings: object) -> None:
        self._paths: list[RepoPath] = []
        self.digest = digest_of_file(Path(__file__))

    def open(self, base: Tree) -> None:
        """Take the names of all files."""
        self._paths = [path for path, _ in base.walk()]

    def ready(self) -> None:
        """Need nothing."""

    def close(self) -> None:
        """Hold nothing."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Leave the lanes to the tree."""
        return {}

    def intents(self) -> Iterator[Intent]:
        """Yield one intent a file."""
        for path in self._paths:
            yield Intent(id=path.text, asked=asked_of(path), scope=(path,))

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Ask for the line."""
        right = {"scripted": answer_to(intent.asked)}
        return Prompt(messages=(Message(role="user", text=intent.asked),), max_output_tokens=100, facts=right)

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Take any one line."""
        line = answer.strip()
        if not line.isprintable() or not 0 < len(line) <= _LONGEST:
            return Unusable(ending=Ending.NO_ANSWER, why="not one line")
        write = Write(path=intent.scope[0], content=line.encode() + b"\n")
        return Accepted(change=Change(base=fork.commit, operations=(write,)))

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Promise one line."""
        return "one line"

    def idempotent(self, path: RepoPath) -> bool:
        """Say that equal lines are meant twice."""
        return False

    def audit(self) -> JobAudit:
        """Return the audit of what landed."""
        return RightLines()


class RightLines(Unshared):
    """Find every file that holds another line than the one that was asked for."""

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Say which file is wrong."""
        path = landing.intent.scope[0]
        right = answer_to(landing.intent.asked).encode() + b"\n"
        return "" if after.read(path) == right else f"{path.text} holds the answer to another prompt"


def asked_of(path: RepoPath) -> str:
    """Return what is asked for a file, which is the whole prompt too."""
    return f"Write the line of {path.text}."


JOB = Lines

"""What jobs have in common whose intents come with a change that was made before the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fleet.given.audit import GivenAudit
from fleet.given.difference import change_between
from fleet.given.redoing import redo_prompt, redone
from qodebase.change import Change
from qodebase.code import CommitTree
from qodebase.intent import Given, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Accepted, JobAudit, Message, Prompt, ReplayRequest, SharedPath, Tree, Unusable
from qodebase.trunk.reader import Reader

_MOST_OUTPUT_TOKENS = 100
"""What naming a change may take; nobody is asked for more than its name."""


class GivenJob:
    """Hand in each intent's own change, against its own base; a model is asked only to make one again.

    The parts of `qodebase.ports.Job` and `qodebase.ports.ReadsRepository` that do not depend on where the changes come
    from.
    """

    MODEL = "given"
    _reader: Reader | None = None
    _base: Tree | None = None

    @property
    def shared(self) -> tuple[SharedPath, ...]:
        """Return the shared paths: none."""
        return ()

    def read_from(self, git: Path) -> None:
        """Read commits from this repository."""
        if self._reader is not None:
            self._reader.close()
        self._reader = Reader(git)

    def bring_to(self, git: Path) -> None:
        """Bring nothing: the commits are those of main."""

    def open(self, base: Tree) -> None:
        """Take the code that the run began on."""
        self._base = base

    def ready(self) -> None:
        """Need nothing."""

    def close(self) -> None:
        """Close the repository."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Leave the lanes to the tree."""
        return {}

    def intents(self) -> Iterator[Intent]:
        """Yield the intents; a job says which."""
        raise NotImplementedError

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Ask for the change that is there; of one that did not do, ask for another on the newest text."""
        given = intent.given
        if given is None or replay is not None or fork.commit != given.base:
            return redo_prompt(intent, fork)
        return Prompt(
            messages=(Message(role="user", text=intent.asked),),
            max_output_tokens=_MOST_OUTPUT_TOKENS,
            facts={"given": given.name},
        )

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Take the change that the answer names, or the files that it holds."""
        given = intent.given
        if given is not None and fork.commit == given.base and answer.strip() == given.name:
            return Accepted(change=self.change(intent, given, fork))
        return redone(intent, answer, fork)

    def change(self, intent: Intent, given: Given, base: Tree) -> Change:
        """Return the change that an intent came with."""
        return change_between(base, self.tree(given.tip), intent.scope)

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Say what a given change is; of one that a model made nothing is promised."""
        given = intent.given
        if given is None or change.base != given.base:
            return "made again: nothing promised"
        return f"{len(change.operations)} edits, as {given.tip[:12]} has them against {given.base[:12]}"

    def idempotent(self, path: RepoPath) -> bool:
        """Say that what two changes make alike is meant twice."""
        return False

    def audit(self) -> JobAudit:
        """Return the audit that each change is what its commits say."""
        return GivenAudit(self.tree, self.differing)

    @property
    def base(self) -> Tree:
        """Return the code that the run began on."""
        if self._base is None:
            raise RuntimeError("the job was not opened on a tree")
        return self._base

    @property
    def reader(self) -> Reader:
        """Return the repository."""
        if self._reader is None:
            raise RuntimeError("the job was given no repository")
        return self._reader

    def tree(self, commit: CommitId) -> Tree:
        """Return the code at a commit."""
        return CommitTree(self.reader, commit)

    def differing(self, one: CommitId, other: CommitId) -> Iterable[RepoPath]:
        """Return the paths at which two commits differ."""
        return self.reader.differences(one, other)

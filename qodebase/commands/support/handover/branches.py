"""Make a branch of each group: a commit and a note for an intent, or one commit for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from qodebase.collision import Declined, Entry
from qodebase.commands.support.handover.landed import Work
from qodebase.commands.support.handover.replaying import Branch, Edits
from qodebase.commands.support.handover.writing import Move, Writer
from qodebase.paths import CommitId
from qodebase.ports import Tree
from qodebase.record import write_notes
from qodebase.trailers import INTENT, RUN
from qodebase.trunk.batch import Edit, Landed, Landing, LandingRefused, Person
from qodebase.trunk.refusals import refuse_broken
from qodebase.trunk.step import Step

_PERSON = re.compile(rb"(?P<name>.*) <(?P<mail>[^<>]*)> (?P<time>\d+) (?P<zone>[+-]\d{4})", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A branch in the repository: its full name without ``refs/heads/``, and its commit."""

    branch: Branch
    name: str
    tip: CommitId
    commits: int


@dataclass(slots=True, kw_only=True)
class Maker:
    """Make commits of branches and move the branches in the end.

    Args:
        onto: the commit that every branch begins on.
        squash: one commit a branch.
    """

    writer: Writer
    run: str
    onto: Tree
    squash: bool
    moves: list[Move] = field(default_factory=list)
    _notes: dict[bytes, bytes] = field(default_factory=dict)
    _person: Person | None = None

    def make(self, branch: Branch, alone: Sequence[Work], *, force: bool) -> Made:
        """Make the commits of one branch; nothing is written yet.

        Args:
            alone: landings that have nothing but lines in shared paths, which are in this branch.
            force: move a branch that is there.

        Raises:
            BranchExists, CheckedOut: it cannot be moved.
        """
        step = self.writer.step_on(self.onto.commit)
        works = [one.work for one in branch.replayed if one.work not in alone]
        landings: list[Landing]
        if self.squash:
            landings = [self._of_many([*works, *alone], branch.edits, f"Land {branch.name}", self.onto.entry)]
        else:
            landings = [self._of_one(one.work, one.edits, one.expects) for one in branch.replayed if one.work in works]
            if branch.shared:
                newest = list(alone) or works
                paths = ", ".join(path.text for path in branch.shared)
                landings.append(self._of_many(newest, branch.shared, paths, self.onto.entry, named=list(alone)))
        for landing in landings:
            self._take(step, landing)
        name = f"qodebase/{self.run}/{branch.name}"
        tip = CommitId(step.tip.hex())
        if not self.writer.has(name, tip):
            self.moves.append(Move(name, self.writer.old_tip(name, force=force), tip))
        return Made(branch=branch, name=name, tip=tip, commits=len(landings))

    def finish(self) -> None:
        """Write everything; see `Writer.write`."""
        if self._person is not None:
            noted = {commit: blob for commit, blob in self._notes.items() if not self._has_note(commit)}
            self.writer.write(noted, self.moves, self._person, f"{len(self._notes)} exported commits")

    def _has_note(self, commit: bytes) -> bool:
        return self.writer.note(CommitId(commit.hex())) is not None

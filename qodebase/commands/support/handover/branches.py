"""Make a branch of each group: a commit and a note for an intent, or one commit for all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from qodebase.collision import Declined, Entry
from qodebase.commands.support.handover.landed import Work
from qodebase.commands.support.handover.replaying import Branch, Edits
from qodebase.commands.support.handover.writing import Move, Writer
from qodebase.errors import QodebaseError
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Tree
from qodebase.record import write_notes
from qodebase.runs import plain_name
from qodebase.trailers import INTENT, RUN
from qodebase.trunk.batch import Edit, Landed, Landing, Moved, Person
from qodebase.trunk.refusals import refuse_broken
from qodebase.trunk.step import Step

_PERSON = re.compile(rb"(.*) <([^<>]*)> (\d+) ([+-]\d{4})", re.DOTALL)


class NoCommit(QodebaseError):
    """A landing that puts a file where a folder stands, or the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A branch as it is to be: its full name without ``refs/heads/``, its newest commit, how many commits it has."""

    branch: Branch
    name: str
    tip: CommitId
    commits: int


@dataclass(slots=True, kw_only=True)
class Maker:
    """Make commits, and write them with their notes and branches in the end.

    Args:
        onto: the commit that every branch begins on.
        squash: one commit a branch.
        force: move branches that are there.
    """

    writer: Writer
    run: str
    onto: Tree
    squash: bool
    force: bool
    _moves: list[Move] = field(default_factory=list)

    def make(self, branch: Branch, newest: Work) -> Made:
        """Make the commits of a branch.

        Args:
            newest: whose author and time a commit of several landings has.

        Raises:
            BranchExists, CheckedOut: it cannot be moved.
            NoCommit: a landing does not fit the tree.
        """
        step = self.writer.step_on(self.onto.commit)
        alone = [one for one in branch.replayed if one.edits and not self.squash]
        for one in alone:
            _take(step, branch, _one(one.work, one.edits, one.expects))
        named = [one.work for one in branch.replayed if self.squash or not one.edits]
        edits = branch.edits if self.squash else branch.shared
        if edits:
            expects = {path: self.onto.entry(path) for path in edits}
            commit = _take(step, branch, _many(self.run, branch, named, edits, expects, newest))
            if not named:
                del step.notes[bytes.fromhex(commit)]
        name = f"qodebase/{plain_name(self.run)}/{branch.name}"
        tip = CommitId(step.tip.hex())
        if not self.writer.has(name, tip):
            self._moves.append(Move(name, self.writer.old_tip(name, force=self.force), tip))
        noted = {
            commit: blob for commit, blob in step.notes.items() if self.writer.note(CommitId(commit.hex())) is None
        }
        self.writer.notes |= noted
        return Made(branch=branch, name=name, tip=tip, commits=len(alone) + bool(edits))

    def finish(self, newest: Work) -> None:
        """Write everything; see `Writer.write`."""
        self.writer.write(self._moves, person_of(newest.commit.committer), f"{len(self.writer.notes)} exported commits")


def _take(step: Step, branch: Branch, landing: Landing) -> CommitId:
    taken = step.take(landing, _nothing_shared)
    if isinstance(taken, Moved):
        paths = ", ".join(path.text for path in taken.paths)
        raise NoCommit(f"{branch.name}: {paths}: {taken.why}", hint="Leave that landing out: --drop PATH.")
    return taken.commit


def _one(work: Work, edits: Edits, expects: Mapping[RepoPath, Entry | None]) -> Landing:
    """Return a landing as a commit of its own: its message, author and time as they were."""
    return _landing(work.commit.message, (), [work], edits, expects, work)


def _many(
    run: str,
    branch: Branch,
    works: Sequence[Work],
    edits: Edits,
    expects: Mapping[RepoPath, Entry | None],
    newest: Work,
) -> Landing:
    """Return the commit of several landings, or of lines of landings that stand elsewhere."""
    paths = ", ".join(path.text for path in branch.shared)
    subject = f"Land {branch.name}: {len(works)} intents" if works else f"Add the lines of all intents to {paths}"
    text = "\n".join([subject, "", *(f"* {_line(work.asked)}" for work in works)])
    trailers = [(RUN, run), *((INTENT, work.intent) for work in works)]
    if len(works) == 1:
        trailers = list(works[0].commit.trailers)
    return _landing(text, trailers, works, edits, expects, newest)


def _landing(
    message: str,
    trailers: Sequence[tuple[str, str]],
    works: Sequence[Work],
    edits: Edits,
    expects: Mapping[RepoPath, Entry | None],
    person: Work,
) -> Landing:
    def note(landed: Landed) -> bytes:
        return write_notes([work.carried(landed.parent) for work in works])

    landing = Landing(
        message=message,
        trailers=tuple(trailers),
        author=person_of(person.commit.author),
        committer=person_of(person.commit.committer),
        edits={
            path: None if edit is None else Edit(mode=edit.mode, content=edit.content) for path, edit in edits.items()
        },
        expects=expects,
        note=note,
    )
    refuse_broken(landing)
    return landing


def _nothing_shared(*_: object) -> Declined:
    return Declined(why="nothing is shared here")


def person_of(line: bytes) -> Person:
    """Return a person from a commit's own line."""
    found = _PERSON.fullmatch(line)
    if found is None:
        return Person(name="unknown", mail="", time=0)
    name, mail, time, zone = (part.decode(errors="replace") for part in found.groups())
    return Person(name=name or "unknown", mail=mail, time=int(time), zone=zone)


def _line(text: str) -> str:
    return " ".join(text.split())

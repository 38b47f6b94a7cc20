"""The landings of a run as they are handed over: what each did to its own paths and to shared ones, and its record."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from qodebase.commands.support.handover.asking import Diff, diffs_of
from qodebase.commands.support.opening import Opened
from qodebase.errors import QodebaseError
from qodebase.paths import CommitId, RepoPath
from qodebase.record import Record, read_note
from qodebase.runs import RunFolder
from qodebase.trunk.commits import CommitFacts
from qodebase.trunk.reader import Reader
from results.history import read_history


class NothingLanded(QodebaseError):
    """A run of which there is nothing to hand over."""


class StillWorking(QodebaseError):
    """A run that lands still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one intent landed.

    Attributes:
        place: its number in the order of landing.
        own: what its commit changed; ``shared`` is the part of it in paths that a rule redoes.
        after: intents that had to end before it.
    """

    place: int
    intent: str
    asked: str
    after: tuple[str, ...]
    commit: CommitFacts
    record: Record
    own: Diff
    shared: Diff

    def carried(self, parent: CommitId) -> Record:
        """Return the record for a commit on top of ``parent``."""
        return self.record.carried(self.commit.id, parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Works:
    """All that a run landed and that stands, in the order of landing.

    Attributes:
        undone: landed intents that are reverted on the run's main.
        foreign: commits of people on the run's main, which are not handed over.
    """

    works: Sequence[Work]
    undone: Sequence[str]
    foreign: Sequence[CommitId]


def refuse_live(folder: RunFolder) -> None:
    """Refuse a run that a process works on; raises `StillWorking`."""
    if holder := folder.holder():
        raise StillWorking(
            f"{folder.root} is being worked on by {holder}",
            hint=f"Wait for it, or stop that process first (Ctrl-C); `qodebase resume {folder.called}` goes on later.",
        )


def works_of(run: Opened) -> Works:
    """Read what a run landed.

    Raises:
        NothingLanded: no landing stands on its main.
        BadData: a landing's note is no record.
    """
    return read_works(run.folder, run.reader, frozenset(one.path for one in run.job.shared))


def read_works(folder: RunFolder, reader: Reader, shared: Container[RepoPath]) -> Works:
    """Read what a run landed; ``shared`` names the paths that a rule redoes.

    Raises:
        NothingLanded: no landing stands on its main.
        BadData: a landing's note is no record.
    """
    settings = folder.settings()
    intents = {intent.id: intent for intent in folder.intents()}
    tip = reader.tip(settings.branch)
    works = []
    undone: tuple[str, ...] = ()
    foreign: list[CommitId] = []
    if tip is not None:
        history = read_history(reader, run=settings.run, base=settings.base, tip=tip)
        undone = history.reverted
        foreign = [commit.id for commit in history.foreign]
        stand = [commit for commit in history.ours if commit.intent not in undone and commit.intent in intents]
        diffs = diffs_of(folder.repository, (commit.id for commit in stand))
        for place, commit in enumerate(stand):
            note = reader.note(commit.id) or b""
            diff = diffs.get(commit.id, {})
            record = read_note(note, source=f"the note of {commit.id[:12]}")
            works.append(
                Work(
                    place=place,
                    intent=commit.intent,
                    asked=record.asked,
                    after=intents[commit.intent].after,
                    commit=reader.commit(commit.id),
                    record=record,
                    own={path: differs for path, differs in sorted(diff.items()) if path not in shared},
                    shared={path: differs for path, differs in sorted(diff.items()) if path in shared},
                )
            )
    if not works:
        raise NothingLanded(
            f"no landing of {folder.root} stands on its main",
            hint=f"See how it ended: `qodebase status {folder.called}`.",
        )
    return Works(works=works, undone=undone, foreign=foreign)

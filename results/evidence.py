"""Everything that an audit of a run is made from, read once: intents, journal, attempts, history, notes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from qodebase.change import Change
from qodebase.codec import BadData, NotDecoded, pack_decoder
from qodebase.collision import Collided
from qodebase.events import AnyEvent, ChangeMade, CollisionMet, Landed, Replayed, Unknown
from qodebase.intent import Intent
from qodebase.journal import read_events
from qodebase.paths import CommitId, RepoPath
from qodebase.runs import RunFolder, Settings
from qodebase.segments import BadSegment, SegmentReader
from qodebase.state import RunState
from results.history import Commit, History, read_history
from results.repository import Repository

_CHANGE = pack_decoder(Change)


class NoChange(Exception):
    """The journal holds no change for a landing, or one that cannot be read."""


@dataclass(kw_only=True)
class Evidence:
    """What a run's folder holds; ``broken`` says at which line the journal could not be read further."""

    folder: RunFolder
    settings: Settings
    intents: dict[str, Intent]
    events: list[AnyEvent | Unknown]
    broken: str
    repository: Repository
    history: History
    live: bool
    _segments: SegmentReader = field(init=False)

    def __post_init__(self) -> None:
        self._segments = SegmentReader(self.folder.attempts)

    def close(self) -> None:
        """Close the attempts' segments."""
        self._segments.close()

    @cached_property
    def state(self) -> RunState:
        """Return where every intent stands by the journal."""
        return RunState(self.intents.values()).apply_all(self.events)

    @property
    def unfinished(self) -> bool:
        """Return whether the last process works still, or was killed and the run not resumed."""
        return self.live or not self.state.stopped

    @cached_property
    def landed(self) -> dict[str, list[Landed]]:
        """Return the journal's landings of each intent."""
        found: defaultdict[str, list[Landed]] = defaultdict(list)
        for event in self.events:
            if isinstance(event, Landed) and event.intent:
                found[event.intent].append(event)
        return dict(found)

    @cached_property
    def changes(self) -> dict[tuple[str, str, str], ChangeMade | Replayed]:
        """Return what was handed in for (intent, attempt, replay), in the words of the trailers; the newest counts."""
        found: dict[tuple[str, str, str], ChangeMade | Replayed] = {}
        for event in self.events:
            if isinstance(event, ChangeMade):
                found[event.intent or "", str(event.attempt), "0"] = event
            elif isinstance(event, Replayed):
                found[event.intent or "", str(event.attempt), str(event.replay)] = event
        return found

    @cached_property
    def collided(self) -> dict[tuple[str, str, str, RepoPath], Collided]:
        """Return the last collision of (intent, attempt, replay, path)."""
        return {
            (event.intent or "", str(event.attempt), str(event.replay), event.collided.path): event.collided
            for event in self.events
            if isinstance(event, CollisionMet)
        }

    @cached_property
    def notes(self) -> dict[CommitId, list[bytes]]:
        """Return every note of the repository, by its commit."""
        found: defaultdict[CommitId, list[bytes]] = defaultdict(list)
        for commit, note in self.repository.reader.notes():
            found[commit].append(note)
        return dict(found)

    def change(self, commit: Commit) -> Change:
        """Read the journalled change that a commit lands.

        Raises:
            NoChange: there is none, or it cannot be read.
        """
        event = self.changes.get((commit.intent, commit.attempt, commit.replay))
        if event is None:
            raise NoChange("the journal holds no change for it")
        try:
            payload = self._segments.get(event.ref)
            if hashlib.sha256(payload).hexdigest() != event.change:
                raise NoChange("the attempts hold another change for it than the journal names")
            change: Change = _CHANGE.decode(payload)
        except (BadSegment, NotDecoded, ValueError) as error:
            raise NoChange(f"its journalled change cannot be read: {error}") from None
        return change


def gather(folder: RunFolder, repository: Repository) -> Evidence | None:
    """Read a run's folder; None where its repository has no such branch.

    The journal is read before main, and main before the notes: of a run that goes on meanwhile, git then never knows
    less than the journal says.

    Raises:
        BadData: the settings or the frozen intents cannot be read.
    """
    settings = folder.settings()
    live = bool(folder.holder())
    events, broken = _read_journal(folder)
    tip = repository.reader.tip(settings.branch)
    if tip is None:
        return None
    return Evidence(
        folder=folder,
        settings=settings,
        intents={intent.id: intent for intent in folder.intents()},
        events=events,
        broken=broken,
        repository=repository,
        history=read_history(repository.reader, run=settings.run, base=settings.base, tip=tip),
        live=live,
    )


def _read_journal(folder: RunFolder) -> tuple[list[AnyEvent | Unknown], str]:
    events: list[AnyEvent | Unknown] = []
    if not folder.journal.exists():
        return events, ""
    lines: Iterator[AnyEvent | Unknown] = read_events(folder.journal)
    try:
        events.extend(lines)
    except BadData as error:
        return events, error.message
    return events, ""

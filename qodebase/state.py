"""Where every intent of a run stands, folded from the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from qodebase.collision import Collided
from qodebase.events import (
    Admitted,
    Answered,
    Asked,
    ChangeMade,
    CollisionMet,
    CutOff,
    Ended,
    Event,
    Foreign,
    Landed,
    Queued,
    Replayed,
    RunStarted,
    RunStopped,
    TrainBuilt,
)
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath


@dataclass(slots=True)
class IntentState:
    """One intent: its ending, and the newest attempt's story."""

    intent: Intent
    ending: Ending = Ending.PENDING
    reason: str = ""
    attempt: int = 0
    agent: str = ""
    base: CommitId | None = None
    lane: str | None = None
    train: str | None = None
    change_ref: str = ""
    change_digest: str = ""
    paths: tuple[RepoPath, ...] = ()
    commit: CommitId | None = None
    replay: int = 0
    landings: int = 0
    admitted_at: float = 0.0
    answered_at: float = 0.0
    queued_at: float = 0.0
    ended_at: float = 0.0
    collided: list[Collided] = field(default_factory=list)
    asked: dict[int, Asked] = field(default_factory=dict)
    answered: dict[int, Answered] = field(default_factory=dict)

    @property
    def open_calls(self) -> list[Asked]:
        """Return the calls that were begun and have no end in the journal."""
        return [call for number, call in self.asked.items() if number not in self.answered]


class RunState:
    """All intents of a run; `apply` takes the journal's events in order."""

    def __init__(self, intents: Iterable[Intent]) -> None:
        self.intents = {
            intent.id: IntentState(intent=intent, ending=intent.ending, reason=intent.reason) for intent in intents
        }
        self.sittings = 0
        self.stopped = ""
        self.tip: CommitId | None = None
        self.foreign: list[CommitId] = []
        self.calls = 0
        self.seq = 0
        self.started_at = 0.0
        self.last_at = 0.0

    def apply_all(self, events: Iterable[Event]) -> RunState:
        """Apply events in order and return self."""
        for event in events:
            self.apply(event)
        return self

    def apply(self, event: Event) -> None:
        """Move on by one event; kinds that change no state, and intents that are not of the run, are passed over."""
        self.seq = event.seq
        self.last_at = event.at
        match event:
            case RunStarted():
                self.sittings = event.sitting
                self.stopped = ""
                self.tip = event.tip
                self.started_at = self.started_at or event.at
            case RunStopped():
                self.stopped = event.why
                self.tip = event.tip
            case Foreign():
                self.foreign += event.commits
            case _ if event.intent in self.intents:
                self._apply_to(self.intents[event.intent], event)

    def _apply_to(self, state: IntentState, event: Event) -> None:
        match event:
            case Admitted():
                state.attempt = event.attempt or state.attempt
                state.agent = event.actor
                state.base = event.base
                state.admitted_at = event.at
                state.change_ref = ""
                state.collided = []
                state.replay = 0
            case Asked():
                state.asked[event.call] = event
                self.calls = max(self.calls, event.call)
            case Answered():
                state.answered[event.call] = event
                state.answered_at = event.at
            case CutOff():
                state.asked.pop(event.call, None)
            case ChangeMade():
                state.change_ref, state.change_digest = event.ref, event.change
                state.paths = event.paths
            case Replayed():
                state.change_ref, state.change_digest = event.ref, event.change
                state.replay = event.replay
            case Queued():
                state.lane = event.lane
                state.queued_at = event.at
            case TrainBuilt():
                state.train = event.train
            case CollisionMet():
                state.collided.append(event.collided)
            case Landed():
                state.ending = Ending.LANDED
                state.commit = event.commit
                state.lane, state.train, state.replay = event.lane, event.train, event.replay
                state.landings += 1
                state.ended_at = event.at
                self.tip = event.commit
            case Ended():
                state.ending = event.ending
                state.reason = event.reason
                state.ended_at = event.at

    def ledger(self) -> dict[Ending, int]:
        """Return how many intents stand at each ending, zeros included; they sum to the number of intents."""
        counts = Counter(state.ending for state in self.intents.values())
        return {ending: counts[ending] for ending in Ending}

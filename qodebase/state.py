"""Where every intent of a run stands, folded from the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from qodebase.caps import Caps
from qodebase.collision import Collided
from qodebase.events import (
    Admitted,
    Answered,
    Asked,
    ChangeMade,
    CheckLost,
    CollisionMet,
    Composed,
    CutOff,
    Ended,
    Event,
    Foreign,
    Landed,
    NeverInForce,
    Ordered,
    Pushed,
    Queued,
    Replayed,
    RunStarted,
    RunStopped,
    SentBack,
    Stalled,
    TrainBuilt,
)
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath


@dataclass(slots=True)
class IntentState:
    """One intent: its ending, and the newest attempt's story.

    ``cancelled`` is why a person wants it to end, empty for nobody; ``sent_back`` says why the newest attempt that was
    sent back was.
    """

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
    cancelled: str = ""
    sent_back: SentBack | None = None
    landings: int = 0
    admitted_at: float = 0.0
    answered_at: float = 0.0
    queued_at: float = 0.0
    ended_at: float = 0.0
    collided: list[Collided] = field(default_factory=list)
    asked: dict[int, Asked] = field(default_factory=dict)
    answered: dict[int, Answered] = field(default_factory=dict)

    @property
    def has_change(self) -> bool:
        """Return whether the newest attempt made a change that was not sent back."""
        sent_back = self.sent_back is not None and self.sent_back.attempt == self.attempt
        return bool(self.change_ref) and not sent_back

    @property
    def touched(self) -> tuple[RepoPath, ...]:
        """Return the paths of the newest attempt's change, and where its files had moved."""
        return (*self.paths, *(met.moved_to for met in self.collided if met.moved_to is not None))

    @property
    def open_calls(self) -> list[Asked]:
        """Return the calls that were begun and have no end in the journal."""
        return [call for number, call in self.asked.items() if number not in self.answered]


class RunState:
    """All intents of a run; `apply` takes the journal's events in order.

    ``paused``, ``draining`` and ``stalled`` (what hung) are of the newest sitting, ``orders`` the ids of all that were
    taken in; ``progress`` counts calls and intents that ended.
    """

    def __init__(self, intents: Iterable[Intent]) -> None:
        self.intents = {
            intent.id: IntentState(intent=intent, ending=intent.ending, reason=intent.reason) for intent in intents
        }
        self.sittings = 0
        self.caps: Caps | None = None
        self.stopped = ""
        self.paused = self.draining = False
        self.stalled: tuple[str, ...] = ()
        self.lanes: dict[str, str] = {}
        """Lanes that are paused or draining."""
        self.orders: set[str] = set()
        self.progress = 0
        self.tip: CommitId | None = None
        self.foreign: list[CommitId] = []
        self.composed: list[CommitId] = []
        self.unpushed = 0
        """Landings, and commits that compose, of which no `Pushed` tells; all where the run does not push."""
        self.uncomposed: set[RepoPath] = set()
        """What intents landed on, without the shards that were composed since."""
        self.out_of_force: set[str] = set()
        """Checks of the contract that are red on main, or were on the base."""
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
        state = None if event.intent is None else self.intents.get(event.intent)
        if state is None:
            self._apply_to_run(event)
        else:
            self._apply_to(state, event)

    def _apply_to_run(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.sittings = event.sitting
                self.caps = event.caps
                self.stopped = ""
                self.paused = self.draining = False
                self.lanes.clear()
                self.stalled = ()
                self.tip = event.tip
                self.started_at = self.started_at or event.at
            case RunStopped():
                self.stopped = event.why
                self.tip = event.tip
            case Ordered():
                self._order(event)
            case Stalled():
                self.stalled = event.real_hangs
            case NeverInForce():
                self.out_of_force.update(event.checks)
            case CheckLost():
                self.out_of_force.add(event.check)
            case Foreign():
                self.foreign += event.commits
            case Pushed():
                self.unpushed = 0
            case Composed():
                self.unpushed += 1
                self.composed.append(event.commit)
                self.uncomposed.difference_update(event.shards)
                self.tip = event.commit

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
                self._move_on()
                state.answered[event.call] = event
                state.answered_at = event.at
            case ChangeMade():
                state.change_ref, state.change_digest = event.ref, event.change
                state.paths = event.paths
            case Queued():
                state.lane = event.lane
                state.queued_at = event.at
            case Landed():
                self._move_on()
                state.ending = Ending.LANDED
                self.unpushed += 1
                state.commit = event.commit
                state.lane, state.train, state.replay = event.lane, event.train, event.replay
                state.landings += 1
                self.out_of_force.difference_update(state.intent.checks)
                self.uncomposed.update(state.paths)
                state.ended_at = event.at
                self.tip = event.commit
            case Ended():
                self._move_on()
                state.ending = event.ending
                state.reason = event.reason
                state.ended_at = event.at
            case CutOff():
                state.asked.pop(event.call, None)
            case Replayed():
                state.change_ref, state.change_digest = event.ref, event.change
                state.paths = event.paths or state.paths
                state.replay = event.replay
            case TrainBuilt():
                state.train = event.train
            case CollisionMet():
                state.collided.append(event.collided)
            case SentBack():
                state.sent_back = event

    def _move_on(self) -> None:
        self.progress += 1
        self.stalled = ()

    def _order(self, event: Ordered) -> None:
        self.orders.add(event.order)
        if event.lane is not None:
            self.lanes.pop(event.lane, None)
            if event.what in ("pause", "drain"):
                self.lanes[event.lane] = {"pause": "paused", "drain": "draining"}[event.what]
            return
        match event.what:
            case "pause":
                self.paused = True
            case "resume":
                self.paused = False
            case "drain":
                self.draining = True
            case "cancel":
                for name in self.intents if event.everything else event.intents:
                    state = self.intents.get(name)
                    if state is not None and state.ending is Ending.PENDING:
                        state.cancelled = event.reason

    def ledger(self) -> dict[Ending, int]:
        """Return how many intents stand at each ending, zeros included; they sum to the number of intents."""
        counts = Counter(state.ending for state in self.intents.values())
        return {ending: counts[ending] for ending in Ending}

"""Where a run's changes met main: what each of them was laid on, and what became of it there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from qodebase.collision import Collided, Kind
from qodebase.events import (
    ChangeMade,
    CollisionMet,
    Event,
    Foreign,
    Judged,
    Landed,
    Replayed,
    RunStarted,
    SentBack,
    TrainBuilt,
)
from qodebase.paths import CommitId
from qodebase.ports import Verdict
from results.scoring.answers import Which


class Fate(StrEnum):
    """What became of a change where it met main."""

    LANDED = "landed"
    REDONE = "redone"
    REFUSED = "refused"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """One change and the state that it was to land on.

    Attributes:
        which: the change.
        fate: it landed; a model redid it; the gate refused it; or no replay worked.
        target: the commit of main: the parent that it landed on, what the model was shown, the train's tip, or where
            main stood when it was sent back.
        ahead: the changes that its train had in front of it, in order.
        collided: the collisions that the journal tells of it, shared paths left out.
    """

    which: Which
    fate: Fate
    target: CommitId
    ahead: tuple[Which, ...] = ()
    collided: tuple[Collided, ...] = ()


def meetings(events: Iterable[Event]) -> Iterator[Meeting]:
    """Yield every meeting that decided something about a change, in the journal's order.

    A change that the gate refused is one that is sent back when the last train that it was in was red, and no step of
    a replay failed since. A train of several that is red, and then split, decides nothing yet.
    """
    walk = _Walk()
    for event in events:
        yield from walk.take(event)


@dataclass(slots=True)
class _Train:
    """The last train of a change: what it was coupled on, and behind what."""

    tip: CommitId
    ahead: tuple[Which, ...]
    guessed: bool


@dataclass(slots=True)
class _Walk:
    tip: CommitId = field(default=CommitId(""))
    current: dict[str, Which] = field(default_factory=dict)
    trains: dict[str, _Train] = field(default_factory=dict)
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    red: dict[str, _Train] = field(default_factory=dict)
    met: dict[Which, list[Collided]] = field(default_factory=dict)

    def take(self, event: Event) -> Iterator[Meeting]:
        """Take the next event in."""
        intent = event.intent or ""
        match event:
            case RunStarted():
                self.tip = event.tip
            case Foreign(commits=commits) if commits:
                self.tip = commits[0]
            case ChangeMade():
                self.current[intent] = Which(intent, event.attempt or 1, 0)
                self.red.pop(intent, None)
            case CollisionMet():
                self._meet(event)
            case TrainBuilt():
                self._couple(event)
            case Judged():
                self._judge(event)
            case Replayed():
                which = Which(intent, event.attempt or 1, event.replay)
                yield self._meeting(self._current(intent, event.attempt or 1), Fate.REDONE, event.base)
                self.current[intent] = which
                self.red.pop(intent, None)
            case Landed():
                self.tip = event.commit
                yield self._meeting(Which(intent, event.attempt or 1, event.replay), Fate.LANDED, event.parent)
            case SentBack():
                which = self._current(intent, event.attempt or 1)
                train = self.red.pop(intent, None)
                if which != self.current.get(intent):
                    # The agent's own check was red: it met nobody.
                    return
                if train is None:
                    yield self._meeting(which, Fate.STUCK, self.tip)
                else:
                    yield self._meeting(which, Fate.REFUSED, train.tip, train.ahead)

    def _current(self, intent: str, attempt: int) -> Which:
        which = self.current.get(intent)
        return which if which is not None and which.attempt == attempt else Which(intent, attempt, 0)

    def _meet(self, event: CollisionMet) -> None:
        which = Which(event.intent or "", event.attempt or 1, event.replay)
        if event.collided.kind is not Kind.SHARED:
            self.met.setdefault(which, []).append(event.collided)
        if not event.collided.resolved_by:
            self.red.pop(which.intent, None)

    def _couple(self, event: TrainBuilt) -> None:
        ahead: tuple[Which, ...] = ()
        self.members[event.train or ""] = event.members
        for member in event.members:
            self.trains[member] = _Train(event.tip, ahead, event.guessed)
            self.red.pop(member, None)
            current = self.current.get(member)
            if current is not None:
                ahead = (*ahead, current)

    def _judge(self, event: Judged) -> None:
        if event.of:
            return
        for member in self.members.pop(event.train or "", ()):
            train = self.trains[member]
            if event.verdict == Verdict.RED:
                # A train that was coupled on a guess came to its verdict when the one before it had landed.
                self.red[member] = _Train(self.tip, train.ahead, False) if train.guessed else train
            else:
                self.red.pop(member, None)

    def _meeting(self, which: Which, fate: Fate, target: CommitId, ahead: tuple[Which, ...] = ()) -> Meeting:
        return Meeting(which=which, fate=fate, target=target, ahead=ahead, collided=tuple(self.met.pop(which, ())))

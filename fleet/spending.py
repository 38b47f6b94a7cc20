"""What a run has spent so far, folded from its journal over all its sittings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from qodebase.caps import Most
from qodebase.events import (
    Answered,
    Asked,
    CutOff,
    Ended,
    Event,
    Landed,
    Postponed,
    Queued,
    RunStarted,
    RunStopped,
)

PICO = 10**12
"""Money is added up in millionths of a millionth of a USD, each call rounded up, so that sums are exact."""


class Amount(NamedTuple):
    """Tokens and millionths of a millionth of a USD."""

    tokens: int = 0
    pico: int = 0


def amount(tokens: int, usd: float | None) -> Amount:
    """Return an amount; money that is not known counts as none."""
    return Amount(tokens, math.ceil(usd * PICO) if usd else 0)


def plus(one: Amount, other: Amount, *, times: int = 1) -> Amount:
    """Return one amount with another added, or taken away where ``times`` is negative."""
    return Amount(one.tokens + times * other.tokens, one.pico + times * other.pico)


class Spending:
    """Fold the journal's events in order; `apply` is constant time.

    What a call used that nobody could count (it was killed, or the reply was lost) is taken to be the most that it
    could use, as it was journalled before the call.

    Attributes:
        spent: what all calls used, retries, replays and failed ones included.
        replays: the part of it that model replays used.
        landed: how many intents landed.
        in_lanes: intents whose change waits in a lane.
        largest: the most that a call for fresh work could use so far, of each kind.
        guessed: calls that count with the most that they could use.
        unpriced: calls of unknown cost and unknown price, whose money is in no sum.
    """

    def __init__(self) -> None:
        self.spent = Amount()
        self.replays = Amount()
        self.landed = 0
        self.in_lanes: set[str] = set()
        self.largest = Amount()
        self.guessed = 0
        self.unpriced = 0
        self._open: dict[int, Asked] = {}
        self._worked = self._began = self._last = 0.0

    @property
    def usd(self) -> float:
        """Return the USD spent."""
        return self.spent.pico / PICO

    def apply_all(self, events: Iterable[Event]) -> Spending:
        """Apply events in order and return self."""
        for event in events:
            self.apply(event)
        return self

    def apply(self, event: Event) -> None:
        """Move on by one event."""
        match event:
            case Asked():
                self._open[event.call] = event
                if event.purpose == "fresh":
                    most = amount(event.most_tokens, event.most_usd)
                    self.largest = Amount(*map(max, self.largest, most))
            case Answered():
                self._end(event.call, event)
            case CutOff():
                self._end(event.call, None)
            case Queued(intent=str(intent)):
                self.in_lanes.add(intent)
            case Landed() | Ended() | Postponed():
                self.in_lanes.discard(event.intent or "")
                self.landed += isinstance(event, Landed)
            case RunStarted():
                self._worked += self._last - self._began
                self._began = event.at
                self.in_lanes.clear()
        # A new sitting first writes down, as these two, what the one before it left open; that is no time worked.
        if event.actor not in ("trunk", "driver") or isinstance(event, RunStarted | RunStopped):
            self._last = event.at

    def seconds(self, now: float | None = None) -> float:
        """Return the seconds in which a process worked on the run, up to ``now`` or the newest event."""
        return self._worked + max(self._last, now or 0.0) - self._began

    def replays_to_come(self, intents: int) -> Amount:
        """Return what model replays of so many intents under way will use, as far as this run tells.

        That is the replays for each landed intent, times what a replay used on average, for each of the intents; the
        number of replays cancels out. A run that has landed nothing tells nothing.
        """
        if not self.landed:
            return Amount()
        return Amount(*(-(-used * intents // self.landed) for used in self.replays))

    def _end(self, call: int, answered: Answered | None) -> None:
        asked = self._open.pop(call, None)
        used = self._used(answered, Most(asked.most_tokens, asked.most_usd) if asked else Most(usd=None))
        self.spent = plus(self.spent, used)
        if asked is not None and asked.purpose == "replay":
            self.replays = plus(self.replays, used)

    def _used(self, answered: Answered | None, most: Most) -> Amount:
        tokens = answered.input_tokens + answered.output_tokens if answered else 0
        usd = answered.cost_usd if answered else None
        if usd is not None:
            return amount(tokens, usd)
        self.guessed += most.usd is not None
        self.unpriced += most.usd is None
        return amount(tokens or most.tokens, most.usd)

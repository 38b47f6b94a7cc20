"""A run in which nothing moves: noticed after a while, named, and stopped when it does not end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto

from qodebase.events import Asked
from qodebase.intent import Ending
from qodebase.state import IntentState

_LONGEST_STEP_S = 5.0
_NAMED = 5


class Look(Enum):
    """What a look at a run came to."""

    FINE = auto()
    STALLED = auto()
    STUCK = auto()


class Stall:
    """Watch that calls or intents end while somebody is at work; `look` must be called every second or so.

    Args:
        after_s: seconds of wall time without any such end that are a stall; after twice as many the run is stuck. 0:
            never.
    """

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._progress = -1
        self._looked: float | None = None
        self._told = False
        self.still_s = 0.0

    def look(self, progress: int, *, now: float, at_work: bool) -> Look:
        """Say how the run looks now; a stall is told once, then once more when it is stuck.

        Args:
            progress: how many calls and intents have ended.
            now: seconds of a clock that is never set.
            at_work: whether any intent is under way.
        """
        passed = 0.0 if self._looked is None else now - self._looked
        self._looked = now
        if progress != self._progress or not at_work:
            self._progress = progress
            self._told = False
            self.still_s = 0.0
            return Look.FINE
        # A process that was stopped itself (a debugger, a machine that slept) has not waited all that time.
        self.still_s += min(passed, _LONGEST_STEP_S)
        if not self._after_s or self.still_s < self._after_s:
            return Look.FINE
        if not self._told:
            self._told = True
            return Look.STALLED
        return Look.STUCK if self.still_s >= 2 * self._after_s else Look.FINE


def hanging(
    states: Iterable[IntentState],
    at_work: Iterable[str],
    *,
    waiting: Mapping[str, int],
    at_gate: int,
    paused_s: float,
    now: float,
) -> tuple[str, ...]:
    """Return in words what is under way, the oldest calls first.

    Args:
        states: all intents.
        at_work: the ids of those that agents have.
        waiting: changes in each lane.
        at_gate, paused_s: calls that wait in front of the model, and for how many seconds more all of them do.
        now: seconds on the run's clock.
    """
    agents = set(at_work)
    calls = sorted(
        (call for state in states if state.ending is Ending.PENDING for call in state.open_calls),
        key=lambda call: call.at,
    )
    found = [_call(call, now) for call in calls[:_NAMED]]
    if len(calls) > _NAMED:
        found.append(f"{len(calls) - _NAMED} more calls have no end")
    if at_gate:
        still = f", which keeps still for {paused_s:.0f} s more" if paused_s else ""
        found.append(f"{at_gate} calls wait at the gate of the model{still}")
    found += [f"{count} changes wait in the lane {lane}" for lane, count in waiting.items() if count]
    found.append(f"{len(agents)} intents are with agents: {_some(sorted(agents))}")
    return tuple(found)


def _call(call: Asked, now: float) -> str:
    kind = "a replay of" if call.purpose == "replay" else "the call for"
    return f"{kind} {call.intent} by {call.model} has no end for {now - call.at:.0f} s (call {call.call})"


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + rest

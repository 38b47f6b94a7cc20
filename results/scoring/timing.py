"""How long a run took, how long its changes waited, and how often checks were run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qodebase.events import Event, Judged, Landed, Queued, RunStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Figures of a journal, on the run's clock.

    Attributes:
        minutes: in which a process worked on the run: of each sitting from its start to its last event, all together.
        waits_s: of each landed change the seconds from when it was first handed in to its lanes, as this attempt, to
            its landing; sorted.
        test_runs: how often the gate had checks run. What was red and was run once more is two runs; a verdict that
            was known is none; runs on main, of a bisection say, count.
    """

    minutes: float
    waits_s: tuple[float, ...]
    test_runs: int

    def wait_s(self, share: float) -> float:
        """Return the wait that this share of the landed changes does not exceed (nearest rank); 0 where none landed."""
        return percentile(self.waits_s, share)


def timing_of(events: Iterable[Event]) -> Timing:
    """Take the figures from a journal's events, in order."""
    seconds = start = 0.0
    last: float | None = None
    queued: dict[tuple[str | None, int | None], float] = {}
    waits = []
    runs = 0
    for event in events:
        if isinstance(event, RunStarted):
            seconds += 0.0 if last is None else last - start
            start = event.at
        last = event.at
        change = (event.intent, event.attempt)
        if isinstance(event, Queued):
            queued.setdefault(change, event.at)
        elif isinstance(event, Landed):
            waits.append(event.at - queued.get(change, event.at))
        elif isinstance(event, Judged):
            runs += event.runs
    seconds += 0.0 if last is None else last - start
    return Timing(minutes=seconds / 60, waits_s=tuple(sorted(waits)), test_runs=runs)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the sorted values does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0

"""The ramp: agents start so many a second, so that neither a provider nor the event loop meets all of them at once."""

from __future__ import annotations

import asyncio

from qodebase.ports import Clock, Model

PER_S = 2000.0
"""Agents that start in a second where the model is asked over a wire and nothing else is said."""

_TOGETHER = 32
"""Agents that start in one turn of the loop where nothing is said; lanes and desk have a turn between."""

_TICK_S = 0.05
"""Agents that are due within so many seconds start together."""


class Ramp:
    """When agents may start, on the clock that is given.

    Args:
        per_s: agents a second, at most; None: as fast as the loop takes them.
    """

    def __init__(self, clock: Clock, per_s: float | None = None) -> None:
        if per_s is not None and not per_s > 0:
            raise ValueError("a ramp must start more than 0 agents a second")
        self._clock = clock
        self._together = _TOGETHER if per_s is None else max(1, int(per_s * _TICK_S))
        self._wait_s = 0.0 if per_s is None else self._together / per_s

    async def turn(self, number: int) -> None:
        """Return when agent ``number``, counted from 1 and asked for in order, may start."""
        if number == 1 or (number - 1) % self._together:
            return
        if self._wait_s:
            await self._clock.sleep(self._wait_s)
        else:
            await asyncio.sleep(0)


def ramp_for(model: Model, clock: Clock, per_s: float | None) -> Ramp:
    """Return the ramp of a run: as it was told, else at a provider's pace, and at once where nobody is asked."""
    return Ramp(clock, per_s if per_s or model.deterministic else PER_S)

"""How many calls of one model may be under way: fewer when the provider fails under the load, more when it answers."""

from __future__ import annotations

import asyncio

from qodebase.ports import Answer, Failure, NoAnswer

_SHARE = 8
"""A window of good answers makes room for an eighth of the most calls."""

_CUT = 0.5
"""What one failed call takes off the limit; a window in which every call fails halves it."""


class Concurrency:
    """A limit on calls under way, by additive increase and multiplicative decrease.

    A window is as many calls as the limit. Good answers add an eighth of ``most`` in a window, failed calls take off
    half of the share that failed. So the limit stays at ``most`` while up to a fifth of the calls fail, settles at
    ``most / 4`` where half of them do, goes towards one call where all do, and is back within eight good windows. One
    call may always be under way: nothing starves.

    The increase and decrease are those of Chiu and Jain, "Analysis of the increase and decrease algorithms for
    congestion avoidance" (1989); the cut in proportion to the share that failed is that of Alizadeh and others, "Data
    center TCP" (2010), without which a steady few per cent of errors would choke the fleet.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError("at least one call must be allowed")
        self.most = most
        self.in_flight = 0
        self._limit = float(most)
        self._step = max(1.0, most / _SHARE)
        self._changed = asyncio.Event()

    @property
    def limit(self) -> int:
        """Return how many calls may be under way now."""
        return int(self._limit)

    @property
    def full(self) -> bool:
        """Return whether no call may begin now."""
        return self.in_flight >= self.limit

    def begin(self) -> None:
        """Count a call that begins."""
        self.in_flight += 1

    def end(self, *, overloaded: bool | None) -> None:
        """Count a call that ended; None: it says nothing of the provider (it was never made, or cancelled)."""
        self.in_flight -= 1
        if overloaded:
            self._limit = max(1.0, self._limit - _CUT)
        elif overloaded is not None:
            self._limit = min(float(self.most), self._limit + min(1.0, self._step / self._limit))
        self._changed.set()

    async def room(self) -> None:
        """Return when a call may begin; for one waiter."""
        while self.full:
            self._changed.clear()
            await self._changed.wait()


def is_overloaded(outcome: Answer | NoAnswer) -> bool:
    """Return whether a call failed as calls do when a provider has too much to do.

    These are a 429, a timeout, and what failed before any work was done for it (5xx, no connection). A reply that
    came and makes no sense is not among them.
    """
    if isinstance(outcome, Answer):
        return False
    if outcome.failure in (Failure.RATE, Failure.TIMEOUT):
        return True
    return outcome.failure is Failure.PROVIDER and outcome.retry and outcome.cost_usd == 0

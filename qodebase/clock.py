"""Time is passed in: the system's clock, or a virtual one that moves only when nothing real is in flight."""

from __future__ import annotations

import asyncio
import heapq
import selectors
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

_NOTHING = nullcontext()


class SystemClock:
    """Wall time."""

    simulated = False

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait so many seconds."""
        await asyncio.sleep(seconds)

    def working(self) -> AbstractContextManager[None]:
        """Mark real work in flight (a thread, a process, a socket)."""
        return _NOTHING

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """Return a loop that this clock can run in."""
        return asyncio.new_event_loop()


class VirtualClock:
    """Time that jumps to the next sleeper as soon as the loop has nothing to do and no real work is in flight.

    Sleepers that are due at the same instant wake in the order in which they went to sleep, one loop step each, so a
    run with the same seed has the same order of events. It must run in a loop from `new_event_loop`, which tells it
    when the loop is idle.
    """

    simulated = True

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = 0
        self._working = 0

    def now(self) -> float:
        """Return the virtual seconds since the epoch."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait so many virtual seconds."""
        future = asyncio.get_running_loop().create_future()
        self._order += 1
        heapq.heappush(self._sleepers, (self._now + max(0.0, seconds), self._order, future))
        await future

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold time still while real work is in flight."""
        self._working += 1
        try:
            yield
        finally:
            self._working -= 1

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """Return a loop whose idle moments move this clock."""
        return asyncio.SelectorEventLoop(_IdleSelector(self))

    def advance(self) -> bool:
        """Wake the next sleeper; return False where there is none or real work holds time still."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        if self._working or not self._sleepers:
            return False
        due, _, future = heapq.heappop(self._sleepers)
        self._now = max(self._now, due)
        future.set_result(None)
        return True


class _IdleSelector(selectors.DefaultSelector):
    """Tell the clock when the loop would block."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self._clock.advance():
            return []
        return super().select(timeout)

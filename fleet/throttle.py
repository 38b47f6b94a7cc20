"""The gate in front of a model: its calls and tokens a minute, and a pause that the whole fleet keeps.

asyncio-throttle polls, so one task asks it on behalf of a queue of waiters: ten thousand of them cost one poller, are
served in order, and those that gave up cost no permit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, NamedTuple

from asyncio_throttle.throttler import Throttler

from qodebase.ports import Clock, Prompt

_TOKEN_PERMITS = 100
"""Permits a second that a limit of tokens is cut into."""

_WINDOW_S = 0.25

_HAIR_S = 1e-4
"""The shortest wait, above the rounding of seconds since the epoch."""


class _Waiter(NamedTuple):
    future: asyncio.Future[None]
    tokens: int


class ClockThrottler(Throttler):
    """asyncio-throttle's sliding window on a clock that is passed in, and without polling."""

    def __init__(self, rate_limit: int, period: float, clock: Clock) -> None:
        super().__init__(rate_limit, period)
        self._clock = clock

    def flush(self) -> None:
        """Forget what has left the window."""
        since = self._clock.now() - self.period
        while self._task_logs and self._task_logs[0] <= since:
            self._task_logs.popleft()

    async def acquire(self) -> None:
        """Wait for a permit."""
        self.flush()
        while len(self._task_logs) >= self.rate_limit:
            left: float = self._task_logs[0] + self.period - self._clock.now()
            await self._clock.sleep(max(left, _HAIR_S))
            self.flush()
        self._task_logs.append(self._clock.now())


class Throttle:
    """Let calls through in the order of their coming; `serve` must run beside them, in a task of their owner.

    Args:
        clock: what the seconds of a pause, and under a virtual clock those of the limits, are counted on.
        requests_per_minute, tokens_per_minute: the limits; None: none.
    """

    def __init__(
        self, clock: Clock, *, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        self._clock = clock
        self._requests = None if requests_per_minute is None else _throttler(clock, *_window(requests_per_minute))
        self._tokens = None if tokens_per_minute is None else _Tokens(clock, tokens_per_minute)
        self._queue: deque[_Waiter] = deque()
        self._arrived = asyncio.Event()
        self._paused_until = 0.0
        self._closed = False

    @property
    def waiting(self) -> int:
        """Return how many calls wait, those that gave up and are not yet passed over included."""
        return len(self._queue)

    @property
    def paused_s(self) -> float:
        """Return for how many seconds more the fleet keeps still."""
        return max(0.0, self._paused_until - self._clock.now())

    def pause(self, seconds: float) -> None:
        """Let no call through for so many seconds from now; the longest pause counts."""
        self._paused_until = max(self._paused_until, self._clock.now() + seconds)

    async def enter(self, tokens: int = 0) -> None:
        """Wait for a call's turn; ``tokens`` is what it will use at most."""
        free = self._requests is None and self._tokens is None
        if free and not self._queue and self.paused_s == 0:
            return
        waiter = _Waiter(asyncio.get_running_loop().create_future(), tokens)
        self._queue.append(waiter)
        self._arrived.set()
        await waiter.future

    def settle(self, expected: int, used: int) -> None:
        """Give back, or charge, the difference between the tokens that a call was let through with and its use."""
        if self._tokens is not None:
            self._tokens.charge(used - expected)

    async def serve(self) -> None:
        """Let waiters through until `close`; cancelled, those that still wait are cancelled too."""
        permit = False
        try:
            while await self._someone():
                if not permit and self._requests is not None:
                    await self._requests.acquire()
                permit = True
                await self._end_of_pause()
                waiter = self._first()
                if waiter is None:
                    continue
                if self._tokens is not None:
                    await self._tokens.take(waiter)
                    await self._end_of_pause()
                if waiter.future.done():
                    self.settle(waiter.tokens, 0)
                    continue
                self._queue.popleft()
                waiter.future.set_result(None)
                permit = False
        finally:
            for waiter in self._queue:
                waiter.future.cancel()
            self._queue.clear()

    def close(self) -> None:
        """Let `serve` end as soon as nobody waits."""
        self._closed = True
        self._arrived.set()

    async def _someone(self) -> bool:
        """Wait for a waiter that has not given up; return False when none will come."""
        while self._first() is None:
            if self._closed:
                return False
            self._arrived.clear()
            await self._arrived.wait()
        return True

    def _first(self) -> _Waiter | None:
        while self._queue and self._queue[0].future.done():
            self._queue.popleft()
        return self._queue[0] if self._queue else None

    async def _end_of_pause(self) -> None:
        while (left := self.paused_s) > 0:
            await self._clock.sleep(max(left, _HAIR_S))


class _Tokens:
    """A limit of tokens as permits of asyncio-throttle, a hundred a second; what is left of one is carried over."""

    def __init__(self, clock: Clock, per_minute: float) -> None:
        self._size = per_minute / 60 / _TOKEN_PERMITS
        self._throttler = _throttler(clock, _TOKEN_PERMITS, 1.0)
        self._owed = 0.0

    def charge(self, tokens: int) -> None:
        """Owe so many tokens more; a credit is worth one minute at most, which is what the provider counts by."""
        self._owed = max(-60.0 * _TOKEN_PERMITS, self._owed + tokens / self._size)

    async def take(self, waiter: _Waiter) -> None:
        """Wait until a waiter's tokens, and what was owed before, may be used, or the waiter has given up."""
        self.charge(waiter.tokens)
        while self._owed >= 1 and not waiter.future.done():
            await self._throttler.acquire()
            self._owed -= 1


def _throttler(clock: Clock, limit: int, period: float) -> Any:
    """Return what hands out permits; asyncio-throttle declares no types."""
    return ClockThrottler(limit, period, clock) if clock.simulated else Throttler(limit, period)


def _window(per_minute: float) -> tuple[int, float]:
    """Return a limit and its window in seconds: a quarter of a second where the rate allows.

    A window of a minute would let a minute's calls out at once; one near the polls of asyncio-throttle, a hundredth of
    a second apart, would lose much of the rate to them.
    """
    limit = max(1, int(per_minute / 60 * _WINDOW_S))
    return limit, limit * 60 / per_minute


def expected_tokens(prompt: Prompt) -> int:
    """Return what a call uses at most, as providers count it: four bytes of a prompt are about one token."""
    size = sum(len(message.text.encode("utf-8", "replace")) for message in prompt.messages)
    return size // 4 + 4 * len(prompt.messages) + prompt.max_output_tokens

"""The gate in front of a model: its calls and tokens a minute, how many are under way, and the whole fleet's pauses.

One task asks asyncio-throttle on behalf of a queue of waiters: ten thousand of them cost one timer, are served in
order, and those that gave up cost no permit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, NamedTuple

from asyncio_throttle.throttler import Throttler

from fleet.concurrency import Concurrency
from fleet.models.registry import ModelTable
from qodebase.ports import Clock, Model, Prompt

_TOKEN_PERMITS = 100
"""Permits a second that a limit of tokens is cut into."""

_A_TURN = 16
"""Calls that are let through in one turn of the loop; what has come in meanwhile has its turn between."""

_LATE_S = 0.25
"""Permits that were due so long ago are still handed out."""

_TOGETHER_S = 0.005
"""Permits that are due within so many seconds are handed out at once; a timer for each would cost more."""

_HAIR_S = 1e-4
"""The shortest wait, above the rounding of seconds since the epoch."""


class _Waiter(NamedTuple):
    future: asyncio.Future[None]
    tokens: int


class ClockThrottler(Throttler):
    """asyncio-throttle's sliding window on a clock that is passed in, without polling and without loss.

    A permit counts from the moment at which it was due, at most a quarter of a second before it is taken: what a busy
    event loop was late for is made up, so the rate holds and calls are spread evenly.
    """

    def __init__(self, rate_limit: int, period: float, clock: Clock) -> None:
        super().__init__(rate_limit, period)
        self._clock = clock
        self._shortest_s = _HAIR_S if clock.simulated else _TOGETHER_S

    async def acquire(self) -> None:
        """Wait for a permit."""
        now = due = self._clock.now()
        if len(self._task_logs) >= self.rate_limit:
            due = self._task_logs.popleft() + self.period
            # A wait much longer than the window means that the clock was set back.
            while 0 < due - now < 2 * self.period:
                await self._clock.sleep(max(due - now, self._shortest_s))
                now = self._clock.now()
        self._task_logs.append(min(now, max(due, now - _LATE_S)))


class Throttle:
    """Let calls through in the order of their coming; `serve` must run beside them, in a task of their owner.

    Each call that `enter` let through is told to `leave`.

    Args:
        clock: what the seconds of a pause, and under a virtual clock those of the limits, are counted on.
        requests_per_minute, tokens_per_minute: the limits; None: none.
        in_flight: the most calls under way, fewer while many fail; None: as many as come.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        in_flight: int | None = None,
    ) -> None:
        self._clock = clock
        self.concurrency = None if in_flight is None else Concurrency(in_flight)
        self._requests = None if requests_per_minute is None else _throttler(clock, 1, 60 / requests_per_minute)
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
    def counts_tokens(self) -> bool:
        """Return whether there is a limit of tokens."""
        return self._tokens is not None

    @property
    def paused_s(self) -> float:
        """Return for how many seconds more the fleet keeps still."""
        return max(0.0, self._paused_until - self._clock.now())

    def pause(self, seconds: float) -> None:
        """Let no call through for so many seconds from now; the longest pause counts."""
        self._paused_until = max(self._paused_until, self._clock.now() + seconds)

    async def enter(self, tokens: int = 0) -> None:
        """Wait for a call's turn; ``tokens`` is what it will use at most."""
        unlimited = self._requests is None and self._tokens is None
        if unlimited and not self._queue and self._quiet:
            self._begin()
            return
        waiter = _Waiter(asyncio.get_running_loop().create_future(), tokens)
        self._queue.append(waiter)
        self._arrived.set()
        try:
            await waiter.future
        except asyncio.CancelledError:
            if not waiter.future.cancelled():
                # Cancelled in the very turn of the loop in which it was let through.
                self.settle(tokens, 0)
                self.leave(overloaded=None)
            raise

    def leave(self, *, overloaded: bool | None) -> None:
        """Count a call as ended; None: it says nothing of the provider (it was cancelled)."""
        if self.concurrency is not None:
            self.concurrency.end(overloaded=overloaded)

    def let_go(self) -> None:
        """Let all through that wait now, without a permit: they are told behind the gate that no call is made."""
        while (waiter := self._first()) is not None:
            self._queue.popleft()
            self._begin()
            waiter.future.set_result(None)

    def settle(self, expected: int, used: int) -> None:
        """Give back, or charge, the difference between the tokens that a call was let through with and its use."""
        if self._tokens is not None:
            self._tokens.charge(used - expected)

    async def serve(self) -> None:
        """Let waiters through until `close`; cancelled, those that still wait are cancelled too."""
        permit = False
        through = 0
        try:
            while await self._someone():
                if not permit and self._requests is not None:
                    await self._requests.acquire()
                permit = True
                await self._quietness()
                waiter = self._first()
                if waiter is None:
                    continue
                if self._tokens is not None:
                    await self._tokens.take(waiter)
                    await self._quietness()
                if waiter.future.done():
                    self.settle(waiter.tokens, 0)
                    continue
                self._queue.popleft()
                self._begin()
                waiter.future.set_result(None)
                permit = False
                through += 1
                if through % _A_TURN == 0:
                    await asyncio.sleep(0)
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

    def _begin(self) -> None:
        if self.concurrency is not None:
            self.concurrency.begin()

    @property
    def _quiet(self) -> bool:
        """Return whether neither a pause nor the calls under way keep back the next one."""
        return self.paused_s == 0 and (self.concurrency is None or not self.concurrency.full)

    async def _quietness(self) -> None:
        while not self._quiet:
            if (left := self.paused_s) > 0:
                await self._clock.sleep(max(left, _HAIR_S))
            elif self.concurrency is not None:
                await self.concurrency.room()


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
    return ClockThrottler(limit, period, clock)


def gate_for(model: Model, table: ModelTable, clock: Clock, *, workers: int) -> Throttle:
    """Return the gate in front of a model: what its table says, else what its kind bears, for so many agents.

    A model's class may say ``most_in_flight`` and ``most_per_minute``.
    """
    bears = getattr(model, "most_in_flight", workers) if table.in_flight is None else table.in_flight
    return Throttle(
        clock,
        requests_per_minute=table.requests_per_minute or getattr(model, "most_per_minute", None),
        tokens_per_minute=table.tokens_per_minute,
        in_flight=max(1, min(workers, bears)),
    )


def expected_tokens(prompt: Prompt) -> int:
    """Return what a call uses at most, as providers count it: four bytes of a prompt are about one token."""
    size = sum(len(message.text.encode("utf-8", "replace")) for message in prompt.messages)
    return size // 4 + 4 * len(prompt.messages) + prompt.max_output_tokens

"""The budget: each call reserves the most that it can use; the caps hold for all that is spent and reserved."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fleet.models.registry import Price
from fleet.spending import PICO, Amount, Spending, amount, plus
from fleet.throttle import Throttle
from qodebase.caps import Caps, Most
from qodebase.errors import QodebaseError
from qodebase.events import Event
from qodebase.ports import Clock

_HAIR_S = 1e-3
"""The shortest wait, above the rounding of seconds since the epoch."""

_NOTHING = Amount()
_ANYTHING = Amount(1, 1)


class UnknownPrice(QodebaseError):
    """A cost cap, and a model whose price is not known."""


def check_price(model: str, price: Price | None) -> None:
    """Refuse a model of unknown price under a cost cap.

    Raises:
        UnknownPrice: the price is not known.
    """
    if price is None:
        raise UnknownPrice(
            f"a cost cap needs the price of the model {model}, which is not known",
            hint=f"Give it in USD per million tokens: --price '{model}=0.05:0.20', or `price = {{ input = 0.05, output "
            "= 0.20 }` in its [models.NAME] table; or cap tokens: --token-cap.",
        )


@dataclass(eq=False, slots=True)
class _Waiter:
    """A call that waits for its reservation; the future brings why there is none, or the empty text."""

    most: Amount
    fresh: bool
    future: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Budget:
    """Let calls be made as long as all of them together stay below the caps, whatever each of them uses.

    A call that does not fit waits for others to settle: they rarely use all that they reserved. It is turned away when
    nothing that could make room is under way. Calls of intents that were begun (replays, retries, later attempts) go
    before those that begin an intent; these must leave room for the replays that the intents under way will need
    (`Spending.replays_to_come`). The first ordinary one of them that is turned away closes the budget: no intent is
    begun any more. One that wants more than every call before it is turned away alone.

    Args:
        caps: the caps; they may be set anew before the first call.
        spending: what the run spent so far; `apply` keeps it up to date.
        closed: is called once, when no intent will be begun any more.
    """

    def __init__(self, caps: Caps, clock: Clock, spending: Spending, *, closed: Callable[[], None]) -> None:
        self.caps = caps
        self._clock = clock
        self._spending = spending
        self._closed = closed
        self._reserved = Amount()
        self._under_way = 0
        self._beginning = 0
        self._begun: deque[_Waiter] = deque()
        self._fresh: deque[_Waiter] = deque()
        self._is_closed = False
        self.reached = ""

    @property
    def caps(self) -> Caps:
        """Return the caps."""
        return self._caps

    @caps.setter
    def caps(self, caps: Caps) -> None:
        self._caps = caps
        self.capped = bool(caps)

    def apply(self, event: Event) -> None:
        """Hear an event of the journal; without a cap there is nothing to hear."""
        if self.capped:
            self._spending.apply(event)
            self._look()

    async def reserve(self, most: Most, *, fresh: bool) -> str:
        """Wait until a call may be made; return the empty text, or why it may not. `release` gives it back.

        Args:
            fresh: the call begins an intent.
        """
        if not self.capped:
            return ""
        waiter = _Waiter(amount(most.tokens, most.usd), fresh)
        (self._fresh if fresh else self._begun).append(waiter)
        self._look()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter.future.done() and not waiter.future.cancelled() and not waiter.future.result():
                self.release(most, fresh=fresh)
            raise

    def release(self, most: Most, *, fresh: bool) -> None:
        """Give a reservation back, once what the call used is journalled or it was never made."""
        if not self.capped:
            return
        self._reserved = plus(self._reserved, amount(most.tokens, most.usd), times=-1)
        self._under_way -= 1
        self._beginning -= fresh
        self._look()

    def late(self) -> str:
        """Return why a call that has its reservation may not be made after all: time ran out. Else the empty text."""
        return self._refused("time", fresh=False) if self._over_time() else ""

    async def end_in_time(self, gates: Sequence[Throttle]) -> None:
        """Wait for the end of the time cap, then turn away all calls that wait, also those at the gates."""
        if self.caps.seconds is None:
            return
        while (left := self.caps.seconds - self._spending.seconds(self._clock.now())) > 0:
            await self._clock.sleep(max(left, _HAIR_S))
        self._refused("time", fresh=False)
        self._look()
        for gate in gates:
            gate.let_go()

    def _look(self) -> None:
        """Serve waiters in the order of their coming, those that began before those that would begin."""
        for queue in (self._begun, self._fresh):
            while queue:
                waiter = queue[0]
                if not waiter.future.done():
                    over = self._over(waiter)
                    if over and self._may_fit_later(waiter):
                        return
                    waiter.future.set_result(self._refused(over, fresh=waiter.fresh, most=waiter.most) if over else "")
                    if not over:
                        self._grant(waiter)
                queue.popleft()

    def _grant(self, waiter: _Waiter) -> None:
        self._reserved = plus(self._reserved, waiter.most)
        self._under_way += 1
        self._beginning += waiter.fresh

    def _over(self, waiter: _Waiter) -> str:
        """Return the cap that a call would be over, or the empty text."""
        if self._is_over_for(waiter):
            return self.reached or "time"
        wanted = plus(plus(self._spending.spent, self._reserved), waiter.most)
        if waiter.fresh:
            under_way = len(self._spending.in_lanes) + self._beginning + 1
            wanted = plus(wanted, self._spending.replays_to_come(under_way))
        return self._beyond(wanted)

    def _may_fit_later(self, waiter: _Waiter) -> bool:
        """Return whether something is under way that may make room for a call."""
        if self._is_over_for(waiter) or self._beyond(plus(self._spending.spent, waiter.most)):
            return False
        return bool(self._under_way or (waiter.fresh and self._spending.in_lanes))

    def _is_over_for(self, waiter: _Waiter) -> bool:
        return self._over_time() or (waiter.fresh and self._is_closed)

    def _beyond(self, wanted: Amount) -> str:
        caps = self.caps
        if caps.cost_usd is not None and wanted.pico > round(caps.cost_usd * PICO):
            return "cost"
        return "token" if caps.tokens is not None and wanted.tokens > caps.tokens else ""

    def _over_time(self) -> bool:
        seconds = self._caps.seconds
        return seconds is not None and self._spending.seconds(self._clock.now()) >= seconds

    def _refused(self, over: str, *, fresh: bool, most: Amount = _NOTHING) -> str:
        self.reached = self.reached or over
        spending = self._spending
        used_up = over == "time" or self._beyond(plus(spending.spent, _ANYTHING))
        ordinary = all(wanted <= seen for wanted, seen in zip(most, spending.largest, strict=True))
        if (used_up or (fresh and ordinary)) and not self._is_closed:
            self._is_closed = True
            self._closed()
        return f"the {over} cap is reached"

    def told(self) -> str:
        """Return the cap that was reached, and what was spent, in words; empty where none was."""
        spent, caps = self._spending, self.caps
        match self.reached:
            case "cost":
                return f"cost cap of ${caps.cost_usd:g}: ${spent.usd:.6g} spent"
            case "token":
                return f"token cap of {caps.tokens:,}: {spent.spent.tokens:,} used"
            case "time":
                return f"time cap of {caps.seconds:g} s: {spent.seconds(self._clock.now()):.0f} s worked"
        return ""

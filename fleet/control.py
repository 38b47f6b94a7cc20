"""Control of a live run: what people order it to do, and whether it still moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fleet.admission import Queue
from fleet.agent import Agents
from fleet.stall import Look, Stall
from lanes.yard import Yard
from qodebase import events
from qodebase.intent import Ending
from qodebase.journal import Journal
from qodebase.orders import Order, Orders, What
from qodebase.state import RunState

_LOOK_S = 0.2


class Control:
    """Take orders in, each once, and watch for a stall; `serve` must run beside the agents.

    An order is journalled before it is obeyed, so a kill in between leaves a cancel that the next `take` finishes.

    Args:
        me: this process, as `qodebase.runs.RunFolder.holder` names it; pause and resume for others are dropped.
        hangs: says in words what is under way, for a stall.
        yard: obeys orders to one lane.
    """

    def __init__(
        self,
        orders: Orders,
        me: str,
        *,
        state: RunState,
        journal: Journal,
        queue: Queue,
        agents: Agents,
        stall: Stall,
        hangs: Callable[[], tuple[str, ...]],
        yard: Yard,
    ) -> None:
        self._orders = orders
        self._me = me
        self._state = state
        self._journal = journal
        self._queue = queue
        self._agents = agents
        self._stall = stall
        self._hangs = hangs
        self._yard = yard

    def begin(self) -> None:
        """Finish the cancels of earlier sittings, and take in what waits; before any agent starts."""
        self._cancel()
        self.take()

    def take(self) -> None:
        """Take in the orders that wait."""
        for given in self._orders.waiting():
            order = given.order
            if order.id not in self._state.orders and order.to in ("", self._me):
                self._obey(order)
            given.remove()

    async def serve(self, stop: Callable[[], None]) -> None:
        """Look for orders and for a stall until cancelled; ``stop`` is called when nothing moves any more.

        Orders and stalls are of this world: their seconds are wall time under every clock.
        """
        while True:
            await asyncio.sleep(_LOOK_S)
            self.take()
            now = asyncio.get_running_loop().time()
            at_work = self._queue.out > 0 and not self._state.lanes
            look = self._stall.look(self._state.progress, now=now, at_work=at_work)
            if look is not Look.FINE:
                self._journal.write(
                    events.Stalled, actor="driver", real_s=round(self._stall.still_s, 1), real_hangs=self._hangs()
                )
            if look is Look.STUCK:
                stop()
                return

    def _obey(self, order: Order) -> None:
        self._journal.write(
            events.Ordered,
            actor="operator",
            what=str(order.what),
            order=order.id,
            intents=order.intents,
            everything=order.everything,
            reason=order.reason,
            lane=order.lane or None,
        )
        if order.lane:
            self._obey_lane(order)
            return
        match order.what:
            case What.PAUSE:
                self._queue.pause()
            case What.RESUME:
                self._queue.go_on()
            case What.CANCEL:
                self._cancel()

    def _obey_lane(self, order: Order) -> None:
        match order.what:
            case What.PAUSE:
                self._yard.pause(order.lane)
            case What.DRAIN:
                self._yard.drain(order.lane)
            case What.RESUME:
                self._yard.go_on(order.lane)

    def _cancel(self) -> None:
        """End what was cancelled and no agent has; agents end the rest where that is safe."""
        for known in self._state.intents.values():
            if not known.cancelled or known.ending is not Ending.PENDING:
                continue
            if known.intent.id in self._agents.at_work:
                self._agents.cancel(known.intent.id)
            else:
                self._journal.write(
                    events.Ended,
                    actor="operator",
                    intent=known.intent.id,
                    attempt=known.attempt or None,
                    ending=Ending.CANCELLED,
                    reason=known.cancelled,
                )
        self._queue.look()

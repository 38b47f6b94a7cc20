"""Admission: which intent an agent gets next, or why it must wait."""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from fleet.claiming import Claims
from qodebase.intent import Ending, Intent
from qodebase.ports import Wait

_Ready = tuple[int, int, Intent]
"""An intent behind its priority and its place in the frozen order."""


class Queue:
    """Hand out open intents by priority, then in their frozen order, each after those that it names in ``after``.

    What waits for an intent that is not handed out now (a sample left it out, say) stays pending: agents are told that
    nothing comes any more once nobody works on anything that it could wait for. Agents that wait are woken in the order
    of their coming, and no more of them than there is work for, so that ten thousand do not ask at each ending.

    Args:
        intents: what may be admitted, in order.
        ending: how an intent stands now; anything but pending has ended.
        held: hears, once for each intent, that it is passed over while another one (the second id) works on what both
            claim (see `fleet.claiming`); None: intents claim nothing.
    """

    def __init__(
        self,
        intents: Iterable[Intent],
        ending: Callable[[str], Ending],
        *,
        held: Callable[[str, str], object] | None = None,
    ) -> None:
        self._ending = ending
        self._claims = None if held is None else Claims()
        self._tell = held
        self._held: dict[str, list[_Ready]] = {}
        self._told: set[str] = set()
        self._ready: list[_Ready] = []
        self._blocked: dict[int, Intent] = dict(enumerate(intents))
        self._behind: defaultdict[str, list[int]] = defaultdict(list)
        self._drained = False
        self._paused = False
        self._waiters: deque[asyncio.Future[None]] = deque()
        self.out = 0
        for order in list(self._blocked):
            self._file(order)

    def next(self) -> Intent | Wait | None:
        """Return an intent, a reason to wait, or None when nothing will come any more."""
        if self.over():
            return None
        if self._paused:
            return Wait(why="the run is paused")
        intent = self._unclaimed()
        if intent is not None:
            self.out += 1
            return intent
        for holder, held in self._held.items():
            return Wait(why=f"{held[0][2].id} waits for what {holder} claims too")
        intent = next(iter(self._blocked.values()))
        return Wait(why=f"{intent.id} waits for {', '.join(self._open(intent))}")

    def _unclaimed(self) -> Intent | None:
        """Return the first intent that is ready and claims nothing that others hold; the ones before it wait."""
        while self._ready:
            first = heapq.heappop(self._ready)
            intent = first[2]
            if self._ending(intent.id) is not Ending.PENDING:
                continue
            holder = self._claims.take(intent) if self._claims is not None else ""
            if not holder:
                return intent
            self._held.setdefault(holder, []).append(first)
            if self._tell is not None and intent.id not in self._told:
                self._told.add(intent.id)
                self._tell(intent.id, holder)
        return None

    def over(self) -> bool:
        """Return whether nothing will come any more; what ended before it was handed out is passed over."""
        while self._ready and self._ending(self._ready[0][2].id) is not Ending.PENDING:
            heapq.heappop(self._ready)
        return self._drained or not (self._ready or ((self._blocked or self._held) and self.out))

    def ended(self, intent: str) -> None:
        """Look again: nobody works any more on an intent that was handed out."""
        self.out -= 1
        if self._claims is not None:
            self._claims.release(intent)
            for waited in self._held.pop(intent, ()):
                heapq.heappush(self._ready, waited)
        self._release(intent)
        self._wake()

    def look(self) -> None:
        """Look at all again: intents have ended that were not handed out."""
        self._blocked = {at: one for at, one in self._blocked.items() if self._ending(one.id) is Ending.PENDING}
        for intent in list(self._behind):
            self._release(intent)
        self._wake()

    def drain(self) -> None:
        """Hand out nothing more; agents finish what they have."""
        self._drained = True
        self._wake()

    def pause(self) -> None:
        """Hand out nothing until `go_on`; agents that ask for more wait."""
        self._paused = True

    def go_on(self) -> None:
        """Hand out intents again."""
        self._paused = False
        self._wake()

    async def changed(self) -> None:
        """Return when a waiting agent should ask again."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                self._wake()
            raise

    def _wake(self) -> None:
        """Let waiting agents ask: all of them when nothing will come any more, else as many as find an intent."""
        count = len(self._waiters) if self.over() else 0 if self._paused else len(self._ready)
        while count and self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                count -= 1

    def _release(self, intent: str) -> None:
        if self._ending(intent) is not Ending.PENDING:
            for order in self._behind.pop(intent, ()):
                self._file(order)

    def _file(self, order: int) -> None:
        """File a blocked intent behind one that it still has to wait for; without any it is ready."""
        intent = self._blocked.get(order)
        if intent is None:
            return
        open_ones = self._open(intent)
        if open_ones:
            self._behind[open_ones[0]].append(order)
        else:
            del self._blocked[order]
            heapq.heappush(self._ready, (intent.priority, order, intent))

    def _open(self, intent: Intent) -> list[str]:
        return [other for other in intent.after if self._ending(other) is Ending.PENDING]

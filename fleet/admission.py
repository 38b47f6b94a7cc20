"""Admission: which intent an agent gets next, or why it must wait."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Iterable

from qodebase.intent import Ending, Intent
from qodebase.ports import Wait


class Queue:
    """Hand out open intents by priority, then in their frozen order, each after those that it names in ``after``.

    What waits for an intent that is not handed out now (a sample left it out, say) stays pending: agents are told that
    nothing comes any more once nobody works on anything that it could wait for.

    Args:
        intents: what may be admitted, in order.
        ending: how an intent stands now; anything but pending has ended.
    """

    def __init__(self, intents: Iterable[Intent], ending: Callable[[str], Ending]) -> None:
        self._ending = ending
        self._ready: list[tuple[int, int, Intent]] = []
        self._blocked: dict[int, Intent] = {}
        self._drained = False
        self._out = 0
        self._changed = asyncio.Event()
        for order, intent in enumerate(intents):
            self._blocked[order] = intent
        self._unblock()

    def next(self) -> Intent | Wait | None:
        """Return an intent, a reason to wait, or None when nothing will come any more."""
        if self._drained:
            return None
        if self._ready:
            self._out += 1
            return heapq.heappop(self._ready)[2]
        if self._blocked and self._out:
            intent = next(iter(self._blocked.values()))
            return Wait(why=f"{intent.id} waits for {', '.join(self._open(intent))}")
        return None

    def ended(self) -> None:
        """Look again: an intent that was handed out has ended."""
        self._out -= 1
        if self._blocked:
            self._unblock()
        self._changed.set()

    def drain(self) -> None:
        """Hand out nothing more; agents finish what they have."""
        self._drained = True
        self._changed.set()

    async def changed(self) -> None:
        """Return when a waiting agent should ask again."""
        self._changed.clear()
        await self._changed.wait()

    def _unblock(self) -> None:
        for order in [order for order, intent in self._blocked.items() if not self._open(intent)]:
            intent = self._blocked.pop(order)
            heapq.heappush(self._ready, (intent.priority, order, intent))

    def _open(self, intent: Intent) -> list[str]:
        return [other for other in intent.after if self._ending(other) is Ending.PENDING]

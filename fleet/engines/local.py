"""Agents as tasks of this process's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fleet.ramp import Ramp


class LocalEngine:
    """Run agents beside each other in one process, started in a ramp; the first bug stops all.

    An agent ends when there is nothing left to take, so with the first that ends the ramp ends too.
    """

    def __init__(self, ramp: Ramp) -> None:
        self._ramp = ramp

    async def run(self, agents: int, work: Callable[[int], Awaitable[None]]) -> None:
        """Run so many agents to their end."""
        async with asyncio.TaskGroup() as tasks:

            async def one(number: int) -> None:
                await work(number)
                starting.cancel()

            async def start() -> None:
                for number in range(1, agents + 1):
                    await self._ramp.turn(number)
                    tasks.create_task(one(number), name=f"agent {number}")

            starting = tasks.create_task(start(), name="ramp")

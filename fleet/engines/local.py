"""Agents as tasks of this process's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

_RAMP = 32
"""Agents that start in one turn of the loop; lanes and desk have a turn between."""


class LocalEngine:
    """Run agents beside each other in one process, started in ramps; the first bug stops all."""

    async def run(self, agents: int, work: Callable[[int], Awaitable[None]]) -> None:
        """Run so many agents to their end."""

        async def one(number: int) -> None:
            await work(number)

        async with asyncio.TaskGroup() as tasks:
            for number in range(1, agents + 1):
                tasks.create_task(one(number), name=f"agent {number}")
                if number % _RAMP == 0:
                    await asyncio.sleep(0)

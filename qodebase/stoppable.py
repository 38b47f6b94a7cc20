"""A part of a task that others can stop without ending the task."""

from __future__ import annotations

import asyncio
from types import TracebackType


class Stoppable:
    """An ``async with`` block that `stop` cancels at its next await; what follows the block goes on.

    ``stopped`` says that it was told to; a block that ended in the same turn of the loop has run to its end. Cancelling
    the whole task is passed on as ever.
    """

    def __init__(self) -> None:
        self._scope = asyncio.timeout(None)
        self.stopped = False

    def stop(self) -> None:
        """Cancel the block; must be called within it, from another task or a callback of the same loop."""
        if not self.stopped:
            self.stopped = True
            self._scope.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> Stoppable:
        await self._scope.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            await self._scope.__aexit__(kind, error, trace)
        except TimeoutError:
            return True
        return False

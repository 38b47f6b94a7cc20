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
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._cancelled = False
        self.stopped = False

    def stop(self) -> None:
        """Cancel the block; must be called within it, from another task or a callback of the same loop."""
        if not self.stopped:
            self.stopped = True
            asyncio.get_running_loop().call_soon(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._cancelled = True
            self._task.cancel()

    async def __aenter__(self) -> Stoppable:
        task = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        task, self._task = self._task, None
        assert task is not None
        if not self._cancelled:
            return False
        # As `asyncio.timeout` does: what else cancelled the task meanwhile is not swallowed.
        return task.uncancel() <= self._cancelling and kind is asyncio.CancelledError

"""One sitting of a run in a thread of its own, and Ctrl-C for the one that waits for it."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from qodebase.caps import NO_CAPS, Caps
from qodebase.clock import SystemClock
from qodebase.commands.support.sitting import Sat, sit
from qodebase.commands.support.surroundings import surroundings
from qodebase.runs import RunFolder

if TYPE_CHECKING:
    from fleet.driver import Driver
    from qodebase.ports import Model


class Worker:
    """One sitting in a thread with a loop of its own; begun by making it."""

    def __init__(
        self, folder: RunFolder, *, first: bool, limit: int | None, model: Model | None, caps: Caps = NO_CAPS
    ) -> None:
        self._folder = folder
        self._first = first
        self._limit = limit
        self._model = model
        self._caps = caps
        self._driver: Driver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Sat] | None = None
        self.draining = threading.Event()
        self._failure: BaseException | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._run, name=f"qodebase {folder.name}", daemon=True).start()

    @property
    def going(self) -> bool:
        """Return whether the sitting goes on."""
        return not self._ended.is_set()

    def join(self) -> None:
        """Wait for the end of the sitting."""
        self._ended.wait()

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self._loop = runner.get_loop()
                runner.run(self._sit())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self._failure = error
        finally:
            self._ended.set()

    async def _sit(self) -> Sat:
        self._task = asyncio.current_task()
        return await sit(
            self._folder,
            surroundings(),
            SystemClock(),
            first=self._first,
            limit=self._limit,
            model=self._model,
            caps=self._caps,
            started=self._started,
        )

    def _started(self, driver: Driver) -> None:
        self._driver = driver
        if self.draining.is_set():
            driver.drain()

    def drain(self) -> None:
        """Start nothing new."""
        self.draining.set()
        if self._driver is not None:
            self._call(self._driver.drain)

    def abort(self) -> None:
        """Stop at once; what the trunk has begun is finished."""
        if self._task is not None:
            self._call(self._task.cancel)

    def _call(self, what: Callable[[], object]) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has closed: the sitting is over
                self._loop.call_soon_threadsafe(what)

    def raise_failure(self) -> None:
        """Raise what ended the sitting before its time."""
        if self._failure is not None:
            raise self._failure


@contextmanager
def interrupts(*stops: Callable[[], None]) -> Iterator[None]:
    """Answer each Ctrl-C (a notebook's interrupt is one) with the next of ``stops``, in the main thread.

    A handler sees every signal, also below a running event loop, which keeps the first one for itself.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    left = list(stops)

    def hear(number: int, frame: object) -> None:
        if left:
            left.pop(0)()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

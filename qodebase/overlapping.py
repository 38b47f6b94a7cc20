"""Settings of the whole process that blocks which may overlap change for their time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class Overlapping(Generic[T]):
    """Change a setting at the start of each block; the last to end leaves it as the first has found it.

    Args:
        change: changes it, and returns how it was.
        restore: makes it so again.
    """

    def __init__(self, change: Callable[[], T], restore: Callable[[T], None]) -> None:
        self._change = change
        self._restore = restore
        self._found: list[T] = []
        self._lock = threading.Lock()

    @contextmanager
    def block(self) -> Iterator[None]:
        """Hold the setting changed."""
        with self._lock:
            self._found.append(self._change())
        try:
            yield
        finally:
            with self._lock:
                usual = self._found[0]
                self._found.pop()
                if not self._found:
                    self._restore(usual)

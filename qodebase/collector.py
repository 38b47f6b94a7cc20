"""Python's cycle collector, set for work that makes very many objects."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = threading.Lock()
_FOUND: list[tuple[int, int, int]] = []
"""The thresholds that each block found; the first are the usual ones."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Collect seldom: with millions of long-lived objects the default thresholds would scan them all the time.

    Of several such blocks of a process that overlap, the last to end leaves the collector as the first has found it.
    """
    with _LOCK:
        _FOUND.append(gc.get_threshold())
        gc.freeze()
        gc.set_threshold(100_000, 50, 1000)
    try:
        yield
    finally:
        with _LOCK:
            usual = _FOUND[0]
            _FOUND.pop()
            if not _FOUND:
                gc.set_threshold(*usual)
                gc.unfreeze()


@contextmanager
def never_collected() -> Iterator[None]:
    """Collect nothing: for a short piece of work whose objects live to its end and make no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

"""Python's cycle collector, set for work that makes very many objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from qodebase.overlapping import Overlapping


def seldom_collected() -> AbstractContextManager[None]:
    """Collect seldom: with millions of long-lived objects the default thresholds would scan them all the time.

    Of several such blocks of a process that overlap, the last to end leaves the collector as the first has found it.
    """
    return _SELDOM.block()


def _collect_seldom() -> tuple[int, int, int]:
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
    return usual


def _collect_as_usual(usual: tuple[int, int, int]) -> None:
    gc.set_threshold(*usual)
    gc.unfreeze()


_SELDOM = Overlapping(_collect_seldom, _collect_as_usual)


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

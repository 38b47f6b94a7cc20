"""A run as its folder holds it: frozen intents, events, and where every intent stands."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from functools import cached_property

from qodebase.events import AnyEvent, RunStarted, Unknown
from qodebase.intent import Intent
from qodebase.journal import read_events
from qodebase.runs import RunFolder
from qodebase.state import RunState


class RunData:
    """Read a run folder, each file once and only when it is asked for; a run without a journal has no events."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder

    @cached_property
    def intents(self) -> tuple[Intent, ...]:
        """Return the frozen intents in order; raises `BadData` naming the line."""
        return tuple(self.folder.intents())

    @cached_property
    def events(self) -> tuple[AnyEvent | Unknown, ...]:
        """Return the journal's events in order; a torn last line is left out, a broken one raises `BadData`."""
        if not self.folder.journal.exists():
            return ()
        with no_collecting():
            return tuple(read_events(self.folder.journal))

    @cached_property
    def state(self) -> RunState:
        """Return where every intent stands."""
        return RunState(self.intents).apply_all(self.events)

    @cached_property
    def started_at(self) -> float:
        """Return when the run first started, in seconds since the epoch on its clock; 0 before."""
        return next((event.at for event in self.events if isinstance(event, RunStarted)), 0.0)


@contextlib.contextmanager
def no_collecting() -> Iterator[None]:
    """Keep the garbage collector from going over a million new events again and again: none of them is garbage."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

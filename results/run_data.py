"""A run as its folder holds it: frozen intents, events, and where every intent stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from qodebase.events import AnyEvent, Event, RunStarted, Unknown
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
        return tuple(read_events(self.folder.journal)) if self.folder.journal.exists() else ()

    @cached_property
    def state(self) -> RunState:
        """Return where every intent stands."""
        return RunState(self.intents).apply_all(self.events)

    @cached_property
    def started_at(self) -> float:
        """Return when the run first started, in seconds since the epoch on its clock; 0 before."""
        return next((event.at for event in self.events if isinstance(event, RunStarted)), 0.0)

    def with_sitting(self) -> Iterator[tuple[int, AnyEvent | Unknown]]:
        """Yield each event with the number of the sitting that wrote it."""
        return with_sitting(self.events)


def with_sitting(events: Iterable[AnyEvent | Unknown]) -> Iterator[tuple[int, AnyEvent | Unknown]]:
    """Yield each event with the number of the sitting that wrote it, counted from 1; 0 before the first."""
    sitting = 0
    for event in events:
        if isinstance(event, RunStarted):
            sitting = event.sitting
        yield sitting, event


def second_of(event: Event, started_at: float) -> int:
    """Return the whole seconds from the run's first start to an event."""
    return int(event.at - started_at)

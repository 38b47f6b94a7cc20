"""A run from its order to its audit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from qodebase.commands.support.starting import Order
    from qodebase.events import Event, Landed
    from qodebase.runs import RunFolder
    from results.findings import Audit
    from results.summary import Summary


class Ran(NamedTuple):
    """A run that has ended: its folder, what happened, its figures, and what the audit of it says."""

    folder: RunFolder
    events: Sequence[Event]
    summary: Summary
    audit: Audit

    @property
    def landed(self) -> list[Landed]:
        """Return the landings, in main's order."""
        from qodebase.events import Landed

        return [event for event in self.events if isinstance(event, Landed)]


def run(order: Order) -> Ran:
    """Take a run to its end and audit it."""
    from qodebase.clock import SystemClock
    from qodebase.commands.support.sitting import sit
    from qodebase.commands.support.starting import freeze, prepared
    from qodebase.commands.support.surroundings import surroundings
    from qodebase.commands.verify import audit_of
    from qodebase.journal import read_events
    from results.summary import Tally

    clock, around = SystemClock(), surroundings()
    with prepared(order, around, clock) as ready:
        folder = freeze(ready, clock)
    asyncio.run(sit(folder, around, clock, first=True))
    events = list(read_events(folder.journal))
    return Ran(
        folder=folder,
        events=events,
        summary=Tally(folder.intents()).apply_all(events).summary(),
        audit=audit_of(str(folder.root), full=True),
    )

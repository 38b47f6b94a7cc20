"""How many intents are with agents and how many wait in lanes, moment by moment."""

from __future__ import annotations

from qodebase.events import Admitted, Ended, Event, Landed, Queued, RunStarted, RunStopped


class Flow:
    """The intents under way; `apply` takes the journal's events in order."""

    def __init__(self) -> None:
        self.in_flight: set[str] = set()
        self.queued: set[str] = set()

    def apply(self, event: Event) -> None:
        """Move on by one event; agents and queues do not outlive the process that held them."""
        match event:
            case RunStarted() | RunStopped():
                self.in_flight.clear()
                self.queued.clear()
            case Admitted(intent=str(intent)):
                self.queued.discard(intent)
                self.in_flight.add(intent)
            case Queued(intent=str(intent)):
                self.in_flight.discard(intent)
                self.queued.add(intent)
            case Landed(intent=str(intent)) | Ended(intent=str(intent)):
                self.in_flight.discard(intent)
                self.queued.discard(intent)

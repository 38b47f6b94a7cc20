"""How many intents are with agents, wait in lanes, or wait for what others claim, moment by moment."""

from __future__ import annotations

from qodebase.events import Admitted, Ended, Event, Held, Landed, Postponed, Queued, RunStarted, RunStopped


class Flow:
    """The intents under way; `apply` takes the journal's events in order."""

    def __init__(self) -> None:
        self.in_flight: set[str] = set()
        self.queued: set[str] = set()
        self.held: set[str] = set()

    def apply(self, event: Event) -> None:
        """Move on by one event; agents and queues do not outlive the process that held them."""
        kind, intent = type(event), event.intent
        if kind in _NEW_SITTING:
            self.in_flight.clear()
            self.queued.clear()
            self.held.clear()
        elif intent is not None and kind in _MOVES:
            self.queued.discard(intent)
            self.in_flight.discard(intent)
            self.held.discard(intent)
            if kind is Admitted:
                self.in_flight.add(intent)
            elif kind is Queued:
                self.queued.add(intent)
            elif kind is Held:
                self.held.add(intent)


_NEW_SITTING = frozenset((RunStarted, RunStopped))
_MOVES = frozenset((Held, Admitted, Queued, Landed, Ended, Postponed))

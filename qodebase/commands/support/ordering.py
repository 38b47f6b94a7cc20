"""Orders from the command line to a run: left in its folder, and waited for until the journal holds them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from qodebase.orders import Order
    from qodebase.runs import RunFolder

TIMEOUT_S = 30.0
_LOOK_S = 0.05

Timeout = Annotated[float, typer.Option("--timeout", min=0, help="Seconds to wait until the run has taken it in.")]


class NotLive(QodebaseError):
    """An order that only a live run can obey."""


class NotTakenIn(QodebaseError):
    """An order that a live run has not taken in so far."""

    exit_code = 3


class NoLane(QodebaseError):
    """A name that stands for no lane of a run."""


def check_lane(folder: RunFolder, lane: str, *, drain: bool = False) -> None:
    """Make sure that a run has a lane; no name is right where nothing is to be drained.

    Raises:
        NoLane: it has none of that name, or none is named.
    """
    from lanes.router import Router

    names = Router(folder.settings().lanes).names
    if lane not in names if lane else drain:
        raise NoLane(
            f"the run has no lane {lane!r}" if lane else "which lane is to be drained?",
            hint=f"Give --lane one of {', '.join(names)}.",
        )


class Courier:
    """Give one order to a run and see what becomes of it.

    Args:
        timeout_s: how long to wait for a process that works on the run.
    """

    def __init__(self, folder: RunFolder, order: Order, *, timeout_s: float) -> None:
        from qodebase.orders import Orders

        self._folder = folder
        self._order = order
        self._timeout_s = timeout_s
        self._read = folder.journal.stat().st_size if folder.journal.exists() else 0
        self.given = Orders(folder.root).give(order)

    def taken_in(self) -> bool:
        """Return whether the journal, from where it stood when the order was given, holds the order."""
        wanted = self._order.id.encode()
        try:
            with self._folder.journal.open("rb") as lines:
                lines.seek(self._read)
                new = lines.read()
        except FileNotFoundError:
            return False
        found = new.find(wanted)
        self._read += found if found >= 0 else max(0, len(new) - len(wanted))
        return found >= 0

    def wait(self, holder: str) -> bool:
        """Wait until ``holder`` has obeyed the order; return False where it left the run before it took the order in.

        Raises:
            NotTakenIn: the time is over; the order stands.
        """
        until = time.monotonic() + self._timeout_s
        # The process removes the order when it has done what it says, or has begun to where that takes longer.
        while self.given.path.exists() or not self.taken_in():
            if self._folder.holder() != holder:
                return self.taken_in()
            if time.monotonic() >= until:
                raise NotTakenIn(
                    f"{holder} has not taken the order in within {self._timeout_s:g} s",
                    hint="It is busy; the order stands, and is obeyed when it looks. See `qodebase status`.",
                )
            time.sleep(_LOOK_S)
        return True


def tell_live(folder: RunFolder, order: Order, *, timeout_s: float) -> bool:
    """Give an order to the process that it is for; return False, and leave no order, where that process is gone.

    Raises:
        NotTakenIn: the time is over; the order stands.
    """
    courier = Courier(folder, order, timeout_s=timeout_s)
    if courier.wait(order.to):
        return True
    courier.given.remove()
    return False

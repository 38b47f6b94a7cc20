"""What a person sees while a run goes on: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.console import say
from qodebase.commands.support.layout import money
from qodebase.events import Event, Ordered, Stalled
from qodebase.intent import Ending, Intent

if TYPE_CHECKING:
    from results.summary import Summary

_FRAME_S = 0.25
_SHARE = 0.02
"""The most of the loop's time that drawing takes, however much there is to draw."""

_LINE_S = 5.0


class Progress:
    """Follow a run; hand `listen` to the driver and keep `showing` open around it."""

    def __init__(self, intents: Iterable[Intent], past: Iterable[Event], *, quiet: bool = False) -> None:
        from results.summary import Tally

        self.tally = Tally(intents).apply_all(past)
        self._quiet = quiet
        self._live: Any = None

    def listen(self, event: Event) -> None:
        """Take in one event."""
        self.tally.apply(event)
        if isinstance(event, Ordered | Stalled) and not self._quiet:
            self._say(told(event))

    @asynccontextmanager
    async def showing(self) -> AsyncIterator[None]:
        """Show progress until left."""
        if self._quiet:
            yield
            return
        terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        ticker = asyncio.create_task(self._draw() if terminal else self._write(), name="progress")
        try:
            yield
        finally:
            ticker.cancel()
            await asyncio.wait([ticker])
            if self._live is not None:
                self._live.update(self._table(), refresh=True)
                self._live.stop()

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            if self._live is None:
                say(line)
            else:
                self._live.console.print(line, markup=False, highlight=False)

    async def _draw(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(self._table(), console=Console(stderr=True), auto_refresh=False, transient=True)
        self._live.start()
        took = 0.0
        while True:
            await asyncio.sleep(max(_FRAME_S, took / _SHARE))
            began = time.perf_counter()
            self._live.update(self._table(), refresh=True)
            took = time.perf_counter() - began

    async def _write(self) -> None:
        while True:
            await asyncio.sleep(_LINE_S)
            say(line_of(self.tally.summary(now=time.time())))

    def _table(self) -> Any:
        from rich.table import Table

        summary = self.tally.summary(now=time.time())
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(style="bold")
        table.add_column()
        for name, value in rows_of(summary):
            table.add_row(name, value)
        return table


def told(event: Ordered | Stalled) -> list[str]:
    """Return what somebody ordered, or that nothing moves, as lines for whoever watches the run."""
    if isinstance(event, Stalled):
        return [f"warning: nothing ended, landed or was answered for {event.real_s:.0f} s", *event.real_hangs]
    if event.lane is not None:
        does = {"pause": "is paused", "drain": "lands what waits in it, then is paused", "resume": "goes on"}
        return [f"lane {event.lane} {does[event.what]}"]
    match event.what:
        case "pause":
            return ["paused: what is under way lands, nothing new starts; `qodebase resume` lets it go on"]
        case "resume":
            return ["going on"]
        case "cancel":
            which = "everything that is pending" if event.everything else f"{len(event.intents)} intents"
            return [f"cancelled: {which} ({event.reason})"]
    return []


def line_of(summary: Summary) -> str:
    """Return the state of a run as one line."""
    if not (summary.calls or summary.landed or summary.in_flight):
        return f"reading the code, {summary.pending} remaining, {summary.seconds:.0f} s"
    return (
        f"{summary.landed} landed, {summary.collided_intents} collided{_redone(summary)}, "
        f"{summary.endings[Ending.SENT_BACK]} sent back, {summary.pending} remaining, "
        f"{summary.per_second:.1f}/s, {cost_of(summary)}, {summary.seconds:.0f} s"
        + (f"; failing: {failing_of(summary)}" if summary.failed_calls else "")
    )


def rows_of(summary: Summary) -> list[tuple[str, str]]:
    """Return the state of a run as rows of a live table."""
    not_landed = [
        f"{summary.endings[ending]} {ending}"
        for ending in (Ending.SENT_BACK, Ending.NO_ANSWER, Ending.REFUSED, Ending.CANCELLED)
        if summary.endings[ending]
    ]
    at_work = f"{summary.in_flight} with agents, {summary.queued} in lanes"
    begun = summary.calls or summary.landed or summary.in_flight
    return [
        ("landed", f"{summary.landed}   {summary.per_second:.1f}/s, busiest second {summary.busiest_second}"),
        ("collided", f"{summary.collided_intents}{_redone(summary)}"),
        ("not landed", ", ".join(not_landed) or "none"),
        ("remaining", f"{summary.pending}   {at_work if begun else 'reading the code'}"),
        *([("failing", failing_of(summary))] if summary.failed_calls else []),
        ("cost", f"{cost_of(summary)}, {summary.seconds:.0f} s"),
    ]


def failing_of(summary: Summary) -> str:
    """Return how many calls had no answer, and why the newest had none, on one line."""
    return f"{summary.failed_calls} of {summary.calls} calls, newest: {summary.newest_failure.splitlines()[0][:80]}"


def cost_of(summary: Summary) -> str:
    """Return what a run cost as far as that is known, and of how many calls it is not; what is unknown is no $0.00."""
    unknown = summary.unknown_cost_calls
    if not unknown:
        return money(summary.cost_usd)
    if not summary.cost_usd:
        return f"cost unknown ({unknown} of {summary.calls} calls)"
    return f"{money(summary.cost_usd)} and {unknown} calls of unknown cost"


def _redone(summary: Summary) -> str:
    kinds = [f"{count} by {by}" for by, count in summary.redone.items()]
    return f" (redone: {', '.join(kinds)})" if kinds else ""

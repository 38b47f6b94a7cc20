"""`qodebase pause`: let a live run finish what it has begun, and wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting
from qodebase.commands.support.ordering import TIMEOUT_S, Timeout

if TYPE_CHECKING:
    from qodebase.runs import RunFolder


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def pause(run: RunName, timeout: Timeout = TIMEOUT_S, json: Json = False) -> None:
        """Let a live run admit nothing more until `qodebase resume`.

        What is under way goes on and lands; the process stays, and holds the run.
        """
        from qodebase.commands.status import run_status
        from qodebase.commands.support.opening import find_run

        folder = find_run(run)
        order = pause_run(folder, timeout_s=timeout)
        status = run_status(folder)
        if json:
            put_json({"order": order, **status.as_dict()})
            return
        at_work = f"{status.summary.in_flight} with agents, {status.summary.queued} in lanes"
        put(f"paused: {status.holder} admits nothing more; what is under way lands ({at_work})")
        put(f"`qodebase resume {folder.root}` lets it go on")


def pause_run(folder: RunFolder, *, timeout_s: float = TIMEOUT_S) -> str:
    """Pause a live run; return the order's id.

    Raises:
        NotLive: no process works on it.
        NotTakenIn: the process has not taken the order in so far.
    """
    from qodebase.commands.support.ordering import NotLive, tell_live
    from qodebase.orders import Order, What, new_id

    order = Order(id=new_id(), what=What.PAUSE, to=folder.holder())
    if not order.to or not tell_live(folder, order, timeout_s=timeout_s):
        raise NotLive(
            f"no process works on {folder.root}, so there is nothing to pause",
            hint=f"`qodebase resume {folder.root}` goes on with it.",
        )
    return order.id

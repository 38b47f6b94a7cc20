"""`qodebase pause`: let a live run finish what it has begun, and wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting
from qodebase.commands.support.ordering import TIMEOUT_S, Timeout

if TYPE_CHECKING:
    from qodebase.runs import RunFolder


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def pause(
        run: RunName,
        lane: Annotated[
            str, typer.Option(metavar="NAME", help="Only this lane: it begins no further train; the rest goes on.")
        ] = "",
        drain: Annotated[
            bool, typer.Option("--drain", help="With --lane: what waits in it lands, what comes later waits.")
        ] = False,
        timeout: Timeout = TIMEOUT_S,
        json: Json = False,
    ) -> None:
        """Let a live run admit nothing more until `qodebase resume`.

        What is under way goes on and lands; the process stays, and holds the run.
        """
        from qodebase.commands.status import resume_commands, run_status
        from qodebase.commands.support.opening import find_run

        folder = find_run(run)
        order = pause_run(folder, lane=lane, drain=drain, timeout_s=timeout)
        status = run_status(folder)
        if json:
            put_json({"order": order, **status.as_dict()})
            return
        if lane:
            (again,) = resume_commands(folder.called, [lane])
            put(f"lane {lane} is {'draining' if drain else 'paused'}; `{again}` lets it go on")
            return
        at_work = f"{status.summary.in_flight} with agents, {status.summary.queued} in lanes"
        put(f"paused: {status.holder} admits nothing more; what is under way lands ({at_work})")
        put(f"`qodebase resume {folder.called}` lets it go on")


def pause_run(folder: RunFolder, *, lane: str = "", drain: bool = False, timeout_s: float = TIMEOUT_S) -> str:
    """Pause a live run, or pause or drain one lane of it; return the order's id.

    Raises:
        NoLane: the run has no lane of that name.
        NotLive: no process works on it.
        NotTakenIn: the process has not taken the order in so far.
    """
    from qodebase.commands.support.ordering import NotLive, check_lane, tell_live
    from qodebase.orders import Order, What, new_id

    check_lane(folder, lane, drain=drain)
    order = Order(id=new_id(), what=What.DRAIN if drain else What.PAUSE, to=folder.holder(), lane=lane)
    if not order.to or not tell_live(folder, order, timeout_s=timeout_s):
        raise NotLive(
            f"no process works on {folder.root}, so there is nothing to pause",
            hint=f"`qodebase resume {folder.called}` goes on with it.",
        )
    return order.id

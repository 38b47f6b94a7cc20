"""`qodebase resume`: let a paused run go on, go on with a stopped one, or with the rest of a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting, say
from qodebase.commands.support.ordering import TIMEOUT_S, Timeout

if TYPE_CHECKING:
    from qodebase.runs import RunFolder


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def resume(
        run: RunName,
        limit: Annotated[int | None, typer.Option(min=1, help="Admit so many of the pending intents.")] = None,
        cost_cap: Annotated[float | None, typer.Option(metavar="USD", help="A new cost cap over all sittings.")] = None,
        token_cap: Annotated[int | None, typer.Option(metavar="N", help="A new token cap over all sittings.")] = None,
        time_cap: Annotated[str, typer.Option(metavar="DURATION", help="A new time cap over all sittings.")] = "",
        stall_after: Annotated[
            str, typer.Option(metavar="DURATION", help="See `qodebase run --help`; else as the run began.")
        ] = "",
        lane: Annotated[str, typer.Option(metavar="NAME", help="Only let this lane of a live run go on.")] = "",
        timeout: Timeout = TIMEOUT_S,
        json: Json = False,
    ) -> int:
        """Let a paused run go on, or go on with a stopped one here.

        Where a process works on the run, it is told to go on, and this command ends; where none does, this process goes
        on with it: what has ended stays, and answers that the run holds are not asked for again. `qodebase status`
        says which of the two it is.
        """
        from qodebase.caps import caps_of, seconds_of
        from qodebase.commands.support.at_work import work
        from qodebase.commands.support.opening import find_run
        from qodebase.runs import RunHeld

        folder = find_run(run)
        caps = caps_of(cost=cost_cap, tokens=token_cap, time=time_cap)
        stall_after_s = seconds_of(stall_after, of="--stall-after") if stall_after else None
        holder = folder.holder()
        if lane:
            _tell(folder, holder, resume_lane(folder, holder, lane, timeout_s=timeout), lane=lane, json=json)
            return 0
        if holder and (caps or limit or stall_after):
            raise RunHeld(
                f"{folder.root} is being worked on by {holder}, and new caps and limits hold from the next sitting on",
                hint=f"Stop that process first (Ctrl-C), then `qodebase resume {folder.called}` with them.",
            )
        if holder and (order := unpause_run(folder, holder, timeout_s=timeout)):
            _tell(folder, holder, order, json=json)
            return 0
        say(f"going on with {folder.root}")
        return work(folder, first=False, limit=limit, json=json, caps=caps, stall_after_s=stall_after_s)


def unpause_run(folder: RunFolder, holder: str, *, timeout_s: float = TIMEOUT_S) -> str:
    """Tell the process that holds a paused run to go on; return the order's id, or nothing where it is gone.

    Raises:
        RunHeld: it works on the run and is not paused.
        NotTakenIn: it has not taken the order in so far.
    """
    from qodebase.commands.status import resume_commands, run_status
    from qodebase.commands.support.ordering import tell_live
    from qodebase.orders import Order, What, new_id
    from qodebase.runs import RunHeld

    status = run_status(folder)
    if status.resume != "unpause":
        hint = "It is not paused: wait for it (`qodebase status`), or stop that process first."
        if status.lanes:
            hint = f"Lanes of it alone are paused: `{'`, `'.join(resume_commands(folder.called, status.lanes))}`."
        raise RunHeld(f"{folder.root} is being worked on by {holder}", hint=hint)
    order = Order(id=new_id(), what=What.RESUME, to=holder)
    return order.id if tell_live(folder, order, timeout_s=timeout_s) else ""


def resume_lane(folder: RunFolder, holder: str, lane: str, *, timeout_s: float = TIMEOUT_S) -> str:
    """Tell the process that holds a run to let one lane go on; return the order's id.

    Raises:
        NoLane: the run has no lane of that name.
        NotLive: no process works on the run.
        NotTakenIn: the process has not taken the order in so far.
    """
    from qodebase.commands.support.ordering import NotLive, check_lane, tell_live
    from qodebase.orders import Order, What, new_id

    check_lane(folder, lane)
    order = Order(id=new_id(), what=What.RESUME, to=holder, lane=lane)
    if not holder or not tell_live(folder, order, timeout_s=timeout_s):
        raise NotLive(
            f"no process works on {folder.root}, so no lane of it is paused",
            hint=f"`qodebase resume {folder.called}` goes on with all of it.",
        )
    return order.id


def _tell(folder: RunFolder, holder: str, order: str, *, lane: str = "", json: bool) -> None:
    from qodebase.commands.status import run_status

    if json:
        put_json({"order": order, **run_status(folder).as_dict()})
    else:
        put(f"{holder} goes on with {f'lane {lane} of ' if lane else ''}{folder.root}")

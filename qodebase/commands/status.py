"""`qodebase status`: where a run stands, by its journal alone."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from qodebase.commands.support.capped import caps_data, raised_cap
from qodebase.commands.support.console import Json, RunName, put, put_json, reporting
from qodebase.commands.support.layout import harmless

if TYPE_CHECKING:
    from fleet.spending import Spending
    from qodebase.caps import Caps
    from qodebase.runs import RunFolder, Settings
    from qodebase.state import RunState
    from results.run_data import RunData
    from results.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a run stands.

    Attributes:
        state: while a process works on it ``live``, ``paused``, ``draining`` or ``stalled``; else ``killed`` (the last
            one wrote no end), ``not started``, or why it stopped.
        holder: who works on it now; empty for nobody.
        resume: what `qodebase resume` would do: ``unpause`` (the live process goes on), ``continue`` (a new process
            does), or nothing.
        hangs: what was under way when it stalled, where it did and has not moved since.
        waiting: changes that are made and not landed, for each lane.
        lanes: those that are paused or draining.
        widened: for each lane that changes of other lanes touched too, how many did, and the last path that did it.
        caps, spending: what the run may use, and what it used; see `fleet.spending`.
        foreign: other people's commits on main that the run met.
        started_at, last_at: the first start and the newest event, seconds since the epoch on the run's clock.
        next: commands that are useful now.
    """

    folder: RunFolder
    settings: Settings
    summary: Summary
    state: str
    holder: str
    resume: str
    hangs: tuple[str, ...]
    waiting: dict[str, int]
    lanes: dict[str, str]
    widened: dict[str, dict[str, Any]]
    caps: Caps
    spending: Spending
    foreign: int
    tip: str
    started_at: float
    last_at: float
    next: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the status as plain data."""
        settings = self.settings
        figures = self.summary.as_dict()
        ledger = {str(ending): count for ending, count in figures.pop("endings").items()}
        reasons = {str(ending): found for ending, found in figures.pop("reasons").items()}
        return {
            "run": settings.run,
            "folder": str(self.folder.root),
            "state": self.state,
            "live": bool(self.holder),
            "holder": self.holder,
            "resume": self.resume,
            "hangs": list(self.hangs),
            "job": settings.job or settings.job_file,
            "model": settings.model,
            "replay_model": settings.replay_model,
            "escalate_model": settings.escalate_model,
            "repository": settings.repository,
            "branch": settings.branch,
            "base": settings.base,
            "tip": self.tip,
            "workers": settings.workers,
            "started_at": self.started_at,
            "last_at": self.last_at,
            **figures,
            "ledger": ledger,
            "reasons": reasons,
            "foreign": self.foreign,
            "waiting": self.waiting,
            "lanes": self.lanes,
            "widened": self.widened,
            **caps_data(self.caps, self.spending),
            "next": list(self.next),
        }


def run_status(folder: RunFolder) -> Status:
    """Return where a run stands now.

    Raises:
        BadData: settings, intents or journal cannot be read.
    """
    from fleet.spending import Spending
    from qodebase.clock import SystemClock
    from results.run_data import RunData
    from results.summary import Tally

    settings = folder.settings()
    holder = folder.holder()
    data = RunData(folder)
    tally = Tally(data.intents).apply_all(data.events)
    simulated = bool(data.events) and data.events[-1].simulated
    summary = tally.summary(now=SystemClock().now() if holder and not simulated else None)
    state = _state(data.state, holder)
    resume = _resume(state, summary.pending, holder)
    lanes = dict(data.state.lanes) if holder else {}
    return Status(
        folder=folder,
        settings=settings,
        summary=summary,
        state=state,
        holder=holder,
        resume=resume,
        hangs=data.state.stalled,
        waiting=_waiting(data),
        lanes=lanes,
        widened=_widened(data),
        caps=settings.caps if data.state.caps is None else data.state.caps,
        spending=Spending().apply_all(data.events),
        foreign=len(data.state.foreign),
        tip=data.state.tip or settings.base,
        started_at=data.started_at,
        last_at=data.state.last_at,
        next=_next(folder.called, summary, resume, lanes, live=bool(holder)),
    )


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def status(run: RunName, json: Json = False) -> None:
        """Show where a run stands.

        Endings with reasons, what waits in lanes, speed, cost, and what to do next; from the journal alone.
        """
        from qodebase.commands.support.opening import find_run
        from qodebase.commands.support.status_text import status_lines

        found = run_status(find_run(run))
        if json:
            put_json(found.as_dict())
        else:
            put(harmless("\n".join(status_lines(found))))


def _state(state: RunState, holder: str) -> str:
    if not holder:
        return (state.stopped or "killed") if state.sittings else "not started"
    if state.stopped:
        return "live"
    signs = {"stalled": state.stalled, "draining": state.draining, "paused": state.paused}
    return next((name for name, shown in signs.items() if shown), "live")


def _resume(state: str, pending: int, holder: str) -> str:
    if holder:
        return "unpause" if state == "paused" else ""
    return "continue" if pending else ""


def _waiting(data: RunData) -> dict[str, int]:
    from qodebase.intent import Ending

    lanes = Counter(
        state.lane
        for state in data.state.intents.values()
        if state.ending == Ending.PENDING and state.has_change and state.lane
    )
    return dict(lanes.most_common())


def _widened(data: RunData) -> dict[str, dict[str, Any]]:
    from qodebase.events import Queued

    found: dict[str, dict[str, Any]] = {}
    for event in data.events:
        if isinstance(event, Queued):
            for lane, path in zip(event.lanes[1:], event.widened_by, strict=False):
                count = found.get(lane, {"changes": 0})["changes"]
                found[lane] = {"changes": count + 1, "by": event.intent, "path": path.text}
    return found


def _next(run: str, summary: Summary, resume: str, lanes: Iterable[str], *, live: bool) -> tuple[str, ...]:
    raised = raised_cap(summary.stopped_detail) if summary.stopped == "capped" else ""
    commands = [f"qodebase resume {run}{raised}"] if resume else []
    commands += resume_commands(run, lanes)
    if live:
        return (*commands, f"qodebase log {run}")
    if summary.landed:
        commands += [f"qodebase verify {run}", f"qodebase diff {run}"]
    return (*commands, f"qodebase log {run}")


def resume_commands(run: str, lanes: Iterable[str]) -> list[str]:
    """Return the commands that let lanes of a run go on, by its name in a shell."""
    return [f"qodebase resume {run} --lane {shlex.quote(lane)}" for lane in lanes]

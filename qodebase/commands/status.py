"""`qodebase status`: where a run stands, by its journal alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from qodebase.commands.support.capped import caps_data, caps_line, models_of, raised_cap
from qodebase.commands.support.console import Json, RunName, put, put_json, reporting
from qodebase.commands.support.layout import columns, harmless, moment, some

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
    return Status(
        folder=folder,
        settings=settings,
        summary=summary,
        state=state,
        holder=holder,
        resume=resume,
        hangs=data.state.stalled,
        waiting=_waiting(data),
        lanes=dict(data.state.lanes) if holder else {},
        widened=_widened(data),
        caps=settings.caps if data.state.caps is None else data.state.caps,
        spending=Spending().apply_all(data.events),
        foreign=len(data.state.foreign),
        tip=data.state.tip or settings.base,
        started_at=data.started_at,
        last_at=data.state.last_at,
        next=_next(folder.called, summary, resume, live=bool(holder)),
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


def _next(run: str, summary: Summary, resume: str, *, live: bool) -> tuple[str, ...]:
    raised = raised_cap(summary.stopped_detail) if summary.stopped == "capped" else ""
    commands = [f"qodebase resume {run}{raised}"] if resume else []
    if live:
        return (*commands, f"qodebase log {run}")
    if summary.landed:
        commands += [f"qodebase verify {run}", f"qodebase diff {run}"]
    return (*commands, f"qodebase log {run}")


def status_lines(status: Status) -> list[str]:
    """Return a status as lines for people."""
    settings, summary = status.settings, status.summary
    newest = moment(status.last_at, started_at=status.started_at, simulated=summary.simulated)
    lines = [
        f"run {settings.run} in {status.folder.root}",
        f"{settings.job or settings.job_file} with {models_of(settings)} on {settings.repository}, "
        f"branch {settings.branch}" + (f", landing on {settings.land_on}" if settings.land_on else ""),
        _state_line(status, newest),
        "",
        *columns(_ledger_rows(summary), right=(1,)),
        "",
        *columns(_figures(status)),
        "",
        *columns(("next" if at == 0 else "", command) for at, command in enumerate(status.next)),
    ]
    return ["the clock is simulated", *lines] if summary.simulated else lines


def status_html(status: Status) -> str:
    """Return a status as an HTML table, for notebooks."""
    from html import escape

    summary = status.summary
    rows: list[tuple[str, ...]] = [*_ledger_rows(summary), *_figures(status)]
    cells = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{escape(cell.strip())}</td>' for cell in (*row, "")[:3])
        + "</tr>"
        for row in rows
    )
    clock = "; the clock is simulated" if summary.simulated else ""
    head = f"{status.settings.run}: {_state_line(status, '')}{clock}"
    return f"<table><caption>{escape(head)}</caption><tbody>{cells}</tbody></table>"


def _state_line(status: Status, last: str) -> str:
    sitting = f"sitting {status.summary.sittings}" + (f", newest event {last}" if last else "")
    match status.state:
        case "live":
            return f"live: {status.holder} works on it ({sitting})"
        case "paused":
            return f"paused: {status.holder} holds it and admits nothing more ({sitting})"
        case "draining":
            return f"draining: {status.holder} lands what is under way, then stops ({sitting})"
        case "stalled" if status.holder:
            return f"stalled: {status.holder} works on it and nothing moves ({sitting})"
        case "killed":
            return f"stopped: killed, no end was written ({sitting})"
        case "not started":
            return "not started: its intents are frozen and nothing has happened yet"
        case why:
            detail = f", {status.summary.stopped_detail}" if status.summary.stopped_detail else ""
            return f"stopped: {why}{detail} ({sitting})"


def _ledger_rows(summary: Summary) -> list[tuple[str, str, str]]:
    """Return name, count and reasons: all intents, then each ending that some of them reached."""
    rows = [
        (f"  {ending}", str(count), _reasons(summary.reasons.get(ending, {})))
        for ending, count in summary.endings.items()
        if count
    ]
    return [("intents", str(summary.intents), ""), *rows]


def _reasons(found: dict[str, int]) -> str:
    return some([f"{reason or 'no reason given'}: {count}" for reason, count in found.items()], most=4)


def _figures(status: Status) -> list[tuple[str, str]]:
    from qodebase.commands.support.progress import cost_of, failing_of

    summary = status.summary
    unit = "simulated second" if summary.simulated else "second"
    rows = [
        (
            "speed",
            f"{summary.per_second:,.1f} landed a {unit}, {summary.busiest_second} at most; {summary.seconds:,.1f} s",
        )
    ]
    if summary.collided_paths:
        redone = ", ".join(f"{by}: {count}" for by, count in summary.redone.items())
        failed = f", not redone: {summary.not_redone}" if summary.not_redone else ""
        rows.append(
            ("collided", f"{summary.collided_intents} intents, {summary.collided_paths} paths ({redone}{failed})")
        )
    if status.resume:
        does = f"lets {status.holder} go on" if status.resume == "unpause" else "goes on with it in a new process"
        rows.append(("resume", does))
    rows += [("hangs" if at == 0 else "", hang) for at, hang in enumerate(status.hangs)]
    if status.holder:
        rows.append(("at work", f"{summary.in_flight} with agents, {summary.queued} in lanes"))
    if status.waiting:
        rows.append(("waiting", some([f"{lane}: {count}" for lane, count in status.waiting.items()])))
    if status.foreign:
        rows.append(("foreign", f"{status.foreign} commits of other people on main"))
    tokens = f"{summary.input_tokens:,} tokens in ({summary.cached_tokens:,} cached), {summary.output_tokens:,} out"
    cached = f" ({summary.cache_calls} from the cache)" if summary.cache_calls else ""
    rows.append(("calls", f"{summary.calls:,}{cached}, {tokens}"))
    if summary.failed_calls:
        rows.append(("failing", failing_of(summary)))
    rows.append(("cost", cost_of(summary).removeprefix("cost ")))
    if status.caps:
        rows.append(("caps", caps_line(status.caps, status.spending)))
    return rows

"""`qodebase status`: where a run stands, by its journal alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting
from qodebase.commands.support.layout import columns, harmless, moment, money, some

if TYPE_CHECKING:
    from qodebase.runs import RunFolder, Settings
    from results.run_data import RunData
    from results.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a run stands.

    Attributes:
        state: ``live``, ``killed`` (no process, and the last one wrote no end), ``not started``, or why it stopped.
        holder: who works on it now; empty for nobody.
        waiting: changes that are made and not landed, for each lane.
        foreign: other people's commits on main that the run met.
        started_at, last_at: the first start and the newest event, seconds since the epoch on the run's clock.
        next: commands that are useful now.
    """

    folder: RunFolder
    settings: Settings
    summary: Summary
    state: str
    holder: str
    waiting: dict[str, int]
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
            "job": settings.job or settings.job_file,
            "model": settings.model,
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
            "next": list(self.next),
        }


def run_status(folder: RunFolder) -> Status:
    """Return where a run stands now.

    Raises:
        BadData: settings, intents or journal cannot be read.
    """
    from qodebase.clock import SystemClock
    from results.run_data import RunData
    from results.summary import Tally

    settings = folder.settings()
    holder = folder.holder()
    data = RunData(folder)
    tally = Tally(data.intents).apply_all(data.events)
    simulated = bool(data.events) and data.events[-1].simulated
    summary = tally.summary(now=SystemClock().now() if holder and not simulated else None)
    return Status(
        folder=folder,
        settings=settings,
        summary=summary,
        state=_state(summary, holder),
        holder=holder,
        waiting=_waiting(data),
        foreign=len(data.state.foreign),
        tip=data.state.tip or settings.base,
        started_at=data.started_at,
        last_at=data.state.last_at,
        next=_next(str(folder.root), summary, live=bool(holder)),
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


def _state(summary: Summary, holder: str) -> str:
    if holder:
        return "live"
    if not summary.sittings:
        return "not started"
    return summary.stopped or "killed"


def _waiting(data: RunData) -> dict[str, int]:
    from qodebase.intent import Ending

    lanes = Counter(
        state.lane
        for state in data.state.intents.values()
        if state.ending == Ending.PENDING and state.change_ref and state.lane
    )
    return dict(lanes.most_common())


def _next(run: str, summary: Summary, *, live: bool) -> tuple[str, ...]:
    if live:
        return (f"qodebase log {run}",)
    commands = [f"qodebase resume {run}"] if summary.pending else []
    if summary.landed:
        commands += [f"qodebase verify {run}", f"qodebase diff {run}"]
    return (*commands, f"qodebase log {run}")


def status_lines(status: Status) -> list[str]:
    """Return a status as lines for people."""
    settings, summary = status.settings, status.summary
    newest = moment(status.last_at, started_at=status.started_at, simulated=summary.simulated)
    lines = [
        f"run {settings.run} in {status.folder.root}",
        f"{settings.job or settings.job_file} with {settings.model} on {settings.repository}, branch {settings.branch}",
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
        case "killed":
            return f"stopped: killed, no end was written ({sitting})"
        case "not started":
            return "not started: its intents are frozen and nothing has happened yet"
        case why:
            return f"stopped: {why} ({sitting})"


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
    from qodebase.commands.support.progress import failing_of

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
    if status.holder:
        rows.append(("at work", f"{summary.in_flight} with agents, {summary.queued} in lanes"))
    if status.waiting:
        rows.append(("waiting", some([f"{lane}: {count}" for lane, count in status.waiting.items()])))
    if status.foreign:
        rows.append(("foreign", f"{status.foreign} commits of other people on main"))
    tokens = f"{summary.input_tokens:,} tokens in ({summary.cached_tokens:,} cached), {summary.output_tokens:,} out"
    cached = f" ({summary.cache_calls} from the cache)" if summary.cache_calls else ""
    rows.append(("calls", f"{summary.calls:,}{cached}, {tokens}"))
    unknown = f" known; of {summary.unknown_cost_calls} calls it is not known" if summary.unknown_cost_calls else ""
    if summary.failed_calls:
        rows.append(("failing", failing_of(summary)))
    rows.append(("cost", money(summary.cost_usd) + unknown))
    return rows

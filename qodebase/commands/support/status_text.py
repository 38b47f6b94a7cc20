"""Where a run stands, in words: lines for people, and a table for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.commands.support.capped import caps_line, models_of
from qodebase.commands.support.layout import columns, moment, on_one_line, some

if TYPE_CHECKING:
    from qodebase.commands.status import Status
    from results.summary import Summary

_MOST_REASON = 160


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
    shown = [
        f"{on_one_line(reason, most=_MOST_REASON) or 'no reason given'}: {count}" for reason, count in found.items()
    ]
    return some(shown, most=4)


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
        held = f", {summary.held} waiting for what others claim" if summary.held else ""
        rows.append(("at work", f"{summary.in_flight} with agents, {summary.queued} in lanes{held}"))
    if status.lanes:
        rows.append(("lanes", some([f"{lane}: {what}" for lane, what in status.lanes.items()])))
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

"""`qodebase compare`: the metrics of two settings side by side, with what can be said of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, put, put_json, reporting
from qodebase.commands.support.layout import columns, harmless, some
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from qodebase.runs import RunFolder
    from results.compare import Compared, Comparison


class NotInPairs(QodebaseError):
    """Runs that cannot be told into two sides."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def compare(
        runs: Annotated[
            list[str],
            typer.Argument(metavar="A B [A2 B2]...", help="Runs, or folders with runs in them, in turn of each side."),
        ],
        json: Json = False,
    ) -> None:
        """Compare the runs of two settings, A and B.

        A row a metric: the mean of both sides, the difference, its 95% interval over the seeds, how many seeds, and how
        the interval was made. Runs are paired by their seed; below five seeds there is no interval. Settings that
        differ are listed first.
        """
        if len(runs) < 2 or len(runs) % 2:
            raise NotInPairs(f"{len(runs)} runs are no pairs", hint="Give A B, or A B A2 B2 and so on, or two folders.")
        found = compared(runs[0::2], runs[1::2])
        if json:
            put_json(found.as_dict())
        else:
            put(harmless("\n".join(_lines(found))))


def compared(a: Sequence[str], b: Sequence[str]) -> Comparison:
    """Compare runs; each name is a run, or a folder below which all runs are meant.

    Raises:
        NoRun: a name stands for neither.
        NothingToCompare: no seed stands on both sides.
    """
    from results.compare import compare_runs

    return compare_runs(*([run for name in side for run in runs_of(name)] for side in (a, b)))


def runs_of(name: str) -> list[RunFolder]:
    """Return the run of a name, or all runs below a folder, oldest first."""
    from qodebase.commands.support.opening import find_run
    from qodebase.runs import NoRun, RunFolder

    try:
        return [find_run(name)]
    except NoRun:
        found = [RunFolder(path.parent) for path in sorted(Path(name).rglob("settings.json"))]
        if not found:
            raise
        return sorted(found, key=lambda folder: folder.settings().created)


def _lines(found: Comparison) -> list[str]:
    rows = [("", "a", "b", "difference", "95% interval", "n", ""), *map(_row, found.rows)]
    seeds = f"seeds {', '.join(map(str, found.seeds))}"
    lines = [f"a: {some(found.a)}", f"b: {some(found.b)}", seeds]
    if found.unpaired:
        lines.append(f"left out, for the other side has no run of their seed: {some(found.unpaired)}")
    lines += [
        f"{one['side']}: {one['run']} is not finished: {one['pending']} of its intents are pending"
        for one in found.unfinished
    ]
    if any(row.simulated for row in found.rows):
        lines.append("the clock is simulated: seconds are virtual")
    settings = [("setting", "a", "b"), *((one["setting"], one["a"], one["b"]) for one in found.settings)]
    lines += ["", *columns(settings)] if found.settings else ["", "no setting differs"]
    methods = dict.fromkeys(row.method for row in found.rows)
    return [*lines, "", *columns(rows, right=(1, 2, 3, 4, 5)), "", *methods]


def _row(row: Compared) -> tuple[str, ...]:
    ends = () if row.low is None or row.high is None else (row.low, row.high)
    interval = " to ".join(_figure(end, "+") for end in ends)
    unit = "" if row.unit == "1" else f" ({row.unit})"
    figures = (_figure(row.a), _figure(row.b), _figure(row.difference, "+"), interval)
    return (f"{row.metric}{unit}", *figures, str(row.n), row.verdict)


def _figure(value: float, sign: str = "") -> str:
    """Return a number with the four digits that matter, and never as a power of ten where it is large."""
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.4g}"

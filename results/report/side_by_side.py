"""Several runs on one page: their metrics side by side, and what can be said of the differences of their settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from results.compare import OWN, Comparison, NothingToCompare, compare_runs
from results.metrics import metric_of
from results.plots import several
from results.report.figures import plot_figure
from results.report.markup import Child, breakable, el, table
from results.report.subject import Subject
from results.report.words import count, figure, signed, valued

_MOST = 8


def side_by_side(subjects: Sequence[Subject]) -> Iterator[Child]:
    """Yield runs as columns, then a comparison of each other setting with the first one."""
    if any(subject.simulated for subject in subjects):
        names = ", ".join(subject.name for subject in subjects if subject.simulated)
        yield el("p", f"simulated, seconds are virtual: {names}", class_="badge")
    yield plot_figure("all", several.landed_so_far({subject.name: subject.frames for subject in subjects}))
    groups = by_setting(subjects)
    first, *others = groups
    if not others:
        yield el("p", "All runs have the same settings, so that there is nothing to set against each other.")
    for number, other in enumerate(others):
        yield from _compared(f"all{number}", first, other)
    if len(subjects) > 2 or not others:
        yield _columns(subjects)


def by_setting(subjects: Sequence[Subject]) -> list[list[Subject]]:
    """Return the runs in groups of equal settings, but for what any two runs differ in, such as the seed."""
    groups: dict[str, list[Subject]] = {}
    for subject in subjects:
        settings = json.loads((subject.folder.root / "settings.json").read_bytes())
        own = {name: value for name, value in settings.items() if name not in OWN}
        groups.setdefault(json.dumps(own, sort_keys=True), []).append(subject)
    return list(groups.values())


def _compared(key: str, first: Sequence[Subject], other: Sequence[Subject]) -> Iterator[Child]:
    a, b = (", ".join(subject.name for subject in side) for side in (first, other))
    yield el("h3", f"{b} against {a}")
    try:
        comparison = compare_runs([subject.folder for subject in first], [subject.folder for subject in other])
    except NothingToCompare as error:
        yield el("p", f"Nothing can be compared: {error.message}. {error.hint}", class_="finding")
        yield _columns([*first, *other])
        return
    settings = [(one["setting"], one["a"][:200], one["b"][:200]) for one in comparison.settings]
    if settings:
        yield el(
            "details",
            el("summary", f"Settings that differ ({len(settings)})"),
            table("Settings that differ", ("setting", "a", "b"), settings),
        )
    yield _table(comparison)
    yield plot_figure(key, several.differences(comparison))


def _table(comparison: Comparison) -> Child:
    rows = []
    for row in comparison.rows:
        ends = () if row.low is None or row.high is None else (row.low, row.high)
        interval = " to ".join(signed(end, row.unit) for end in ends)
        sides = (valued(row.a, row.unit), valued(row.b, row.unit))
        unit = "% points" if row.unit == "1" else row.unit
        figures = (*sides, signed(row.difference, row.unit), unit, interval, count(row.n))
        rows.append((breakable(row.metric), *figures, row.verdict))
    head = ("metric", "a", "b", "b - a", "unit", "95% interval", "seeds", "verdict")
    methods = "; ".join(dict.fromkeys(row.method for row in comparison.rows))
    return table(f"Metrics, paired by seed: {methods}", head, rows, numbers=(1, 2, 3, 5, 6))


def _columns(subjects: Sequence[Subject]) -> Child:
    shown = subjects[:_MOST]
    metrics = dict.fromkeys(metric for subject in shown for metric in subject.metrics)
    rows = [
        (breakable(metric), *(valued(subject.metrics.get(metric), metric_of(metric).unit) for subject in shown))
        for metric in metrics
    ]
    left = f", the first {_MOST} of {figure(len(subjects))} runs" if len(subjects) > _MOST else ""
    head = ("metric", *(f"{subject.name} (seed {subject.settings.seed})" for subject in shown))
    return table(f"Metrics of each run{left}", head, rows, numbers=range(1, len(head)))

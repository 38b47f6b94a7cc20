"""Compare runs of two settings: the unit is the run, paired by seed.

Intents inside a run depend on each other, so that no interval is made of them: each metric has one value a run, runs of
one seed and side are averaged, and the differences of the pairs are what an interval is made of.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from qodebase.errors import QodebaseError
from qodebase.intent import Ending
from qodebase.runs import RunFolder
from results.environment import environment_of
from results.frames import Frames
from results.intervals import Interval, interval
from results.metrics import METRICS, Better, metric_of, values_of
from results.schema import Column, FrameSchema, Type

if TYPE_CHECKING:
    import polars as pl

OWN = frozenset({"run", "created", "seed", "intents_digest", "v"})
"""Settings in which any two runs differ."""
_OWN_ENVIRONMENT = frozenset({"command", "seed", "load", "at", "repository_commit", "memory_free_bytes", "models"})


class NothingToCompare(QodebaseError):
    """Runs of which no two can be paired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One metric on both sides.

    Attributes:
        metric, unit, better, doc: see `results.metrics.Metric`.
        a, b: the means over the seeds that both sides have a value for.
        difference: the mean of b - a; ``low`` and ``high`` its 95% interval, None below five seeds.
        n, method: how many pairs, and how the interval was made, or why there is none.
        verdict: ``better``, ``worse`` or ``different`` (where neither direction is better) if the interval leaves 0
            out; ``no difference shown`` if not; empty without an interval.
        simulated: whether the seconds of a run are virtual.
    """

    metric: str
    unit: str
    better: str
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    n: int
    method: str
    verdict: str
    doc: str
    simulated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came of a comparison.

    Attributes:
        a, b: the names of the runs of both sides.
        seeds: the seeds that both sides have.
        unpaired: runs whose seed the other side does not have; they count nowhere.
        unfinished: runs with intents that are pending, as ``side, run, pending``, with how many.
        settings: each setting in which the sides differ, as ``setting, a, b``, with what each side has.
        rows: the metrics.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    seeds: tuple[int, ...]
    unpaired: tuple[str, ...]
    unfinished: tuple[dict[str, Any], ...]
    settings: tuple[dict[str, Any], ...]
    rows: tuple[Compared, ...]

    def frame(self) -> pl.DataFrame:
        """Return the metrics as a frame of `SCHEMA`."""
        import polars as pl

        return pl.DataFrame([asdict(row) for row in self.rows], schema=SCHEMA.polars())

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        plain = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


SCHEMA = FrameSchema(
    "comparison",
    "a metric on both sides",
    (
        Column("metric", Type.TEXT, "Its name."),
        Column("unit", Type.TEXT, "Its unit; `1` is a share between 0 and 1."),
        Column("better", Type.TEXT, "Which direction is better."),
        Column("a", Type.FLOAT, "The mean of the first side, in its unit."),
        Column("b", Type.FLOAT, "The mean of the second side, in its unit."),
        Column("difference", Type.FLOAT, "The mean of b - a over the seeds."),
        Column("low", Type.FLOAT, "The lower end of the difference's 95% interval."),
        Column("high", Type.FLOAT, "The upper end of it."),
        Column("n", Type.INT, "How many seeds."),
        Column("method", Type.TEXT, "How the interval was made, or why there is none."),
        Column("verdict", Type.TEXT, "better, worse, different, no difference shown, or empty."),
        Column("doc", Type.TEXT, "What the metric means."),
        Column("simulated", Type.BOOL, "Whether the seconds of a run are virtual."),
    ),
)


class _Run:
    """A run of one side."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.settings = folder.settings()

    @cached_property
    def frames(self) -> Frames:
        return Frames(self.folder)

    @cached_property
    def values(self) -> dict[str, float]:
        return values_of(self.frames)

    @cached_property
    def pending(self) -> int:
        """Return how many intents have not ended."""
        return int((self.frames.intents["ending"] == str(Ending.PENDING)).sum())

    @cached_property
    def simulated(self) -> bool:
        return bool(self.frames.throughput["simulated"].any())

    @cached_property
    def told(self) -> dict[str, str]:
        """Return its settings and environment, each as one text."""
        settings = json.loads((self.folder.root / "settings.json").read_bytes())
        told = {name: value for name, value in settings.items() if name not in OWN}
        around = {name: value for name, value in environment_of(self.folder).items() if name not in _OWN_ENVIRONMENT}
        return dict(_flat("", told)) | dict(_flat("environment.", around))


def compare_runs(a: Sequence[RunFolder], b: Sequence[RunFolder]) -> Comparison:
    """Compare the runs of two sides.

    Raises:
        NothingToCompare: a side has no run, or no seed stands on both.
        BadData: a run cannot be read.
    """
    sides = [_Run(folder) for folder in a], [_Run(folder) for folder in b]
    by_seed = [_by_seed(side) for side in sides]
    seeds = tuple(sorted(by_seed[0].keys() & by_seed[1].keys()))
    if not seeds:
        found = " and ".join(", ".join(map(str, sorted(side))) or "none" for side in by_seed)
        raise NothingToCompare(
            f"no seed stands on both sides: {found}",
            hint="Run both settings with the same seeds: `qodebase run --seed N`.",
        )
    pairs = [(by_seed[0][seed], by_seed[1][seed]) for seed in seeds]
    return Comparison(
        a=tuple(run.folder.name for run in sides[0]),
        b=tuple(run.folder.name for run in sides[1]),
        seeds=seeds,
        unpaired=tuple(run.folder.name for side in sides for run in side if run.settings.seed not in seeds),
        unfinished=tuple(
            {"side": side, "run": run.folder.name, "pending": run.pending}
            for side, runs in zip("ab", sides, strict=True)
            for run in runs
            if run.pending
        ),
        settings=tuple(_differences(*sides)),
        rows=tuple(_rows(pairs)),
    )


def _by_seed(runs: Sequence[_Run]) -> dict[int, list[_Run]]:
    found: defaultdict[int, list[_Run]] = defaultdict(list)
    for run in runs:
        found[run.settings.seed].append(run)
    return dict(found)


def _rows(pairs: Sequence[tuple[list[_Run], list[_Run]]]) -> list[Compared]:
    runs = [run for pair in pairs for side in pair for run in side]
    declared = list(METRICS)
    found = dict.fromkeys(name for run in runs for name in run.values)
    names = sorted(found, key=lambda name: declared.index(metric_of(name).name))
    simulated = any(run.simulated for run in runs)
    rows = []
    for name in names:
        both = [(_mean(left, name), _mean(right, name)) for left, right in pairs]
        known = [(a, b) for a, b in both if a is not None and b is not None]
        if known:
            rows.append(_row(name, known, simulated=simulated))
    return rows


def _mean(runs: Sequence[_Run], name: str) -> float | None:
    """Return a metric's mean over runs of one seed; by rule or model, what a run does not name it has 0 of."""
    values = [run.values.get(name, 0.0 if "." in name else None) for run in runs]
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _row(name: str, known: Sequence[tuple[float, float]], *, simulated: bool) -> Compared:
    metric = metric_of(name)
    found = interval([b - a for a, b in known])
    return Compared(
        metric=name,
        unit=metric.unit,
        better=str(metric.better),
        a=fmean(a for a, _ in known),
        b=fmean(b for _, b in known),
        difference=found.mean,
        low=found.low,
        high=found.high,
        n=found.n,
        method=found.method,
        verdict=_verdict(found, metric.better),
        doc=metric.doc,
        simulated=simulated,
    )


def _verdict(found: Interval, better: Better) -> str:
    if found.low is None or found.high is None:
        return ""
    if found.low <= 0 <= found.high:
        return "no difference shown"
    if better is Better.NEITHER:
        return "different"
    return "better" if (found.mean > 0) == (better is Better.HIGHER) else "worse"


def _differences(a: Sequence[_Run], b: Sequence[_Run]) -> list[dict[str, Any]]:
    told = [[run.told for run in side] for side in (a, b)]
    names = dict.fromkeys(name for side in told for one in side for name in one)
    found = []
    for name in names:
        left, right = (sorted({one.get(name, "") for one in side}) for side in told)
        if left != right:
            found.append({"setting": name, "a": " | ".join(left), "b": " | ".join(right)})
    return found


def _flat(prefix: str, value: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, inner in value.items():
        if isinstance(inner, dict) and inner:
            found += _flat(f"{prefix}{name}.", inner)
        else:
            found.append((prefix + name, inner if isinstance(inner, str) else json.dumps(inner)))
    return found

"""The frame of throughput: what happened in each second, and how much was under way at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.events import (
    Admitted,
    Answered,
    CollisionMet,
    Ended,
    Event,
    Landed,
    Postponed,
    Queued,
    RunStarted,
    RunStopped,
)
from results.columns import Columns
from results.schema import THROUGHPUT
from results.tables.latest import joined, merged

if TYPE_CHECKING:
    import polars as pl

_COUNTED: dict[str, type[Event]] = {"landed": Landed, "collided": CollisionMet, "ended": Ended, "answered": Answered}


def throughput(columns: Columns) -> pl.DataFrame:
    """Make `schema.THROUGHPUT`: no row for a second in which no process worked on the run.

    Time does not run backwards here: what a journal has behind a later second counts in that one.
    """
    import polars as pl

    clock = columns.clock.with_columns(columns.second.cum_max())
    found = _worked(columns, clock)
    for name, kind in _COUNTED.items():
        seconds = clock.select(pl.col("second").gather(columns.of(kind)["place"]))
        found = joined(found, seconds.group_by("second").agg(pl.len().cast(pl.Int64).alias(name)), "second")
    found = found.join_asof(_under_way(columns), left_on="last", right_on="place")
    found = found.with_columns(at=pl.lit(columns.started_at) + pl.col("second"))
    until, begun = _worked_before(clock, found["at"] + 1), _worked_before(clock, found["at"])
    counts = (*_COUNTED, "in_flight", "queued")
    return found.with_columns(
        worked_s=until - begun,
        **{name: pl.col(name).fill_null(0) for name in counts},
    ).select(THROUGHPUT.names)


def _worked(columns: Columns, clock: pl.DataFrame) -> pl.DataFrame:
    """Return the seconds of work in order, each with the newest event up to its end: place, sitting, simulated."""
    import polars as pl

    busy = clock.group_by("second").agg(last=pl.col("place").last(), first=pl.col("place").first()).sort("second")
    starts = columns.of(RunStarted).select(first="place", starts=pl.lit(True))
    busy = joined(busy, starts, "first")
    gap = pl.col("second").shift(-1) - pl.col("second")
    idle = pl.when(pl.col("starts").shift(-1).is_null()).then(gap - 1).fill_null(0)
    seconds = busy.with_columns(every=pl.int_ranges(pl.col("second"), pl.col("second") + 1 + idle)).select(
        "every", "last"
    )
    rows = seconds.explode("every", empty_as_null=False).rename({"every": "second"})
    newest = clock.select(pl.col("sitting", "simulated").gather(rows["last"]))
    return pl.concat([rows, newest], how="horizontal")


def _worked_before(clock: pl.DataFrame, moments: pl.Series) -> pl.Series:
    """Return for how many seconds processes had worked on the run at each moment; several may sit in one second."""
    import polars as pl

    sittings = clock.group_by("sitting").agg(begin=pl.col("at").min(), end=pl.col("at").max()).sort("sitting")
    begin = pl.max_horizontal("begin", pl.col("end").cum_max().shift(1))
    sittings = sittings.select(begin.alias("at"), begin.alias("since"), seconds=(pl.col("end") - begin).clip(0))
    sittings = sittings.with_columns(before=pl.col("seconds").cum_sum() - pl.col("seconds"))
    found = pl.DataFrame({"at": moments}).join_asof(sittings, on="at")
    here = pl.min_horizontal("seconds", pl.col("at") - pl.col("since"))
    return found.select((pl.col("before") + here).fill_null(0.0)).to_series()


def _under_way(columns: Columns) -> pl.DataFrame:
    """Return how many intents are with agents and how many wait in lanes, after every event that changes it.

    Agents and queues do not outlive the process that held them, so each start and each stop begins at nothing.
    """
    import polars as pl

    edges: tuple[type[Event], ...] = (RunStarted, RunStopped)
    bounds = merged(*(columns.of(kind).select("place") for kind in edges))
    bounds = bounds.with_columns(process=pl.col("place"), flies=pl.lit(0), waits=pl.lit(0))
    kinds: dict[type[Event], tuple[int, int]] = {
        Admitted: (1, 0),
        Queued: (0, 1),
        Landed: (0, 0),
        Ended: (0, 0),
        Postponed: (0, 0),
    }
    moves = merged(
        *(
            columns.of(kind)
            .filter(pl.col("intent") > 0)
            .select("place", "intent", flies=pl.lit(flies), waits=pl.lit(waits))
            for kind, (flies, waits) in kinds.items()
        )
    ).join_asof(bounds.select("place", "process"), on="place")
    of_one = ("process", "intent")
    deltas = moves.select(
        "place",
        "process",
        *(pl.col(name) - pl.col(name).shift(1).over(of_one).fill_null(0) for name in ("flies", "waits")),
    )
    counted = pl.concat([deltas, bounds.select(deltas.columns)]).sort("place")
    sums = (
        pl.col(name).cum_sum().over("process", mapping_strategy="group_to_rows").cast(pl.Int64)
        for name in ("flies", "waits")
    )
    return counted.select("place", *sums).rename({"flies": "in_flight", "waits": "queued"})

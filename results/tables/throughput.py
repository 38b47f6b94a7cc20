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
from results.working import worked_before

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
    until, begun = worked_before(columns.spans, found["at"] + 1), worked_before(columns.spans, found["at"])
    counts = (*_COUNTED, "in_flight", "queued")
    return found.with_columns(
        worked_s=until - begun,
        **{name: pl.col(name).fill_null(0) for name in counts},
    ).select(THROUGHPUT.names)


def _worked(columns: Columns, clock: pl.DataFrame) -> pl.DataFrame:
    """Return the seconds of work in order, each with the newest event up to its end: place, sitting, simulated."""
    import polars as pl

    busy = clock.group_by("second").agg(last=pl.col("place").last()).sort("second")
    sittings = clock.filter("works").group_by("sitting").agg(since=pl.col("second").min(), until=pl.col("second").max())
    worked = sittings.select(second=pl.int_ranges("since", pl.col("until") + 1)).explode("second", empty_as_null=False)
    seconds = pl.concat([worked, busy.select("second")]).unique().sort("second")
    rows = seconds.join_asof(busy, on="second")
    newest = clock.select(pl.col("sitting", "simulated").gather(rows["last"]))
    return pl.concat([rows, newest], how="horizontal")


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

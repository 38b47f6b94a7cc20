"""Which time is the run's: that in which a process worked on it, not that between one process and the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.events import Event, RunStarted, RunStopped

if TYPE_CHECKING:
    import polars as pl

BOOKKEEPERS = ("trunk", "driver")
"""Who writes down, before a new process says that it has started, what a killed one left open."""


def tells_of_work(event: Event) -> bool:
    """Return whether a process was at work up to an event; a run's cap of time counts by the same rule."""
    return isinstance(event, RunStarted | RunStopped) or event.actor not in BOOKKEEPERS


def spans_of(clock: pl.DataFrame) -> pl.DataFrame:
    """Return when each process was at work, as ``begin, end``, in order and none over another.

    Args:
        clock: time, sitting and ``works`` of all events; see `results.columns.Columns.clock`.
    """
    import polars as pl

    sittings = clock.filter("works").group_by("sitting").agg(begin=pl.col("at").min(), end=pl.col("at").max())
    begin = pl.max_horizontal("begin", pl.col("end").cum_max().shift(1))
    return sittings.sort("sitting").select(begin=begin, end=pl.max_horizontal(begin, "end"))


def worked_before(spans: pl.DataFrame, moments: pl.Series) -> pl.Series:
    """Return for how many seconds processes had worked on the run at each moment."""
    import polars as pl

    seconds = pl.col("end") - pl.col("begin")
    told = spans.select("begin", seconds=seconds, before=seconds.cum_sum() - seconds)
    newest = told["begin"].search_sorted(moments, side="right").cast(pl.Int64) - 1
    found = told.select(pl.all().gather(newest.set(newest < 0, None))).with_columns(at=moments)
    here = pl.min_horizontal("seconds", pl.col("at") - pl.col("begin"))
    return found.select(pl.when(pl.col("at").is_not_null()).then((pl.col("before") + here).fill_null(0.0))).to_series()


def took(spans: pl.DataFrame, since: pl.Series, until: pl.Series) -> pl.Series:
    """Return the seconds of work on the run from each moment to a later one."""
    if spans.height < 2:
        return until - since
    return worked_before(spans, until) - worked_before(spans, since)

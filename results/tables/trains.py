"""The frames of the gate: trains that it judged, and checks that were lost in landing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.events import CheckLost, Judged, TrainBuilt
from results.columns import Columns
from results.schema import LOSSES, TRAINS
from results.tables.latest import before

if TYPE_CHECKING:
    import polars as pl


def trains(columns: Columns) -> pl.DataFrame:
    """Make `schema.TRAINS`."""
    import polars as pl

    built = columns.of(TrainBuilt).rename({"at": "built_at", "size": "most"}).drop("simulated", "intent")
    found = before(columns.of(Judged).drop("intent"), built, "train")
    train = pl.col("of") == ""
    nobody = pl.lit([], pl.List(pl.String()))
    members = pl.when(train).then(pl.col("members").fill_null(nobody)).otherwise(nobody)
    return found.with_columns(
        columns.second,
        members=members,
        size=members.list.len().cast(pl.Int64),
        of=pl.when(train).then(pl.lit("train")).otherwise("of"),
        gate_s=pl.when(train).then(pl.col("at") - pl.col("built_at")),
        **{name: pl.when(train).then(name) for name in ("built_at", "tip", "most", "guessed")},
    ).select(TRAINS.names)


def losses(columns: Columns) -> pl.DataFrame:
    """Make `schema.LOSSES`."""
    import polars as pl

    def text(name: str) -> pl.Expr:
        return pl.when(pl.col(name) != "").then(name)

    found = columns.of(CheckLost).with_columns(columns.second, intent=text("owner"), lost_by=text("by"))
    return found.select(LOSSES.names)

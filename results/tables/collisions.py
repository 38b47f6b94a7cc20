"""The frame of collisions: what moved under which change, and what redid it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.events import Asked, CollisionMet, Landed, Replayed
from results.columns import Columns
from results.schema import COLLISIONS
from results.tables.latest import before, joined, merged, newest

if TYPE_CHECKING:
    import polars as pl

_ALL = 1 << 62


def collisions(columns: Columns) -> pl.DataFrame:
    """Make `schema.COLLISIONS`."""
    import polars as pl

    landed = columns.of(Landed).select("intent", "attempt", landed=pl.lit(True)).unique()
    found = joined(columns.of(CollisionMet), landed, "intent", "attempt")
    found = joined(found, _redone_by_models(columns), "intent", "attempt")
    by_model = pl.when(pl.col("redone") > pl.col("replay")).then(pl.concat_str(pl.lit("model:"), "model"))
    by = pl.when(pl.col("by") != "").then("by").otherwise(by_model).str.splitn(":", 2)
    return (
        columns.named(found)
        .select(
            "at",
            columns.second,
            "intent",
            "attempt",
            "lane",
            "train",
            "replay",
            "path",
            "moved_to",
            collision="kind",
            with_intents="intents",
            moved_by="count",
            foreign="foreign",
            redone_by=by.struct[0],
            rule=pl.when(by.struct[1] != "").then(by.struct[1]),
            declined="declined",
            landed=pl.col("landed").fill_null(False),
            simulated="simulated",
        )
        .select(COLLISIONS.names)
    )


def _redone_by_models(columns: Columns) -> pl.DataFrame:
    """Return, for attempts that a model redid, the newest replay that worked and the model.

    One that landed so has none left open, whichever replay met it.
    """
    import polars as pl

    asked = columns.of(Asked).filter(pl.col("purpose") == "replay").select("place", "intent", "model")
    redone = merged(
        columns.of(Replayed).select("place", "intent", "attempt", redone="replay"),
        columns.of(Landed)
        .filter(pl.col("replay") > 0)
        .select("place", "intent", "attempt", redone=pl.lit(_ALL, pl.Int64())),
    )
    named = before(redone, asked, "intent").with_columns(pl.col("model").fill_null(""))
    return newest(named, "intent", "attempt").drop("place")

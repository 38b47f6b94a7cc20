"""The frame of landings: what each landed intent's newest attempt came through before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.events import Admitted, ChangeMade, CollisionMet, Landed, Queued, Replayed
from results.columns import Columns
from results.schema import LANDINGS
from results.tables.latest import before, joined, merged, oldest

if TYPE_CHECKING:
    import polars as pl


def landings(columns: Columns) -> pl.DataFrame:
    """Make `schema.LANDINGS`."""
    import polars as pl

    taken = columns.of(Admitted).select("place", "intent", since="place", admitted_at="at", agent="actor")
    made = columns.of(ChangeMade).select("place", "intent", "base", "paths", made="place")
    based = merged(
        columns.of(ChangeMade).select("place", "intent", "base"), columns.of(Replayed).select("place", "intent", "base")
    ).with_columns(based=pl.col("place"))
    found = before(columns.of(Landed), taken, "intent").with_columns(pl.col("since").fill_null(-1))
    found = before(found, made.drop("base"), "intent")
    found = before(found, based, "intent")
    found = joined(found, oldest(taken, "intent").select("intent", first_at="admitted_at"), "intent")
    found = joined(found, _handed_in(columns, taken), "intent", "since")
    found = joined(found, _collided(columns, taken, found), "place")
    found = found.with_columns(
        seconds=columns.took(found, "first_at", "at"), waited=columns.took(found, "queued_at", "at")
    )
    since = pl.col("since")
    return (
        columns.named(found)
        .select(
            "intent",
            "attempt",
            "lane",
            "train",
            "commit",
            "parent",
            "replay",
            "at",
            columns.second,
            "simulated",
            base=pl.when(pl.col("based") > since).then("base"),
            agent=pl.when(pl.col("agent") != "").then("agent"),
            seconds="seconds",
            queued_s=pl.when(pl.col("queued") < pl.col("place")).then("waited"),
            paths=pl.when(pl.col("made") > since).then("paths").fill_null(0),
            collided=pl.col("collided").fill_null(0),
        )
        .select(LANDINGS.names)
    )


def _handed_in(columns: Columns, taken: pl.DataFrame) -> pl.DataFrame:
    """Return when each attempt was first handed in; it is queued again whenever a lane takes it up once more."""
    import polars as pl

    queued = before(columns.of(Queued), taken.select("place", "intent", "since"), "intent")
    queued = queued.with_columns(pl.col("since").fill_null(-1))
    return oldest(queued, "intent", "since").select("intent", "since", queued="place", queued_at="at")


def _collided(columns: Columns, taken: pl.DataFrame, landed: pl.DataFrame) -> pl.DataFrame:
    """Return how many paths had moved under each landing's attempt, by the landing's place."""
    import polars as pl

    met = before(
        columns.of(CollisionMet).select("place", "intent", "path"), taken.select("place", "intent", "since"), "intent"
    )
    met = met.with_columns(pl.col("since").fill_null(-1)).rename({"place": "met"})
    both = landed.select("place", "intent", "since").join(met, on=("intent", "since"))
    paths = both.filter(pl.col("met") < pl.col("place")).unique(("place", "path"))
    return paths.group_by("place").agg(collided=pl.len().cast(pl.Int64))

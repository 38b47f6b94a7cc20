"""The frame of intents: how each of them ended, and what its newest attempt came through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.events import Admitted, Answered, CollisionMet, Ended, Held, Landed, Queued, Replayed, Wasted
from qodebase.intent import Ending
from results.columns import Columns
from results.schema import INTENTS
from results.tables.calls import calls, usage
from results.tables.latest import joined, merged, newest, oldest

if TYPE_CHECKING:
    import polars as pl

_COUNTS = ("attempts", "replays", "collided", "calls", "wasted_calls", "unknown_cost_calls")
_SUMS = ("input_tokens", "cached_tokens", "output_tokens", "cost_usd")


def intents(columns: Columns) -> pl.DataFrame:
    """Make `schema.INTENTS`."""
    import polars as pl

    frozen = columns.frozen.rename({"ending": "frozen_ending", "reason": "frozen_reason"})
    begun = _begun(columns)
    wasted = columns.of(Wasted).group_by("intent").agg(wasted_calls=pl.col("calls").sum())
    found = joined(frozen, begun, "intent")
    of_intent = (_held(columns), _endings(columns), _lanes(columns), _landed(columns), wasted)
    for part in (*_of_newest_attempt(columns, begun), *of_intent):
        found = joined(found, part, "intent")
    found = joined(found, usage(calls(columns), "intent").drop("answers"), "intent")
    landed = pl.col("ending") == Ending.LANDED.value
    return (
        found.with_columns(
            ending=pl.coalesce("ending", "frozen_ending"),
            reason=pl.coalesce("reason", "frozen_reason"),
            agent=pl.when(pl.col("agent") != "").then("agent"),
            seconds=columns.took(found, "admitted_at", "ended_at"),
            held_s=columns.took(found, "held_at", "taken_at"),
            **{name: pl.col(name).fill_null(0) for name in (*_COUNTS, *_SUMS)},
        )
        .with_columns(
            simulated=pl.lit(columns.simulated),
            reason=pl.when(landed).then(pl.lit("")).otherwise("reason"),
            intent=pl.col("id"),
        )
        .select(INTENTS.names)
    )


def _begun(columns: Columns) -> pl.DataFrame:
    """Return how many attempts were begun, and since when the newest is; after a kill one is taken once more."""
    import polars as pl

    taken = columns.of(Admitted)
    of_newest = taken.filter(pl.col("attempt").eq_missing(pl.col("attempt").last().over("intent")))
    begun = of_newest.group_by("intent").agg(since=pl.col("place").first(), admitted_at=pl.col("at").first())
    attempts = taken.group_by("intent").agg(
        attempts=pl.col("attempt").n_unique().cast(pl.Int64), agent=pl.col("actor").last()
    )
    return joined(attempts, begun, "intent")


def _held(columns: Columns) -> pl.DataFrame:
    """Return who waited for what another one claims, since when, and when an agent took it at last."""
    import polars as pl

    held = oldest(columns.of(Held), "intent").select("intent", "place", held_by="by", held_at="at")
    taken = (
        columns.of(Admitted)
        .select("intent", "place", taken_at="at")
        .join(held, "intent", suffix="_held", maintain_order="left")
    )
    later = taken.filter(pl.col("place") > pl.col("place_held"))
    return joined(held.drop("place"), oldest(later, "intent").select("intent", "taken_at"), "intent")


def _of_newest_attempt(columns: Columns, begun: pl.DataFrame) -> list[pl.DataFrame]:
    """Return what happened since an agent first took the newest attempt."""
    import polars as pl

    def since(table: pl.DataFrame) -> pl.DataFrame:
        with_start = joined(table, begun.select("intent", "since"), "intent")
        return with_start.filter(pl.col("place") > pl.col("since").fill_null(-1))

    replays = merged(
        *(columns.of(kind).select("place", "intent", replays="replay") for kind in (Replayed, Landed)),
    )
    return [
        newest(since(columns.of(Answered)), "intent").select("intent", answered_at="at"),
        oldest(since(columns.of(Queued)), "intent").select("intent", queued_at="at"),
        newest(since(replays), "intent").select("intent", "replays"),
        _paths(since(columns.of(CollisionMet).select("place", "intent", "path")), "intent"),
    ]


def _paths(met: pl.DataFrame, key: str) -> pl.DataFrame:
    import polars as pl

    return met.unique((key, "path")).group_by(key).agg(collided=pl.len().cast(pl.Int64))


def _endings(columns: Columns) -> pl.DataFrame:
    import polars as pl

    ended = columns.of(Ended).select("place", "intent", "ending", "reason", ended_at="at")
    landed = columns.of(Landed).select(
        "place", "intent", ending=pl.lit(Ending.LANDED.value), reason=pl.lit(""), ended_at="at"
    )
    return newest(merged(ended, landed), "intent").drop("place")


def _lanes(columns: Columns) -> pl.DataFrame:
    lanes = merged(*(columns.of(kind).select("place", "intent", "lane") for kind in (Queued, Landed)))
    return newest(lanes, "intent").drop("place")


def _landed(columns: Columns) -> pl.DataFrame:
    return newest(columns.of(Landed), "intent").select("intent", "train", "commit")

"""The model calls of a run, and what they used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.events import Answered, Asked, CutOff, Event, Landed, Replayed, Wasted
from results.columns import Columns
from results.schema import ATTEMPTS, COSTS
from results.tables.latest import joined, merged, newest

if TYPE_CHECKING:
    import polars as pl

_KEY = ("intent", "call")
_BEGINNING = ("attempt", "purpose", "model", "prompt", "simulated", "sitting", "asked_at")


def calls(columns: Columns) -> pl.DataFrame:
    """Return every call in the order of asking, from asked to its end; intents are numbers.

    An end without its beginning is a call that stands where its end does.
    """
    return columns.once("calls", lambda: _calls(columns))


def _calls(columns: Columns) -> pl.DataFrame:
    import polars as pl

    asked = columns.with_sitting(columns.of(Asked)).rename({"at": "asked_at"})
    begun = newest(asked.select("place", *_KEY, *_BEGINNING), *_KEY)
    ends = columns.of(Answered).select(pl.exclude("attempt", "simulated")).rename({"at": "answered_at"})
    answered = _behind(ends.rename({"model": "answered_by"}), begun)
    cut = _behind(columns.of(CutOff).select("place", *_KEY).with_columns(cut_off=pl.lit(True)), begun)
    orphans = pl.concat(
        [
            _orphans(
                columns.with_sitting(columns.of(kind).select("place", *_KEY, "attempt", "model", "simulated")), begun
            )
            for kind in (Answered, CutOff)
        ]
    )
    orphans = orphans.sort("place").unique(_KEY, keep="first", maintain_order=True)
    found = pl.concat([begun, orphans.select(begun.columns)]).sort("place")
    found = joined(joined(found, answered, *_KEY), cut, *_KEY)
    ended = pl.col("outcome").is_not_null()
    return _with_thrown_away(columns, found).with_columns(
        answered=ended & (pl.col("outcome") == "answer"),
        outcome=pl.coalesce("outcome", pl.when(pl.col("cut_off")).then(pl.lit("cut off")), pl.lit("open")),
        model=pl.coalesce("answered_by", "model"),
        why=pl.col("why").fill_null(""),
        named=pl.col("named").fill_null(""),
        ended=ended,
        used=ended & (pl.col("source") != "run"),
        simulated_model=pl.coalesce("answered_by", "model").is_in(columns.simulated_models),
        **{name: pl.col(name).fill_null(0) for name in ("input_tokens", "cached_tokens", "output_tokens")},
    )


def _with_thrown_away(columns: Columns, found: pl.DataFrame) -> pl.DataFrame:
    """Say of each replay call whether what it was asked for was thrown away: what came of the replay says so."""
    import polars as pl

    thrown = columns.of(Wasted)["intent"].unique()
    kinds: dict[type[Event], bool] = {Replayed: False, Wasted: True, Landed: False}
    came = merged(
        *(
            columns.of(kind)
            .filter(pl.col("intent").is_in(thrown.implode()))
            .select("place", "intent", thrown_away=pl.lit(was_thrown, pl.Boolean))
            for kind, was_thrown in kinds.items()
        )
    )
    replays = found.filter(pl.col("purpose") == "replay").select("place", "intent")
    fates = replays.join_asof(came, on="place", by="intent", strategy="forward", check_sortedness=False)
    found = joined(found, fates.select("place", "thrown_away"), "place")
    return found.with_columns(pl.col("thrown_away").fill_null(False))


def _behind(ends: pl.DataFrame, begun: pl.DataFrame) -> pl.DataFrame:
    """Return the newest end of each call that is not older than its beginning."""
    import polars as pl

    with_start = joined(ends, begun.select(*_KEY, begun_at="place"), *_KEY)
    kept = with_start.filter(pl.col("begun_at").is_null() | (pl.col("begun_at") < pl.col("place")))
    return newest(kept, *_KEY).drop("place", "begun_at")


def _orphans(ends: pl.DataFrame, begun: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return ends.join(begun, on=_KEY, how="anti", nulls_equal=True).with_columns(
        purpose=pl.lit("fresh"), prompt=pl.lit(""), asked_at=pl.lit(None, pl.Float64())
    )


def attempts(columns: Columns) -> pl.DataFrame:
    """Make `schema.ATTEMPTS`."""
    import polars as pl

    landed = columns.of(Landed).select("intent", "attempt", landed=pl.lit(True)).unique()
    found = joined(calls(columns), landed, "intent", "attempt").with_columns(pl.col("landed").fill_null(False))
    return columns.named(found).select(ATTEMPTS.names)


def usage(calls: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return what the calls of each key used; calls that the run already held an answer for use nothing."""
    import polars as pl

    used, ended = pl.col("used"), pl.col("ended")
    tokens = ("input_tokens", "cached_tokens", "output_tokens")
    return calls.group_by(keys).agg(
        calls=pl.len().cast(pl.Int64),
        answers=pl.col("answered").sum().cast(pl.Int64),
        provider_calls=(~ended | (used & (pl.col("source") != "cache"))).sum().cast(pl.Int64),
        cache_calls=(used & (pl.col("source") == "cache")).sum().cast(pl.Int64),
        run_calls=(ended & ~used).sum().cast(pl.Int64),
        **{name: pl.col(name).filter(used).sum() for name in tokens},
        cost_usd=pl.col("cost_usd").filter(used).sum(),
        unknown_cost_calls=(~ended | (used & pl.col("cost_usd").is_null())).sum().cast(pl.Int64),
    )


def costs(columns: Columns) -> pl.DataFrame:
    """Make `schema.COSTS`, by model and purpose."""
    found = usage(calls(columns), "model", "purpose", "simulated_model")
    return found.sort("model", "purpose").select(COSTS.names)

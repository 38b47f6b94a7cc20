"""Choosing landings of a run by their frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError
from qodebase.paths import CommitId
from results.frames import Frames

if TYPE_CHECKING:
    import polars as pl


_ASKED = ("landings", "intents", "attempts", "collisions")


class BadCondition(QodebaseError):
    """A condition that is no SQL, or names a column that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which landings are meant: those that meet everything that is given; nothing given: all of them.

    Attributes:
        intents, lanes, models: any of these.
        since, until: when they landed, in seconds since the epoch, both included.
        where: an SQL condition over `landed`.
    """

    intents: Sequence[str] | None = None
    lanes: Sequence[str] = ()
    models: Sequence[str] = ()
    since: float | None = None
    until: float | None = None
    where: str = ""


def landed(frames: Frames) -> pl.DataFrame:
    """Return the landings with what the frame of intents adds to them, and the model whose answer landed."""
    import polars as pl

    landings = frames.landings
    more = frames.intents.select(name for name in frames.intents.columns if name not in landings.columns)
    more = more.with_columns(frames.intents["intent"])
    answers = frames.attempts.filter(pl.col("outcome") == "answer").sort("call")
    models = answers.group_by("intent", "attempt").agg(pl.col("model").last())
    joined = landings.join(more, on="intent", how="left", maintain_order="left")
    return joined.join(models, on=["intent", "attempt"], how="left", maintain_order="left")


def select(frames: Frames, selection: Selection) -> list[CommitId]:
    """Return the commits of the landings that are meant, in the order of landing.

    Raises:
        BadCondition: the condition cannot be asked; the message is that of polars' SQL.
    """
    import polars as pl

    found = landed(frames)
    if selection.intents is not None:
        found = found.filter(pl.col("intent").is_in(list(selection.intents)))
    if selection.lanes:
        found = found.filter(pl.col("lane").is_in(list(selection.lanes)))
    if selection.models:
        found = found.filter(pl.col("model").is_in(list(selection.models)))
    if selection.since is not None:
        found = found.filter(pl.col("at") >= selection.since)
    if selection.until is not None:
        found = found.filter(pl.col("at") <= selection.until)
    if selection.where:
        found = _where(frames, found, selection.where)
    return [CommitId(commit) for commit in found["commit"]]


def _where(frames: Frames, found: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return the rows that meet an SQL condition, which may ask other frames in subqueries."""
    import polars as pl

    known = {"landed": found, **{name: frames.frame(name) for name in _ASKED}}
    try:
        with pl.SQLContext(known, eager=True) as asked:
            return asked.execute(f"SELECT * FROM landed WHERE {where}")
    except pl.exceptions.PolarsError as error:
        said = next(filter(None, map(str.strip, str(error).splitlines())), "polars does not say why")
        raise BadCondition(f"--where {where!r}: {said}", hint=f"Columns: {', '.join(found.columns)}.") from None

"""What was the newest at some moment: the questions that frames ask of a journal's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def newest(table: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return the last row of each key; the rows must be in order."""
    return table.unique(keys, keep="last", maintain_order=True)


def oldest(table: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return the first row of each key; the rows must be in order."""
    return table.unique(keys, keep="first", maintain_order=True)


def merged(*tables: pl.DataFrame) -> pl.DataFrame:
    """Return tables of the same columns as one, in the order of the journal."""
    import polars as pl

    return pl.concat(tables).sort("place")


def joined(left: pl.DataFrame, right: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return every row of ``left``, in order, with what ``right`` holds at its key, which stands there once."""
    return left.join(right, on=keys, how="left", maintain_order="left", nulls_equal=True)


def before(left: pl.DataFrame, right: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return every row of ``left`` with the last row of ``right`` before it that has its key; both are in order."""
    return left.join_asof(right, on="place", by=key, check_sortedness=False)

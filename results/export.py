"""Frames as files and as text: parquet, CSV, JSON, and a table for people."""

from __future__ import annotations

import io
import json
from datetime import date, time, timedelta
from decimal import Decimal
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


_LARGE = 1e6
"""From here on polars has powers of ten."""


class Format(StrEnum):
    """How a frame is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def written(frame: pl.DataFrame, format: Format) -> bytes:
    """Return a frame as bytes; lists stand in CSV as JSON, and JSON is an array with an object a row.

    What JSON has no word for stands in both as: null (no number, no finite one), ISO 8601 (times), seconds (durations),
    hex digits (bytes).
    """
    match format:
        case Format.TABLE:
            return table(frame).encode() + b"\n"
        case Format.CSV:
            return _for_csv(frame).write_csv().encode()
        case Format.JSON:
            return json.dumps(_plain(frame.to_dicts()), ensure_ascii=False, allow_nan=False).encode() + b"\n"
        case Format.PARQUET:
            out = io.BytesIO()
            frame.write_parquet(out)
            return out.getvalue()


def table(frame: pl.DataFrame, *, most: int = 50) -> str:
    """Return a frame as a table for people, its first and last rows where it has more than ``most``."""
    import polars as pl

    with pl.Config(
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_rows=most,
        tbl_cols=-1,
        fmt_str_lengths=60,
        tbl_width_chars=10_000,
    ):
        return str(_with_large_in_full(frame))


def _with_large_in_full(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose large numbers, such as moments, are told to the millisecond and not as powers of ten."""
    import polars as pl

    def told(values: pl.Series) -> pl.Series:
        most = values.abs().max()
        large = isinstance(most, float) and isfinite(most) and most >= _LARGE
        return pl.Series(values.name, [None if one is None else f"{one:.3f}" for one in values]) if large else values

    return frame.with_columns(told(frame[name]) for name, type in frame.schema.items() if type.is_float())


def _for_csv(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    odd = [name for name, type in frame.schema.items() if type.is_nested() or type in (pl.Binary, pl.Duration)]
    return frame.with_columns(pl.Series(name, [_cell(row) for row in frame[name].to_list()]) for name in odd)


def _cell(value: Any) -> Any:
    plain = _plain(value)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict) else plain


def _plain(value: Any) -> Any:
    """Return a value of a frame as JSON can say it."""
    match value:
        case list():
            return [_plain(one) for one in value]
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case float() | Decimal():
            return float(value) if isfinite(value) else None
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
    return value

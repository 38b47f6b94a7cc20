"""Frames as files and as text: parquet, CSV, JSON, and a table for people."""

from __future__ import annotations

import io
import json
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class Format(StrEnum):
    """How a frame is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def written(frame: pl.DataFrame, format: Format) -> bytes:
    """Return a frame as bytes; lists stand in CSV as JSON, and JSON is an array with an object a row."""
    match format:
        case Format.TABLE:
            return table(frame).encode() + b"\n"
        case Format.CSV:
            return _without_lists(frame).write_csv().encode()
        case Format.JSON:
            return json.dumps(frame.to_dicts(), ensure_ascii=False).encode() + b"\n"
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
        return str(frame)


def _without_lists(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    lists = [name for name, type in frame.schema.items() if isinstance(type, pl.List)]
    return frame.with_columns(
        pl.Series(name, [None if row is None else json.dumps(row, ensure_ascii=False) for row in frame[name].to_list()])
        for name in lists
    )

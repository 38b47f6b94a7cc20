"""SQL over the frames of a run: polars' own, one table a frame, and the metrics as one more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError
from results.frames import Frames
from results.metrics import SCHEMA, metrics_frame
from results.schema import SCHEMAS

if TYPE_CHECKING:
    import polars as pl

TABLES = {**SCHEMAS, SCHEMA.name: SCHEMA}


class BadQuery(QodebaseError):
    """A query that cannot be answered."""


def query(frames: Frames, text: str) -> pl.DataFrame:
    """Return the answer to a query; only the frames that it names are made.

    Raises:
        BadQuery: it is no SQL that polars knows, or names a table or column that is not there.
    """
    import polars as pl

    named = [name for name in TABLES if re.search(rf"\b{name}\b", text, re.IGNORECASE)]
    tables = {name: metrics_frame(frames) if name == SCHEMA.name else frames.frame(name) for name in named or TABLES}
    try:
        with pl.SQLContext(tables, eager=True) as context:
            answer: pl.DataFrame = context.execute(text)
            return answer
    except pl.exceptions.PolarsError as error:
        hints = [f"{name} has {', '.join(TABLES[name].names)}." for name in named]
        raise BadQuery(
            f"the query cannot be answered: {_first_line(str(error))}",
            hint=" ".join(hints) or f"Tables are {', '.join(TABLES)}.",
        ) from None


def _first_line(text: str) -> str:
    return next(filter(None, map(str.strip, text.splitlines())), "polars does not say why")

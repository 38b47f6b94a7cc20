"""What a published run came to here: each figure beside the published one, with ratio and interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from results.intervals import CONFIDENCE, FEWEST, student_quantile
from results.published_runs import Figure, Published

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure.

    Attributes:
        here: the mean over ``n`` runs; None where it cannot be measured here, and ``why`` says why.
        ratio: here / published; None where one of them is not there, or published is 0.
        ratio_at_scale: the same for a figure that grows with the work, against the published one times the scale.
        low, high: the 95% interval of the mean from five runs on; below that the range, None for one run.
        method: which of these.
        values: what each run came to.
    """

    figure: str
    what: str
    unit: str
    published: float
    here: float | None
    ratio: float | None
    ratio_at_scale: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    values: tuple[float, ...]
    why: str
    source: str

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {**asdict(self), "values": list(self.values)}


def rows_of(
    published: Published, runs: Sequence[Mapping[str, float]], *, scale: float, unknown: Mapping[str, str]
) -> list[Row]:
    """Return a row for each published figure, in their order.

    Args:
        runs: what each run came to, by figure.
        scale: the size of the work here, as a part of the published one.
        unknown: why a figure that no run has cannot be measured.
    """
    return [_row(published, figure, runs, scale=scale, unknown=unknown) for figure in published.figures]


def frame_of(rows: Sequence[Row]) -> pl.DataFrame:
    """Return a row a figure, with the fields of `Row` as columns."""
    import polars as pl

    return pl.DataFrame([row.as_dict() for row in rows], infer_schema_length=None)


def _row(
    published: Published,
    figure: Figure,
    runs: Sequence[Mapping[str, float]],
    *,
    scale: float,
    unknown: Mapping[str, str],
) -> Row:
    values = tuple(float(run[figure.name]) for run in runs if figure.name in run)
    here = fmean(values) if values else None
    low, high, method = _bounds(values)
    return Row(
        figure=figure.name,
        what=figure.what,
        unit=figure.unit,
        published=figure.value,
        here=here,
        ratio=_ratio(here, figure.value),
        ratio_at_scale=_ratio(here, figure.value * (scale if figure.grows else 1.0)),
        low=low,
        high=high,
        n=len(values),
        method=method,
        values=values,
        why="" if values else unknown.get(figure.name, "not measured in these runs"),
        source=figure.source or published.source,
    )


def _ratio(here: float | None, published: float) -> float | None:
    return None if here is None or not published else here / published


def _bounds(values: Sequence[float]) -> tuple[float | None, float | None, str]:
    """Return Student's interval of the mean from five values on, below that their range."""
    n = len(values)
    if n < 2:
        return None, None, "one run a setting" if n else "not measured"
    if n < FEWEST:
        return min(values), max(values), f"range of {n} runs, one run a setting ({FEWEST} give an interval)"
    half = student_quantile(0.5 + CONFIDENCE / 2, n - 1) * stdev(values) / math.sqrt(n)
    return fmean(values) - half, fmean(values) + half, f"Student's t over {n} runs"

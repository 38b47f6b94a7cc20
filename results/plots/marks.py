"""What the plots of a run share: steps of time, groups, scales, tooltips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from results.frames import Frames
from results.plots.bins import step_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_BARS = 14
_STEPS = 150


def shortened(data: pl.DataFrame, name: str, amount: str) -> pl.DataFrame:
    """Return the rows of the largest groups; the others are one group."""
    import polars as pl

    groups = data.group_by(name).agg(pl.col(amount).sum()).sort(amount, descending=True)[name].to_list()
    if len(groups) <= _BARS:
        return data
    kept = groups[: _BARS - 1]
    rest = f"{len(groups) - len(kept)} others"
    joined = data.with_columns(pl.when(pl.col(name).is_in(kept)).then(name).otherwise(pl.lit(rest)).alias(name))
    others = [column for column in data.columns if column != amount]
    return joined.group_by(others, maintain_order=True).agg(pl.col(amount).sum())


def stepped(frames: Frames) -> tuple[pl.DataFrame, int]:
    """Return throughput in steps of the run's time, and the step in seconds."""
    import polars as pl

    step = step_of(last_second(frames) + 1, most=_STEPS)
    sums = [pl.col(name).sum() for name in ("landed", "collided", "ended", "answered", "worked_s")]
    most = [pl.col(name).max() for name in ("in_flight", "queued")]
    stepped = frames.throughput.group_by(from_s=pl.col("second") // step * step).agg(*sums, *most).sort("from_s")
    return stepped.with_columns(until_s=pl.col("from_s") + step), step


def last_second(frames: Frames) -> int:
    last = frames.throughput["second"].max()
    return last if isinstance(last, int) else 0


def simulated(frames: Frames) -> bool:
    return bool(frames.throughput["simulated"].any())


def bar_height(bars: int) -> int:
    return max(50, 30 * bars)


def time(name: str) -> alt.X:
    import altair as alt

    return alt.X(f"{name}:Q", title="seconds since the run began", scale=alt.Scale(nice=False))


def scale(domain: list[str], range: list[str] | list[list[int]]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=domain, range=range)


def tips(*fields: tuple[str, str]) -> list[alt.Tooltip]:
    """Return a tooltip's lines; a field without a type is a number."""
    return [_tip(field if ":" in field else f"{field}:Q", title) for field, title in fields]


def _tip(field: str, title: str) -> alt.Tooltip:
    import altair as alt

    name, _, type = field.partition(":")
    return alt.Tooltip(field, title=title or name, format=",.4~g" if type == "Q" else alt.Undefined)

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


def at_work(frames: Frames) -> pl.DataFrame:
    """Return throughput with ``worked``: the seconds before each in which a process worked on the run, too."""
    return frames.throughput.with_row_index("worked").cast({"worked": int})


def stepped(frames: Frames) -> tuple[pl.DataFrame, int]:
    """Return throughput in steps of the run's time at work, and the step in seconds."""
    import polars as pl

    step = step_of(frames.throughput.height, most=_STEPS)
    sums = [pl.col(name).sum() for name in ("landed", "collided", "ended", "answered", "worked_s")]
    most = [pl.col(name).max() for name in ("in_flight", "queued")]
    stepped = at_work(frames).group_by(from_s=pl.col("worked") // step * step).agg(*sums, *most).sort("from_s")
    return stepped.with_columns(until_s=pl.col("from_s") + step), step


def simulated(frames: Frames) -> bool:
    return bool(frames.throughput["simulated"].any())


def bar_height(bars: int) -> int:
    return max(50, 30 * bars)


def time(name: str, *frames: Frames) -> alt.X:
    """Return the axis of the run's time, which stands still while no process works on the run."""
    import altair as alt

    seconds = [one.throughput["second"] for one in frames]
    whole = all(each.is_empty() or each[-1] == len(each) - 1 for each in seconds)
    title = "seconds since the run began" if whole else "seconds of work on the run"
    return alt.X(f"{name}:Q", title=title, scale=alt.Scale(nice=False))


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

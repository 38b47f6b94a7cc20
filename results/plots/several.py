"""Plots of several runs: a collision dial with every seed as a point, runs over time, differences with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qodebase.errors import QodebaseError
from results.dial import SETTINGS
from results.frames import Frames
from results.metrics import Facts
from results.plots.bins import step_of
from results.plots.marks import at_work, time
from results.plots.plot import AnyChart, Plot, chart_of
from results.plots.theme import BLUE, GREY, PALETTE, VERMILLION
from results.schema import Type

if TYPE_CHECKING:
    import polars as pl

    from results.compare import Comparison

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 4])
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
_STEPS = 200
_LONG_NAME = 14
"""Characters; two longer ones do not stand beside each other on a phone."""
_BETTER = {"better": BLUE, "worse": VERMILLION, "different": PALETTE[1], "no difference shown": GREY, "": GREY}


class NothingScored(QodebaseError):
    """A dial without a scored run."""


def dial_plot(settings: pl.DataFrame, y: str = "passing") -> Plot:
    """Return one figure of a dial over its share of hot tasks: every seed a point, the means of each queue a line.

    Args:
        settings: a row a run, with the columns of `results.dial.SETTINGS`.
        y: which of its columns.

    Raises:
        NothingScored: there is no row, or no such figure.
    """
    import altair as alt
    import polars as pl

    columns = {column.name: column for column in SETTINGS.columns if column.type in (Type.INT, Type.FLOAT)}
    figures = [name for name in columns if name not in ("share", "seed")]
    if y not in figures:
        raise NothingScored(f"a dial has no figure {y!r}", hint=f"There are {', '.join(figures)}.")
    if settings.is_empty():
        raise NothingScored("no run of the dial is scored", hint="Measure one: `qodebase bench dial`.")
    column = columns[y]
    who = pl.concat_str("queue", pl.lit(", rules "), "rules")
    data = settings.select("queue", "rules", "share", "seed", y, setting=who).sort("setting", "share", "seed")
    names = data["setting"].unique(maintain_order=True).to_list()
    unit = f" ({column.unit})" if column.unit else ""

    def draw(chart: AnyChart) -> AnyChart:
        colour = alt.Color("setting:N", scale=alt.Scale(domain=names, range=_cycled(PALETTE, len(names))))
        shape = alt.Shape("setting:N", scale=alt.Scale(domain=names, range=_cycled(_SHAPES, len(names))))
        x = alt.X(
            "share:Q",
            title="share of tasks that aim at hot functions",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(zero=False, padding=10),
        )
        title = f"{y.replace('_', ' ')}{unit}"
        seeds = chart.mark_point(opacity=0.75).encode(
            x=x,
            y=alt.Y(f"{y}:Q", title=title, scale=alt.Scale(zero=False)),
            color=colour,
            shape=shape,
            tooltip=[alt.Tooltip(name) for name in ("setting:N", "share:Q", "seed:Q", f"{y}:Q")],
        )
        means = chart.mark_line().encode(x=x, y=alt.Y(f"mean({y}):Q", title=title), color=colour)
        return alt.layer(means, seeds)

    return Plot(
        name=f"dial-{y}",
        title=f"Dial: {y.replace('_', ' ')}",
        says=f"{column.doc} Every seed is a point; lines join the means.",
        data=data,
        draw=draw,
        simulated="virtual" in settings["clock"].to_list(),
        height=240,
    )


def landed_so_far(runs: Mapping[str, Frames]) -> Plot:
    """Return how many intents each run had landed, over its own time."""
    import altair as alt
    import polars as pl

    step = step_of(max((frames.throughput.height for frames in runs.values()), default=0), most=_STEPS)
    data = pl.concat([_cumulated(name, frames, step) for name, frames in runs.items()])
    names = list(runs)

    def draw(chart: AnyChart) -> AnyChart:
        dashes = _cycled(_DASHES, len(names))
        long = max(map(len, names), default=0) > _LONG_NAME
        legend = alt.Legend(columns=1, labelLimit=280) if long else alt.Legend()
        return chart.mark_line(interpolate="step-after").encode(
            x=time("at_s", *runs.values()),
            y=alt.Y("landed:Q", title="landed so far"),
            color=alt.Color("run:N", legend=legend, scale=alt.Scale(domain=names, range=_cycled(PALETTE, len(names)))),
            strokeDash=alt.StrokeDash("run:N", legend=legend, scale=alt.Scale(domain=names, range=dashes)),
            tooltip=[alt.Tooltip(name) for name in ("run:N", "at_s:Q", "landed:Q")],
        )

    return Plot(
        name="landed-so-far",
        title="Landed so far",
        says="Intents that each run had landed, over its own time.",
        data=data,
        draw=draw,
        simulated=any(bool(frames.throughput["simulated"].any()) for frames in runs.values()),
        height=220,
        empty="Nothing has happened yet.",
    )


def differences(comparison: Comparison) -> Plot:
    """Return the differences of two settings as shares of the first one's value, with their 95% intervals."""
    import altair as alt
    import polars as pl

    frame = comparison.frame().filter(pl.col("a") != 0, pl.col("difference").is_not_null())
    share = [(pl.col(name) / pl.col("a").abs()).alias(name) for name in ("difference", "low", "high")]
    data = frame.select("metric", "a", "b", *share, "n", "verdict").filter(pl.col("difference").abs() > 0)
    names = data["metric"].to_list()

    def draw(chart: AnyChart) -> AnyChart:
        y = alt.Y("metric:N", title=None, sort=names)
        colour = alt.Color(
            "verdict:N", legend=None, scale=alt.Scale(domain=list(_BETTER), range=list(_BETTER.values()))
        )
        zero = chart_of([{"zero": 0}]).mark_rule(strokeDash=[2, 2]).encode(x="zero:Q")
        means = chart.mark_point(size=70).encode(
            x=alt.X("difference:Q", title="b against a", axis=alt.Axis(format="+%")),
            y=y,
            color=colour,
            tooltip=[alt.Tooltip(name) for name in ("metric:N", "a:Q", "b:Q", "verdict:N")],
        )
        if data["low"].is_null().all():
            return alt.layer(zero, means)
        interval = chart.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y, color=colour)
        return alt.layer(zero, interval, means)

    return Plot(
        name="differences",
        title="Differences",
        says="b against a, as a share of a, with 95% intervals where there are at least five seeds.",
        data=data,
        draw=draw,
        simulated=any(row.simulated for row in comparison.rows),
        height=max(60, 20 * len(names)),
        empty="No metric differs.",
    )


def scored_settings(runs: Sequence[Frames]) -> pl.DataFrame:
    """Return the settings of a dial from the scores that run folders keep; a run without one gives no row."""
    import polars as pl

    names = SETTINGS.names
    scores = [Facts(frames).score for frames in runs]
    rows = [{name: score.get(name) for name in names} for score in scores if score]
    for row in rows:
        if isinstance(row["rules"], bool):
            row["rules"] = "on" if row["rules"] else "off"
    return pl.DataFrame(rows, schema=SETTINGS.polars())


def _cumulated(name: str, frames: Frames, step: int) -> pl.DataFrame:
    import polars as pl

    stepped = at_work(frames).group_by(at_s=(pl.col("worked") // step + 1) * step).agg(pl.col("landed").sum())
    counted = stepped.sort("at_s").select(run=pl.lit(name), at_s="at_s", landed=pl.col("landed").cum_sum())
    start = pl.DataFrame({"run": [name], "at_s": [0], "landed": [0]}, schema=counted.schema)
    return pl.concat([start, counted])


def _cycled(values: Sequence[Any], count: int) -> list[Any]:
    return [values[at % len(values)] for at in range(count)]

"""Plots of a run over its time: throughput, work under way, lanes."""

from __future__ import annotations

from results.frames import Frames
from results.plots.bins import step_of
from results.plots.marks import at_work, scale, simulated, stepped, time, tips
from results.plots.plot import AnyChart, Plot, chart_of
from results.plots.theme import ORANGE, SKY, VERMILLION

_LANE_STEPS = 60
_LANES = 16


def throughput(frames: Frames) -> Plot:
    """Return landings a second over the run's time, with their mean while a process was at work."""
    import altair as alt
    import polars as pl

    data, step = stepped(frames)
    data = data.select("from_s", "until_s", "landed", landed_per_s=pl.col("landed") / step)
    worked = float(frames.throughput["worked_s"].sum())
    mean = frames.landings.height / worked if worked else 0.0
    # Over a single step, which the run may only have worked in for a moment, the mean would stand far off the bar.
    dashed = f"; dashed: the mean of the time at work, {mean:,.3g} a second" if data.height > 1 else ""

    def draw(chart: AnyChart) -> AnyChart:
        bars = chart.mark_bar(binSpacing=0).encode(
            x=time("from_s", frames),
            x2="until_s:Q",
            y=alt.Y("landed_per_s:Q", title="landed a second"),
            y2=alt.Y2Datum(0),
            tooltip=tips(("from_s", "from, s"), ("until_s", "until, s"), ("landed", "landed")),
        )
        if data.height == 1:
            return bars
        rule = chart_of([{"mean": mean}]).mark_rule(strokeDash=[5, 3], color=VERMILLION, strokeWidth=2)
        return alt.layer(bars, rule.encode(y="mean:Q"))

    return Plot(
        name="throughput",
        title="Landed a second",
        says=f"Intents that landed, in steps of {step} s{dashed}.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        empty="Nothing has happened yet.",
    )


def in_flight(frames: Frames) -> Plot:
    """Return how many intents were with agents and how many waited in lanes, over the run's time."""
    import altair as alt
    import polars as pl

    by_step, step = stepped(frames)
    # The last step is drawn to its end only where something stands there.
    by_step = pl.concat([by_step, by_step.tail(1).with_columns(from_s="until_s")])
    names = {"in_flight": "with an agent", "queued": "waiting in lanes"}
    data = pl.concat(
        by_step.select("from_s", where=pl.lit(words), intents=pl.col(name)) for name, words in names.items()
    )

    most = max([1, *data["intents"].to_list()])

    def draw(chart: AnyChart) -> AnyChart:
        return chart.mark_line(interpolate="step-after").encode(
            x=time("from_s", frames),
            y=alt.Y("intents:Q", title="intents", scale=alt.Scale(domain=[0, most], nice=True)),
            color=alt.Color("where:N", scale=scale(list(names.values()), [SKY, ORANGE])),
            strokeDash=alt.StrokeDash("where:N", scale=scale(list(names.values()), [[1, 0], [5, 2]])),
            tooltip=tips(("from_s", "at, s"), ("where:N", ""), ("intents", "intents")),
        )

    return Plot(
        name="in-flight",
        title="Work under way",
        says=f"Intents with an agent and waiting in lanes at the ends of seconds, the most in steps of {step} s.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        height=160,
        empty="Nothing has happened yet.",
    )


def lanes(frames: Frames) -> Plot:
    """Return what landed in each lane over the run's time."""
    import altair as alt
    import polars as pl

    seconds = at_work(frames).select("second", "worked")
    landings = frames.landings.select("lane", "second").sort("second").join_asof(seconds, on="second")
    step = step_of(seconds.height, most=_LANE_STEPS)
    busiest = landings["lane"].value_counts(sort=True)["lane"].to_list()
    shown = busiest if len(busiest) <= _LANES else busiest[: _LANES - 1]
    rest = f"{len(busiest) - len(shown)} other lanes"
    order = [*shown, rest] if len(shown) < len(busiest) else shown
    data = (
        landings.select(
            lane=pl.when(pl.col("lane").is_in(shown)).then("lane").otherwise(pl.lit(rest)),
            from_s=pl.col("worked") // step * step,
        )
        .group_by("lane", "from_s")
        .agg(landed=pl.len())
        .with_columns(until_s=pl.col("from_s") + step)
        .sort("lane", "from_s")
    )

    def draw(chart: AnyChart) -> AnyChart:
        return chart.mark_rect().encode(
            x=time("from_s", frames),
            x2="until_s:Q",
            y=alt.Y("lane:N", title=None, sort=order),
            color=alt.Color("landed:Q", title=f"landed in {step} s", legend=alt.Legend(gradientThickness=8)),
            tooltip=tips(("lane:N", ""), ("from_s", "from, s"), ("until_s", "until, s"), ("landed", "landed")),
        )

    return Plot(
        name="lanes",
        title="Lanes over time",
        says=f"Intents that landed in each lane, in steps of {step} s; the busiest lanes on top.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        height=max(80, 22 * len(order)),
        empty="Nothing has landed.",
    )

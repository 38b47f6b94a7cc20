"""Plots of what came of a run's work: endings, collisions, time to land, trains, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.intent import Ending
from results.frames import Frames
from results.plots.marks import bar_height, scale, shortened, simulated, tips
from results.plots.plot import AnyChart, Plot
from results.plots.theme import ENDINGS, GREEN, ORANGE, PALETTE, VERMILLION

if TYPE_CHECKING:
    import polars as pl

_KINDS = ("content", "shared", "added twice", "deleted", "mode", "moved")
_NOT_REDONE = "not redone"
_KILLED = "cut off by a kill"


def ledger(frames: Frames) -> Plot:
    """Return how many intents stand at each ending."""
    import altair as alt
    import polars as pl

    counts = dict(frames.intents["ending"].value_counts().iter_rows())
    rows = [(str(ending), counts.get(str(ending), 0)) for ending in Ending]
    data = pl.DataFrame([row for row in rows if row[1]], schema=["ending", "intents"], orient="row")

    def draw(chart: AnyChart) -> AnyChart:
        colour = alt.Color("ending:N", legend=None, scale=scale(list(ENDINGS), list(ENDINGS.values())))
        y = alt.Y("ending:N", title=None, sort=None)
        most = alt.Scale(domain=[0, 1.15 * max(count for _, count in rows)])
        x = alt.X("intents:Q", title="intents", scale=most)
        bars = chart.mark_bar().encode(x=x, y=y, color=colour, tooltip=tips(("ending:N", ""), ("intents", "")))
        labels = chart.mark_text(align="left", dx=4).encode(x=x, y=y, text=alt.Text("intents:Q", format=","))
        return alt.layer(bars, labels)

    return Plot(
        name="ledger",
        title="How the intents ended",
        says="Every intent stands at exactly one ending.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        height=bar_height(data.height),
    )


def collisions(frames: Frames) -> Plot:
    """Return the paths that had moved under an attempt, by what redid them at last and by kind."""
    import altair as alt
    import polars as pl

    data = shortened(redone(frames), "redone_by", "paths")
    kinds = [kind for kind in _KINDS if kind in data["kind"].to_list()]
    order = data.group_by("redone_by").agg(pl.col("paths").sum()).sort("paths", descending=True)
    names = order["redone_by"].to_list()

    def draw(chart: AnyChart) -> AnyChart:
        colours = alt.Color("kind:N", scale=scale(kinds, list(PALETTE[: len(kinds)])))
        return chart.mark_bar().encode(
            x=alt.X("paths:Q", title="paths under which main had moved"),
            y=alt.Y("redone_by:N", title=None, sort=names),
            color=colours,
            tooltip=tips(("redone_by:N", "redone by"), ("kind:N", "kind"), ("paths", "paths")),
        )

    return Plot(
        name="collisions",
        title="Collisions, and what redid them",
        says="Each path that had moved under an attempt, once, by what redid it at last; colours: kinds.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        height=bar_height(len(names)),
        empty="Main never moved under a change.",
    )


def time_to_land(frames: Frames) -> Plot:
    """Return which share of the landed intents had landed after how long, as a whole and once handed in."""
    import altair as alt
    import polars as pl

    stages = {"seconds": "taken to landed", "queued_s": "handed in to landed"}
    rows = [
        (words, share, float(quantile))
        for name, words in stages.items()
        for share in range(101)
        if (quantile := frames.landings[name].drop_nulls().quantile(share / 100, "equiprobable")) is not None
    ]
    schema = {"stage": pl.String, "percent": pl.Int64, "seconds": pl.Float64}
    data = pl.DataFrame(rows, schema=schema, orient="row")

    def draw(chart: AnyChart) -> AnyChart:
        words = list(stages.values())
        return chart.mark_line().encode(
            x=alt.X("seconds:Q", title="seconds", scale=alt.Scale(zero=True)),
            y=alt.Y("percent:Q", title="% of landed intents", scale=alt.Scale(domain=[0, 100])),
            order="percent:Q",
            color=alt.Color("stage:N", scale=scale(words, [PALETTE[0], ORANGE])),
            strokeDash=alt.StrokeDash("stage:N", scale=scale(words, [[1, 0], [5, 2]])),
            tooltip=tips(("stage:N", ""), ("percent", "% of landed"), ("seconds", "within s")),
        )

    return Plot(
        name="time-to-land",
        title="Time to land",
        says="Which share of the landed intents took no longer than so many seconds.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        empty="Nothing has landed.",
    )


def trains(frames: Frames) -> Plot:
    """Return how many trains of each size the gate found green, red or on hold."""
    import altair as alt
    import polars as pl

    judged = frames.trains.filter(pl.col("of") == "train")
    data = judged.group_by("size", "verdict").agg(trains=pl.len(), members=pl.col("size").sum())
    data = data.sort("size", "verdict")
    colours = {"green": GREEN, "red": VERMILLION, "hold": ORANGE}
    verdicts = {name: colour for name, colour in colours.items() if name in data["verdict"].to_list()}

    def draw(chart: AnyChart) -> AnyChart:
        return chart.mark_bar(width={"band": 0.9}).encode(
            x=alt.X("size:O", title="intents on the train", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
            y=alt.Y("trains:Q", title="trains"),
            color=alt.Color("verdict:N", scale=scale(list(verdicts), list(verdicts.values()))),
            tooltip=tips(("size", "intents"), ("verdict:N", "verdict"), ("trains", "trains")),
        )

    return Plot(
        name="trains",
        title="Trains by size and verdict",
        says="How many intents were judged together, and what the gate said.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        height=160,
        empty="No train was judged.",
    )


def calls(frames: Frames) -> Plot:
    """Return the model calls by model and purpose, and how they ended."""
    import altair as alt
    import polars as pl

    asked = frames.attempts.filter(pl.col("source").is_null() | (pl.col("source") != "run"))
    who = pl.concat_str("model", "purpose", separator=", ")
    killed = (pl.col("outcome") == "cut off") & pl.col("source").is_null()
    ended = pl.when(killed).then(pl.lit(_KILLED)).otherwise("outcome").alias("outcome")
    data = asked.group_by(who.alias("model"), ended).agg(calls=pl.len()).sort("model", "calls")
    data = shortened(data, "model", "calls")

    def draw(chart: AnyChart) -> AnyChart:
        return chart.mark_bar().encode(
            x=alt.X("calls:Q", title="calls"),
            y=alt.Y("model:N", title=None),
            color=alt.Color("outcome:N"),
            tooltip=tips(("model:N", "model"), ("outcome:N", "outcome"), ("calls", "calls")),
        )

    return Plot(
        name="calls",
        title="Model calls and how they ended",
        says="Calls by model and purpose: 'answer' is what is wanted, everything else a kind of failure.",
        data=data,
        draw=draw,
        simulated=simulated(frames),
        height=bar_height(data["model"].n_unique()),
        empty="No model was asked.",
    )


def redone(frames: Frames) -> pl.DataFrame:
    """Return how many paths had moved under an attempt, each once, as ``redone_by, kind, paths``."""
    import polars as pl

    places = frames.collisions.unique(("intent", "attempt", "path"), keep="last", maintain_order=True)
    named = pl.concat_str("redone_by", pl.col("rule").fill_null(""), separator=": ").str.strip_suffix(": ")
    by = pl.when(pl.col("redone_by").is_null()).then(pl.lit(_NOT_REDONE)).otherwise(named)
    counted = places.group_by(by.alias("redone_by"), kind=pl.col("collision")).agg(paths=pl.len())
    return counted.sort("paths", "redone_by", "kind", descending=(True, False, False))

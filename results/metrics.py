"""The metrics of a run, each declared as data: name, unit, which direction is better, smallest effect, meaning.

A metric is computed from the run's frames; one that has no value for a run (nothing landed, or nobody scored it) is
left out, never guessed. Metrics by rule or model have a row for each, as ``redone_by_rule.sorted-index``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from qodebase.codec import BadData
from results.frames import Frames
from results.schema import Column, FrameSchema, Type

if TYPE_CHECKING:
    import polars as pl

SCORE = "score.json"
"""The file of a run folder with the figures that a scorer found (`results.scoring`), an object of numbers by name."""

_MINUTE = 60
_BY = "."


class Better(StrEnum):
    """Which direction is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric.

    Attributes:
        name: its name; by rule or model, the beginning of its rows' names.
        unit: what it counts in; ``1`` for a share between 0 and 1.
        better: which direction is better.
        doc: what it means, in one sentence.
        smallest_effect: the smallest change that is worth a word, as a share of the value before.
        must_be_zero: whether any other value than 0 is a fault.
        of: computes it: a number, None where it has no value, or a number for each rule or model.
    """

    name: str
    unit: str
    better: Better
    doc: str
    of: Callable[[Facts], float | Mapping[str, float] | None]
    smallest_effect: float = 0.05
    must_be_zero: bool = False


class Facts:
    """What metrics are computed from: the frames, and what a scorer found."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames

    @cached_property
    def landed(self) -> int:
        """Return how many intents landed."""
        return self.frames.landings["intent"].n_unique()

    @cached_property
    def seconds(self) -> float:
        """Return how many seconds processes worked on the run."""
        return float(self.frames.throughput["worked_s"].sum())

    @cached_property
    def places(self) -> pl.DataFrame:
        """Return the paths that had moved under an attempt, each once, with what redid it at last."""
        found = self.frames.collisions.select("intent", "attempt", "path", "redone_by", "rule")
        return found.unique(("intent", "attempt", "path"), keep="last", maintain_order=True)

    @cached_property
    def score(self) -> Mapping[str, Any]:
        """Return the scorer's figures, none where the run has no score; raises `BadData`."""
        path = self.frames.folder.root / SCORE
        if not path.exists():
            return {}
        try:
            found = json.loads(path.read_bytes())
        except ValueError as error:
            raise BadData(f"{path} is not JSON: {error}", hint="Remove it, or score the run again.") from None
        return found if isinstance(found, dict) else {}

    def for_each_landed(self, value: float | None) -> float | None:
        """Return a sum for each landed intent."""
        return None if value is None or not self.landed else value / self.landed

    def scored(self, name: str) -> float | None:
        """Return a figure of the scorer."""
        value = self.score.get(name)
        return float(value) if isinstance(value, int | float) else None


def _busiest(facts: Facts, width: int) -> float | None:
    """Return the landings of a second in the busiest ``width`` seconds, or in all of them where the run is shorter."""
    import polars as pl

    landed = facts.frames.throughput.select("second", "landed", "worked_s")
    if landed.is_empty():
        return None
    sums = landed.rolling("second", period=f"{width}i").agg(pl.col("landed").sum())["landed"].to_list()
    return float(max(sums)) / min(width, max(1.0, facts.seconds))


def _quantile(frame: str, column: str, share: float) -> Callable[[Facts], float | None]:
    def of(facts: Facts) -> float | None:
        values: pl.Series = facts.frames.frame(frame)[column].drop_nulls()
        return values.quantile(share, "equiprobable")

    return of


def _count(frame: str) -> Callable[[Facts], float | None]:
    return lambda facts: float(facts.frames.frame(frame).height)


def _per_second(facts: Facts) -> float | None:
    return facts.landed / facts.seconds if facts.seconds else None


def _landed_share(facts: Facts) -> float | None:
    return _share(facts.landed, facts.frames.intents.height)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _test_runs(facts: Facts) -> float:
    return float(facts.frames.trains["runs"].sum())


def _handed_in(facts: Facts) -> pl.DataFrame:
    import polars as pl

    return facts.frames.intents.filter(pl.col("queued_at").is_not_null())


def _collision_rate(facts: Facts) -> float | None:
    handed_in = _handed_in(facts)
    return _share(float((handed_in["collided"] > 0).sum()), handed_in.height)


def _redone(step: str) -> Callable[[Facts], float]:
    return lambda facts: float((facts.places["redone_by"] == step).sum())


def _redone_by_each(step: str) -> Callable[[Facts], Mapping[str, float]]:
    def of(facts: Facts) -> Mapping[str, float]:
        names = facts.places.filter(facts.places["redone_by"] == step)["rule"].fill_null("").value_counts(sort=True)
        return {str(name): float(count) for name, count in names.iter_rows()}

    return of


def _wasted(column: str) -> Callable[[Facts], float | None]:
    """Return which share of a sum belongs to calls that led to no landing, replays thrown away included."""

    def of(facts: Facts) -> float | None:
        import polars as pl

        worth = pl.lit(1) if column == "calls" else pl.col("input_tokens") + pl.col("output_tokens")
        asked = facts.frames.attempts.filter(pl.col("source").is_null() | (pl.col("source") != "run"))
        asked = asked.select("landed", "outcome", "thrown_away", worth=worth)
        useful = asked.filter(pl.col("landed") & (pl.col("outcome") == "answer") & ~pl.col("thrown_away"))
        whole = float(asked["worth"].sum())
        return _share(whole - float(useful["worth"].sum()), whole)

    return of


def _tokens(facts: Facts) -> float | None:
    costs = facts.frames.costs
    return facts.for_each_landed(float(costs["input_tokens"].sum()) + float(costs["output_tokens"].sum()))


def _calls(facts: Facts) -> float:
    costs = facts.frames.costs
    return float(costs["calls"].sum()) - float(costs["run_calls"].sum())


def _cost(facts: Facts) -> float | None:
    """Return the cost where it is known of every call."""
    costs = facts.frames.costs
    return None if costs["unknown_cost_calls"].sum() else float(costs["cost_usd"].sum())


def _wrong(which: str) -> Callable[[Facts], float | None]:
    def of(facts: Facts) -> float | None:
        wrong, judged = facts.scored(f"wrong_{which}"), facts.scored(f"judged_{which}")
        return None if wrong is None or judged is None else _share(wrong, judged)

    return of


def _scored(name: str) -> Callable[[Facts], float | None]:
    return lambda facts: facts.scored(name)


def _doubled(facts: Facts) -> float:
    return float(facts.frames.landings.height - facts.landed)


_HIGHER, _LOWER, _NEITHER = Better.HIGHER, Better.LOWER, Better.NEITHER
_M = Metric
ALL: tuple[Metric, ...] = (
    _M(name="intents", unit="intents", better=_NEITHER, doc="Frozen intents.", of=_count("intents")),
    _M(name="landed", unit="intents", better=_HIGHER, doc="Intents on main.", of=lambda facts: float(facts.landed)),
    _M(name="landed_share", unit="1", better=_HIGHER, doc="Landed of all intents.", of=_landed_share),
    _M(
        name="seconds",
        unit="s",
        better=_LOWER,
        doc="Time in which a process worked on the run.",
        of=lambda facts: facts.seconds or None,
    ),
    _M(
        name="landed_per_second",
        unit="intents/s",
        better=_HIGHER,
        doc="Landed intents for each second of work, on average.",
        of=_per_second,
    ),
    _M(
        name="busiest_second",
        unit="intents/s",
        better=_HIGHER,
        doc="Landed intents in the busiest second.",
        of=lambda facts: _busiest(facts, 1),
        smallest_effect=0.1,
    ),
    _M(
        name="busiest_minute",
        unit="intents/s",
        better=_HIGHER,
        doc="Landed intents a second in the busiest 60 seconds, or in the whole run where it is shorter.",
        of=lambda facts: _busiest(facts, _MINUTE),
    ),
    *(
        _M(
            name=f"time_to_land_p{share}_s",
            unit="s",
            better=_LOWER,
            doc=f"From first taken by an agent to landed, all attempts: {share}% of the landed took no longer.",
            of=_quantile("landings", "seconds", share / 100),
        )
        for share in (50, 90, 99)
    ),
    *(
        _M(
            name=f"gate_wait_p{share}_s",
            unit="s",
            better=_LOWER,
            doc=f"From first handed in, as this attempt, to landed: {share}% of the landed intents took no longer.",
            of=_quantile("landings", "queued_s", share / 100),
        )
        for share in (50, 90, 99)
    ),
    _M(
        name="test_runs",
        unit="runs",
        better=_LOWER,
        doc="How often checks were run on a tree, for trains, main and bisections.",
        of=_test_runs,
    ),
    _M(
        name="test_runs_per_landing",
        unit="runs",
        better=_LOWER,
        doc="Test runs for each landed intent.",
        of=lambda facts: facts.for_each_landed(_test_runs(facts)),
    ),
    _M(
        name="collision_rate",
        unit="1",
        better=_LOWER,
        doc="Handed in intents under whose newest attempt main had moved, of all handed in.",
        of=_collision_rate,
    ),
    _M(
        name="redone_by_merge",
        unit="paths",
        better=_NEITHER,
        doc="Moved paths under an attempt that a clean merge redid at last.",
        of=_redone("merge"),
    ),
    _M(
        name="redone_by_rule",
        unit="paths",
        better=_NEITHER,
        doc="Moved paths under an attempt that a rule redid at last; also for each rule.",
        of=_redone("rule"),
    ),
    _M(
        name="redone_by_rule.",
        unit="paths",
        better=_NEITHER,
        doc="Moved paths under an attempt that this rule redid at last.",
        of=_redone_by_each("rule"),
    ),
    _M(
        name="redone_by_model",
        unit="paths",
        better=_LOWER,
        doc="Moved paths under an attempt that a model redid at last; also for each model.",
        of=_redone("model"),
    ),
    _M(
        name="redone_by_model.",
        unit="paths",
        better=_LOWER,
        doc="Moved paths under an attempt that this model redid at last.",
        of=_redone_by_each("model"),
    ),
    _M(
        name="held",
        unit="intents",
        better=_NEITHER,
        doc="Intents that waited until another one had ended that claims some of the same.",
        of=lambda facts: float(facts.frames.intents["held_by"].count()),
    ),
    _M(
        name="model_replays",
        unit="replays",
        better=_LOWER,
        doc="How often a model redid an intent's newest attempt; a merge may have redone its path once more after it.",
        of=lambda facts: float(facts.frames.intents["replays"].sum()),
    ),
    _M(
        name="not_redone",
        unit="paths",
        better=_LOWER,
        doc="Moved paths under an attempt at which every step declined.",
        of=lambda facts: float(facts.places["redone_by"].null_count()),
    ),
    _M(
        name="calls_per_landing",
        unit="calls",
        better=_LOWER,
        doc="Model calls for each landed intent; what the run already held is no call.",
        of=lambda facts: facts.for_each_landed(_calls(facts)),
    ),
    _M(
        name="tokens_per_landing",
        unit="tokens",
        better=_LOWER,
        doc="Tokens in and out of all calls, for each landed intent.",
        of=_tokens,
    ),
    _M(
        name="cost_usd",
        unit="USD",
        better=_LOWER,
        doc="What all calls cost; no value where that is not known of every call.",
        of=_cost,
    ),
    _M(
        name="cost_per_landing_usd",
        unit="USD",
        better=_LOWER,
        doc="What all calls cost, for each landed intent.",
        of=lambda facts: facts.for_each_landed(_cost(facts)),
    ),
    _M(
        name="wasted_calls_share",
        unit="1",
        better=_LOWER,
        doc="Calls without an answer, of attempts that did not land, or whose replay was thrown away, of all calls.",
        of=_wasted("calls"),
    ),
    _M(
        name="wasted_tokens_share",
        unit="1",
        better=_LOWER,
        doc="Tokens of calls without an answer, of attempts that did not land, or of replays thrown away, of all.",
        of=_wasted("tokens"),
    ),
    _M(
        name="wrong_redone_share",
        unit="1",
        better=_LOWER,
        doc="Redone answers that the scorer found wrong, of all redone ones that it judged.",
        of=_wrong("redone"),
    ),
    _M(
        name="wrong_fresh_share",
        unit="1",
        better=_LOWER,
        doc="Fresh answers that the scorer found wrong, of all fresh ones that it judged.",
        of=_wrong("fresh"),
    ),
    _M(
        name="lost_own",
        unit="checks",
        better=_LOWER,
        doc="Lost checks that the intent's own change broke, by the scorer.",
        of=_scored("lost_own"),
    ),
    _M(
        name="lost_in_landing",
        unit="checks",
        better=_LOWER,
        doc="Checks that passed on their own tree and that a later landing broke, by the scorer.",
        of=_scored("lost_in_landing"),
    ),
    _M(
        name="passing",
        unit="intents",
        better=_HIGHER,
        doc="Intents all of whose hidden tests pass on the final main, by the scorer.",
        of=_scored("passing"),
    ),
    _M(
        name="checks_lost",
        unit="checks",
        better=_LOWER,
        doc="Checks of the contract that the run itself found red on main.",
        of=_count("losses"),
    ),
    _M(
        name="doubled",
        unit="intents",
        better=_LOWER,
        doc="Landings of an intent that had landed before.",
        of=_doubled,
        must_be_zero=True,
    ),
)
METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in ALL})

SCHEMA = FrameSchema(
    "metrics",
    "a metric of a run",
    (
        Column("metric", Type.TEXT, "Its name."),
        Column("value", Type.FLOAT, "Its value, in its unit."),
        Column("unit", Type.TEXT, "Its unit; `1` is a share between 0 and 1."),
        Column("better", Type.TEXT, "Which direction is better: higher, lower or neither."),
        Column("smallest_effect", Type.FLOAT, "The smallest change worth a word, as a share of the value before."),
        Column("must_be_zero", Type.BOOL, "Whether any other value than 0 is a fault."),
        Column("doc", Type.TEXT, "What it means."),
        Column("simulated", Type.BOOL, "Whether the run's seconds are virtual."),
    ),
)


def metric_of(name: str) -> Metric:
    """Return the metric that a row is of; raises `KeyError`."""
    head, dot, _ = name.partition(_BY)
    return METRICS[head + dot]


def values_of(frames: Frames) -> dict[str, float]:
    """Return the values of a run's metrics, in the order of their declaration."""
    facts = Facts(frames)
    found: dict[str, float] = {}
    for metric in ALL:
        value = metric.of(facts)
        if isinstance(value, Mapping):
            found |= {f"{metric.name}{name}": one for name, one in value.items()}
        elif value is not None:
            found[metric.name] = float(value)
    return found


def metrics_frame(frames: Frames) -> pl.DataFrame:
    """Return the metrics of a run as a frame of `SCHEMA`."""
    import polars as pl

    simulated = bool(frames.throughput["simulated"].any())
    rows = [
        (name, value, one.unit, str(one.better), one.smallest_effect, one.must_be_zero, one.doc, simulated)
        for name, value in values_of(frames).items()
        for one in [metric_of(name)]
    ]
    return pl.DataFrame(rows, schema=SCHEMA.polars(), orient="row")

"""The frames of a run, declared once: every column with its type, unit and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


class Type(StrEnum):
    """What a column holds."""

    TEXT = "text"
    TEXTS = "texts"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``unit`` is empty for words and plain counts."""

    name: str
    type: Type
    doc: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class FrameSchema:
    """One frame: what a row is, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns' names in order."""
        return tuple(column.name for column in self.columns)

    def polars(self) -> pl.Schema:
        """Return the schema as polars' own."""
        import polars as pl

        return pl.Schema({column.name: polars_type(column.type) for column in self.columns})


def polars_type(type: Type) -> Any:
    """Return the polars type of a column."""
    import polars as pl

    return {
        Type.TEXT: pl.String(),
        Type.TEXTS: pl.List(pl.String()),
        Type.INT: pl.Int64(),
        Type.FLOAT: pl.Float64(),
        Type.BOOL: pl.Boolean(),
    }[type]


_AT = "s since the epoch, run's clock"
_USD = "USD"
_TOKENS = "tokens"

_INTENT = Column("intent", Type.TEXT, "The intent's id.")
_ATTEMPT = Column("attempt", Type.INT, "Which try of an agent, from 1.")
_LANE = Column("lane", Type.TEXT, "The (first) lane of the change.")
_TRAIN = Column("train", Type.TEXT, "The train that it rode on.")
_MODEL = Column("model", Type.TEXT, "The model's name.")
_PURPOSE = Column("purpose", Type.TEXT, "`fresh` or `replay`.")
_SIMULATED = Column("simulated", Type.BOOL, "Whether the seconds are virtual.")
_SIMULATED_MODEL = Column("simulated_model", Type.BOOL, "Whether the model, and so its tokens and cost, is simulated.")
_SECOND = Column("second", Type.INT, "Whole seconds since the run first started.", "s")
_USAGE = (
    Column("input_tokens", Type.INT, "Tokens sent, cached ones included.", _TOKENS),
    Column("cached_tokens", Type.INT, "Tokens that the provider had cached.", _TOKENS),
    Column("output_tokens", Type.INT, "Tokens received.", _TOKENS),
)

INTENTS = FrameSchema(
    "intents",
    "a frozen intent, in frozen order",
    (
        _INTENT,
        Column("asked", Type.TEXT, "What is asked, in one sentence."),
        Column("scope", Type.TEXTS, "The paths that its change may touch."),
        Column("group", Type.TEXT, "What a sample is spread over (a language, say)."),
        Column("priority", Type.INT, "0 to 255, lower first."),
        Column("ending", Type.TEXT, "landed, sent back, no answer, refused, skipped, cancelled or pending."),
        Column("reason", Type.TEXT, "Why it ended so; empty where it landed or is pending."),
        Column("attempts", Type.INT, "How many attempts were begun."),
        Column("agent", Type.TEXT, "Who took the newest attempt."),
        _LANE,
        _TRAIN,
        Column("commit", Type.TEXT, "The commit on main, null unless landed."),
        Column("replays", Type.INT, "How often a model redid the newest attempt."),
        Column("collided", Type.INT, "Paths that had moved under the newest attempt.", "paths"),
        Column("held_by", Type.TEXT, "Whom it waited for first, who claims some of the same; null where it did not."),
        Column("held_s", Type.FLOAT, "How long it was passed over for what others claim, until it was taken.", "s"),
        Column("admitted_at", Type.FLOAT, "When an agent first took the newest attempt.", _AT),
        Column("answered_at", Type.FLOAT, "When its last call ended.", _AT),
        Column("queued_at", Type.FLOAT, "When the newest attempt was first handed in to its lanes.", _AT),
        Column("ended_at", Type.FLOAT, "When it landed or ended otherwise.", _AT),
        Column("seconds", Type.FLOAT, "From taken to ended, newest attempt; time between processes left out.", "s"),
        Column("calls", Type.INT, "Model calls of all its attempts."),
        *_USAGE,
        Column("cost_usd", Type.FLOAT, "What its calls cost as far as known.", _USD),
        Column("unknown_cost_calls", Type.INT, "Calls whose cost is not known."),
        Column("wasted_calls", Type.INT, "Replay calls that were thrown away: main did not come to what they redid."),
        _SIMULATED,
    ),
)

ATTEMPTS = FrameSchema(
    "attempts",
    "a model call, in the order of asking",
    (
        _INTENT,
        _ATTEMPT,
        Column("call", Type.INT, "The call's number in the run."),
        _PURPOSE,
        _MODEL,
        Column("named", Type.TEXT, "What the provider called the model that answered; empty where it did not say."),
        Column("source", Type.TEXT, "Who answered: provider, cache, or run (held already); null without an end."),
        Column(
            "outcome", Type.TEXT, "`answer`, the kind of failure, `open`, or (without a source) `cut off` by a kill."
        ),
        Column("why", Type.TEXT, "Why there was no answer."),
        *_USAGE,
        Column("cost_usd", Type.FLOAT, "What the call cost, null where that is not known.", _USD),
        Column("latency_s", Type.FLOAT, "How long the call took.", "s"),
        Column("asked_at", Type.FLOAT, "When it was asked.", _AT),
        Column("answered_at", Type.FLOAT, "When the call ended.", _AT),
        Column("prompt", Type.TEXT, "The prompt's digest."),
        Column("sitting", Type.INT, "Which process asked, counted from 1."),
        Column("landed", Type.BOOL, "Whether this attempt of the intent is on main."),
        Column("thrown_away", Type.BOOL, "Whether it redid a change on a state that main did not come to."),
        _SIMULATED,
        _SIMULATED_MODEL,
    ),
)

COLLISIONS = FrameSchema(
    "collisions",
    "a path that had moved under a change, each time that it was met",
    (
        Column("at", Type.FLOAT, "When it was met.", _AT),
        _SECOND,
        _INTENT,
        _ATTEMPT,
        _LANE,
        _TRAIN,
        Column("replay", Type.INT, "The model replay within the attempt, 0 for the original change."),
        Column("path", Type.TEXT, "Where."),
        Column("moved_to", Type.TEXT, "Where the file is, when main or the change renamed it; else null."),
        Column("collision", Type.TEXT, "Its kind: content, shared, added twice, deleted, mode or moved."),
        Column("with_intents", Type.TEXTS, "Landed intents that moved the path, newest last, at most eight."),
        Column("moved_by", Type.INT, "How many landed intents moved it since the base."),
        Column("foreign", Type.TEXTS, "Commits without an intent of this run that moved it."),
        Column("redone_by", Type.TEXT, "merge, rule or model; null where every step declined."),
        Column("rule", Type.TEXT, "The rule's or model's name, null for a clean merge."),
        Column("declined", Type.TEXTS, "Steps that declined, each as `step: why`."),
        Column("landed", Type.BOOL, "Whether this attempt of the intent is on main."),
        _SIMULATED,
    ),
)

LANDINGS = FrameSchema(
    "landings",
    "a landed intent, in the order of the journal",
    (
        _INTENT,
        _ATTEMPT,
        _LANE,
        _TRAIN,
        Column("commit", Type.TEXT, "The commit on main."),
        Column("parent", Type.TEXT, "The main tip that it landed on."),
        Column("base", Type.TEXT, "The commit that its change was made on."),
        Column("replay", Type.INT, "Which model replay landed, 0 for the original change."),
        Column("agent", Type.TEXT, "Who made the change."),
        Column("at", Type.FLOAT, "When it landed.", _AT),
        _SECOND,
        Column(
            "seconds", Type.FLOAT, "From first taken to landed, all attempts; time between processes left out.", "s"
        ),
        Column("queued_s", Type.FLOAT, "From when this attempt was first handed in to landed, as `seconds`.", "s"),
        Column("paths", Type.INT, "Paths of its change, shared ones included.", "paths"),
        Column("collided", Type.INT, "Paths that had moved under it.", "paths"),
        _SIMULATED,
    ),
)

THROUGHPUT = FrameSchema(
    "throughput",
    "a second in which a process worked on the run",
    (
        _SECOND,
        Column("at", Type.FLOAT, "When the second began.", _AT),
        Column("sitting", Type.INT, "Which process, counted from 1."),
        Column("worked_s", Type.FLOAT, "How much of the second that process was at work.", "s"),
        Column("landed", Type.INT, "Intents that landed in it.", "intents"),
        Column("collided", Type.INT, "Collisions met in it.", "paths"),
        Column("ended", Type.INT, "Intents that ended in it without landing.", "intents"),
        Column("answered", Type.INT, "Model calls that ended in it.", "calls"),
        Column("in_flight", Type.INT, "Intents with an agent at its end.", "intents"),
        Column("queued", Type.INT, "Intents waiting in lanes at its end.", "intents"),
        _SIMULATED,
    ),
)

TRAINS = FrameSchema(
    "trains",
    "a train that the gate judged, or another tree that it was asked about",
    (
        Column("at", Type.FLOAT, "When the verdict was given.", _AT),
        _SECOND,
        _LANE,
        Column("train", Type.TEXT, "The train's name."),
        Column("of", Type.TEXT, "What was judged: `train`, or the base, main, or a commit of a bisection."),
        Column("members", Type.TEXTS, "The intents on the train, in order."),
        Column("size", Type.INT, "How many they are.", "intents"),
        Column(
            "most", Type.INT, "The most that the lane would have coupled, null where no train was judged.", "intents"
        ),
        Column("guessed", Type.BOOL, "Whether it was coupled while the one before it was at the gate."),
        Column("tip", Type.TEXT, "The main tip that it was merged on."),
        Column("tree", Type.TEXT, "The tree that was judged."),
        Column("verdict", Type.TEXT, "`green`, `red` or `hold`."),
        Column("checks", Type.INT, "How many checks the verdict rests on."),
        Column("runs", Type.INT, "How often checks were run for it: 0 where the verdict was known, 2 after a red one."),
        Column("inherited", Type.INT, "How many checks were green on another tree that is the same to them."),
        Column("flake", Type.BOOL, "Whether what was red came out green when it was run again."),
        Column("failed", Type.TEXTS, "Checks that were red, at most eight."),
        Column("built_at", Type.FLOAT, "When the lane coupled it.", _AT),
        Column("gate_s", Type.FLOAT, "From coupled to judged.", "s"),
        _SIMULATED,
    ),
)

LOSSES = FrameSchema(
    "losses",
    "a check of the contract that is red on main",
    (
        Column("check", Type.TEXT, "The check that is red on main."),
        Column("intent", Type.TEXT, "The landed intent whose check it is, null for a standing one of the job."),
        Column("lost_by", Type.TEXT, "The intent whose landing broke it, null for a commit of somebody else."),
        Column("commit", Type.TEXT, "The first commit that it is red on."),
        Column("at", Type.FLOAT, "When it was found.", _AT),
        _SECOND,
        Column("cause", Type.TEXT, "What the bisection says of it."),
        _SIMULATED,
    ),
)

COSTS = FrameSchema(
    "costs",
    "a model and a purpose",
    (
        _MODEL,
        _PURPOSE,
        Column("calls", Type.INT, "Calls in all, those cut off or without an answer included."),
        Column("answers", Type.INT, "Calls that gave an answer."),
        Column("provider_calls", Type.INT, "Calls that reached the model itself, or were cut off on the way."),
        Column("cache_calls", Type.INT, "Calls answered from the cache."),
        Column("run_calls", Type.INT, "Calls answered by what the run already held."),
        *_USAGE,
        Column("cost_usd", Type.FLOAT, "What the calls cost as far as known.", _USD),
        Column("unknown_cost_calls", Type.INT, "Calls whose cost is not known."),
        _SIMULATED_MODEL,
    ),
)

SCHEMAS = MappingProxyType(
    {schema.name: schema for schema in (INTENTS, ATTEMPTS, COLLISIONS, TRAINS, LANDINGS, THROUGHPUT, LOSSES, COSTS)}
)

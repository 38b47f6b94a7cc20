"""The frames of a dial: its settings, every lost check, and every intent that does not pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from results.schema import Column, FrameSchema, Type

if TYPE_CHECKING:
    import polars as pl

_QUEUE = Column("queue", Type.TEXT, "The queue's name.")
_RULES = Column("rules", Type.TEXT, "Replay rules: on, off, or the control that took their place.")
_SHARE = Column("share", Type.FLOAT, "The part of the tasks that aims at hot functions.")
_SEED = Column("seed", Type.INT, "Of tasks, arrivals and latencies; equal seeds pair queues.")
_INTENT = Column("intent", Type.TEXT, "Whose; empty for a check of the base.")
_WHERE = (_QUEUE, _RULES, _SHARE, _SEED)

SETTINGS = FrameSchema(
    "settings",
    "one run of the grid",
    (
        *_WHERE,
        Column("minutes", Type.FLOAT, "From the start to the last ending.", "min"),
        Column("touched", Type.INT, "A function of its scope had changed on main since its base.", "intents"),
        Column("collided", Type.INT, "Main had moved under one of its paths.", "intents"),
        Column("conflicted", Type.INT, "Git's merge against the target state conflicts.", "intents"),
        Column("refused_clean", Type.INT, "Merged clean, then red, while its own tree was green.", "intents"),
        Column("redone_by_merge", Type.INT, "Landed as a clean merge made it.", "intents"),
        Column("redone_by_rule", Type.INT, "Landed as a rule made it.", "intents"),
        Column("redone_by_model", Type.INT, "Landed as a model redid it.", "intents"),
        Column("rule_refused", Type.INT, "Results of rules that the gate refused.", "changes"),
        Column("wrong_redone", Type.INT, "Redone answers that are wrong on their own tree.", "changes"),
        Column("wrong_fresh", Type.INT, "Fresh answers that are wrong on their own tree.", "changes"),
        Column("sent_back", Type.INT, "Changes that were handed in and did not land.", "changes"),
        Column("lost_own", Type.INT, "Lost by the answer itself.", "checks"),
        Column("lost_in_landing", Type.INT, "Lost by a merge of a right answer.", "checks"),
        Column("passing", Type.INT, "All hidden tests are green on the final main.", "intents"),
        Column("required", Type.INT, "All.", "intents"),
        Column("test_runs", Type.INT, "Runs of the gate."),
        Column("wait_p50_s", Type.FLOAT, "From first handed in, as this attempt, to landed, median.", "s"),
        Column(
            "wait_p99_s",
            Type.FLOAT,
            "From first handed in, as this attempt, to landed, 99th percentile.",
            "s",
        ),
        Column("clock", Type.TEXT, "`virtual`: latencies and minutes are simulated; or `real`."),
    ),
)
LOST = FrameSchema(
    "lost",
    "a lost check",
    (
        *_WHERE,
        Column("check", Type.TEXT, "The check, or the hidden test."),
        _INTENT,
        Column("kind", Type.TEXT, "check, hidden or neighbour."),
        Column("functions", Type.TEXTS, "Its test functions that are red."),
        Column("cause", Type.TEXT, "lost own, or lost in landing."),
        Column("why", Type.TEXT, "Why it counts as that."),
        Column("told", Type.TEXT, "What the test said."),
        Column("commit", Type.TEXT, "The first commit that is red."),
        Column("by", Type.TEXT, "Whose landing that is."),
    ),
)
FAILING = FrameSchema(
    "failing",
    "an intent that does not pass",
    (
        *_WHERE,
        _INTENT,
        Column("why", Type.TEXT, "lost own, lost in landing, or not landed and how it ended."),
        Column("detail", Type.TEXT, "Which tests, or the reason of its ending."),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """A measured grid.

    Attributes:
        settings, lost, failing: polars frames; see `SETTINGS`, `LOST` and `FAILING`.
        fitted: simulated seconds, the same for every queue, and the points that they were fitted at.
        hot_modules: where the hot functions lie.
    """

    settings: pl.DataFrame
    lost: pl.DataFrame
    failing: pl.DataFrame
    fitted: Mapping[str, Any]
    hot_modules: tuple[str, ...]


def dial_of(answer: Mapping[str, Any]) -> Dial:
    """Return the frames of what ``qodebase bench dial --json`` prints."""
    return Dial(
        settings=_frame(SETTINGS, answer["settings"]),
        lost=_frame(LOST, answer["lost"]),
        failing=_frame(FAILING, answer["failing"]),
        fitted={**answer["fitted"], "at": tuple(answer["fitted_at"])},
        hot_modules=tuple(answer["hot_modules"]),
    )


def _frame(schema: FrameSchema, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([{name: row.get(name) for name in schema.names} for row in rows], schema=schema.polars())

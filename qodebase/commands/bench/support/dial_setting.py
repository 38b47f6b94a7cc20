"""One setting of the dial: what is asked of which queue, and how long everything takes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from qodebase.commands.bench.support.dial_policy import RULES, Policy, policy_of
from qodebase.errors import QodebaseError

AGENTS = 200
TASKS = 1385
"""Agents and tasks of the published run."""


class BadDial(QodebaseError):
    """A grid that cannot be measured."""


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Simulated seconds, the same for every queue.

    ``redo_s`` and ``gate_s`` are fitted (``qodebase bench dial --fit``) so that the classic queue takes the published
    minutes with no and with 60% hot tasks; every other figure is a prediction from them.

    Attributes:
        fresh_s, redo_s: the median of a model's fresh answer, and of one that redoes a change.
        spread: sigma of the log-normal that both are drawn from.
        gate_s: one judgement of the gate, however many checks it runs.
    """

    fresh_s: float = 20.0
    redo_s: float = 19.4
    spread: float = 0.25
    gate_s: float = 1.31


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """What all settings of a grid have in common.

    Attributes:
        tasks: how many; ``folder`` and ``repository`` where they are loaded instead of made.
        agents, attempts: how many agents, and how many attempts an intent has.
        hot_modules: in how many modules the hot functions lie.
        wrong, wrong_redone: the part of wrong answers of the scripted model.
        model: another model than the scripted one; empty: the scripted one.
        virtual: whether time is simulated.
    """

    tasks: int = TASKS
    folder: str = ""
    repository: str = ""
    agents: int = AGENTS
    attempts: int = 2
    hot_modules: int = 6
    wrong: float = 0.05
    wrong_redone: float = 0.05
    model: str = ""
    times: Times = Times()
    virtual: bool = True


class Setting(Plain, frozen=True, kw_only=True):
    """One run of the grid.

    Attributes:
        share: the part of the tasks that aims at hot functions.
        queue: how changes land.
        seed: of tasks, arrivals and latencies; equal seeds pair the queues.
    """

    share: float
    queue: Policy
    seed: int

    @property
    def key(self) -> str:
        """Return a name for its results: what it is, and a digest of every field."""
        digest = hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()
        return f"{self.queue.name}-{self.share:g}-{self.queue.rules}-{self.seed}-{digest[:12]}"

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return f"{self.queue.name}, share {self.share:g}, rules {self.queue.rules}, seed {self.seed}"


def setting(plain: Plain, *, share: float, queue: Policy, seed: int) -> Setting:
    """Return one run of a grid."""
    return Setting(
        share=share, queue=queue, seed=seed, **{name: getattr(plain, name) for name in plain.__struct_fields__}
    )


def grid_of(
    plain: Plain, *, shares: Sequence[float], queues: Sequence[str], rules: str, contract: bool, seeds: int
) -> list[Setting]:
    """Return the settings of a grid, those of a pair beside each other.

    Args:
        queues: names of queues, or TOML files; see `qodebase.commands.bench.support.dial_policy`.

    Raises:
        BadDial: a share or a word that is not allowed, or tasks and repository that do not come together.
        UnknownQueue, BadData: a queue that is not there, or a file of one that is wrong.
    """
    if not shares or not all(0 <= share <= 1 for share in shares):
        raise BadDial("shares are parts of 1", hint="Write them with commas between: 0,0.3,0.6.")
    if rules not in RULES:
        raise BadDial(f"no rules {rules!r}", hint=f"It is one of {', '.join(RULES)}.")
    if bool(plain.folder) != bool(plain.repository):
        raise BadDial("loaded tasks need --tasks-from and --repo", hint="Give both, or none for made-up tasks.")
    policies = [replace(policy_of(name).with_rules(rules), contract=contract) for name in queues]
    return [
        setting(plain, share=share, queue=policy, seed=seed)
        for share in shares
        for seed in range(1, seeds + 1)
        for policy in policies
    ]


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What a setting came to.

    Attributes:
        row: the figures, named as `results.scoring` names them.
        lost: every lost check, with its cause.
        failing: every intent that does not pass, and why.
        hot_modules, hot_functions: where the hot tasks aim.
        share_observed: the part of the tasks that does.
        balanced: whether `qodebase verify` found nothing.
        real_seconds: wall time of run, audit and score together.
        judged: how many answers were judged, as `results.scoring.score.Score.judged_answers` has it.
    """

    row: dict[str, Any]
    lost: list[dict[str, Any]]
    failing: list[dict[str, Any]]
    hot_modules: list[str]
    hot_functions: int
    share_observed: float
    balanced: bool
    real_seconds: float
    judged: dict[str, int] = {}

"""What generated tasks stand on: the codebase, run; and which kinds of tasks its functions can take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fleet.jobs.tasks.codebase import Module
from fleet.jobs.tasks.fresh import FreshCode
from fleet.jobs.tasks.shapes import Worker

WEIGHTS: Mapping[str, int] = {
    "clause": 18,
    "rows": 13,
    "function": 8,
    "caller": 6,
    "parameter": 20,
    "tail": 7,
    "guard": 7,
    "result": 6,
    "loop": 5,
    "local": 5,
    "rename": 5,
}
"""Of a hundred tasks. Those that merge easily (`EASY`) are 45."""

EASY = ("clause", "rows", "function", "caller")

_MANY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The codebase that tasks are made on.

    Attributes:
        code: its modules, run.
        callers: the workers that call a helper, by ``MODULE.HELPER``.
        renamed: new names of helpers that some task renames, by the same.
    """

    modules: Mapping[str, Module]
    code: FreshCode
    callers: Mapping[str, tuple[Worker, ...]]
    renamed: dict[str, str]

    def shown(self, worker: Worker, kind: str, amount: int, count: int = 0) -> int | str:
        """Return what a worker of the base returns."""
        found: int | str = getattr(self.code.module(worker.module), worker.name)(kind, amount, count)
        return found

    def plus(self, worker: Worker, added: int, kind: str, amount: int, count: int = 0) -> int | str:
        """Return the same with an amount added to its total."""
        shown = self.shown(worker, kind, amount, count)
        return shown + added if isinstance(shown, int) else f"{worker.label} {int(shown.split()[1]) + added}"


def supports(worker: Worker, kind: str) -> int:
    """Return how many tasks of a kind a worker can take at most."""
    most = {
        "clause": _MANY if worker.clauses else 0,
        "rows": _MANY if worker.table else 0,
        "caller": _MANY if worker.helper else 0,
        "tail": 0 if worker.label else _MANY,
        "result": len(worker.clauses),
        "loop": 1 if worker.step else 0,
        "local": bool(worker.spare) + bool(worker.step),
        "rename": 0,
    }
    return most.get(kind, _MANY)


def part_name(worker: Worker, part: str) -> str:
    """Return the name of the check of that part of a worker's old behaviour that a task may change."""
    return f"base/{worker.module}.{worker.name}/{part}"

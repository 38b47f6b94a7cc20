"""The generated world: the codebase, its neighbour checks, and tasks of which a share is aimed at hot functions."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fleet.jobs.tasks.choice import Choice
from fleet.jobs.tasks.codebase import BASES, FULL, PACKAGE, Module, make_modules
from fleet.jobs.tasks.fresh import FreshCode
from fleet.jobs.tasks.ground import Ground
from fleet.jobs.tasks.neighbours import neighbour_checks
from fleet.jobs.tasks.plan import HOT_MODULES, TASKS
from fleet.jobs.tasks.plan import Plan as Plan
from fleet.jobs.tasks.shapes import Worker
from fleet.jobs.tasks.task import Task
from qodebase.check import Check
from qodebase.paths import RepoPath


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A codebase, tasks on it, and everything that judges them.

    Attributes:
        files: the repository's content.
        tasks: in the order in which agents take them.
        hot: the hot functions as ``path#name``; a task is aimed at one where its first target is among them.
        hot_modules: the paths that hold them.
        neighbours: the standing checks of the base, by name.
    """

    plan: Plan
    files: Mapping[RepoPath, bytes]
    tasks: tuple[Task, ...]
    hot: tuple[str, ...]
    hot_modules: tuple[RepoPath, ...]
    neighbours: Mapping[str, Check]

    @property
    def share_observed(self) -> float:
        """Return the part of the tasks that is aimed at hot functions."""
        hot = frozenset(self.hot)
        return sum(task.targets[0] in hot for task in self.tasks) / len(self.tasks)

    @property
    def lanes(self) -> dict[str, tuple[str, ...]]:
        """Return a lane for each module, with its pattern."""
        return {
            path.rpartition(b"/")[2].removesuffix(b".py").decode(): (f"/{path.text}",)
            for path in self.files
            if not path.endswith(b"__init__.py")
        }


def generate(
    *,
    seed: int = 0,
    tasks: int = TASKS,
    share: float = 0.0,
    hot_modules: int = HOT_MODULES,
    hot_functions: int = 0,
) -> World:
    """Make a world; see `Plan`.

    Raises:
        BadWorld: there is no such world.
    """
    return world_of(Plan(seed=seed, tasks=tasks, share=share, hot_modules=hot_modules, hot_functions=hot_functions))


@lru_cache(maxsize=8)
def world_of(plan: Plan) -> World:
    """Make the world of a plan."""
    modules = make_modules(random.Random(f"code {plan.seed}"))
    files = {RepoPath(f"{PACKAGE}/__init__.py".encode()): b'"""A shop."""\n'}
    files |= {module.path: module.source().encode() for module in modules}
    ground = _ground(modules, files)
    hot = _hot_workers(random.Random(f"hot {plan.seed}"), modules, plan)
    made = Choice(random.Random(f"tasks {plan.text}"), ground, hot, plan).tasks()
    retired = {name for task in made for name in task.retires}
    neighbours: dict[str, Check] = {}
    for module in modules:
        neighbours |= neighbour_checks(ground, module, retired)
    paths = dict.fromkeys(ground.modules[worker.module].path for worker in hot)
    return World(
        plan=plan,
        files=files,
        tasks=made,
        hot=tuple(f"{ground.modules[worker.module].path.text}#{worker.name}" for worker in hot),
        hot_modules=tuple(paths),
        neighbours=neighbours,
    )


def _ground(modules: Sequence[Module], files: Mapping[RepoPath, bytes]) -> Ground:
    callers: dict[str, list[Worker]] = defaultdict(list)
    for module in modules:
        for function in module.functions:
            if isinstance(function, Worker):
                if function.helper:
                    callers[f"{module.name}.{function.helper}"].append(function)
                if function.calls:
                    callers[function.calls].append(function)
    return Ground(
        modules={module.name: module for module in modules},
        code=FreshCode(files, PACKAGE),
        callers={name: tuple(workers) for name, workers in callers.items()},
        renamed={},
    )


def _hot_workers(rng: random.Random, modules: Sequence[Module], plan: Plan) -> list[Worker]:
    chosen = rng.sample([module for module in modules if module.name not in BASES], plan.hot_modules)
    full = [[one for one in module.functions if isinstance(one, Worker) and _is_full(one)] for module in chosen]
    for workers in full:
        rng.shuffle(workers)
    return [workers[turn] for turn in range(FULL) for workers in full][: plan.hot]


def _is_full(worker: Worker) -> bool:
    blocks = (worker.guard, worker.spare, worker.clauses, worker.table, worker.step, worker.helper)
    return all(blocks) and not worker.label

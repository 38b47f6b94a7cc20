"""Which kind of task is aimed at which function."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import cycle

from fleet.jobs.tasks.ground import WEIGHTS, Ground, supports
from fleet.jobs.tasks.kinds import make
from fleet.jobs.tasks.kinds_around import rename
from fleet.jobs.tasks.maker import Maker
from fleet.jobs.tasks.plan import BadWorld, Plan
from fleet.jobs.tasks.shapes import Helper, Worker
from fleet.jobs.tasks.task import Task

FOCUS = 0.9
"""The part of the tasks that goes to the hot functions which draw their kind; one draws mostly what it is made for."""

_OPEN = ("clause", "rows", "function", "caller", "parameter", "tail", "guard")
_GROWING = ("clause", "parameter")
_ALWAYS = ("parameter", "tail", "guard")
_MOST_SCOPE = 4


class Choice:
    """Chooses which kind of task is aimed at which function."""

    def __init__(self, rng: random.Random, ground: Ground, hot: Sequence[Worker], plan: Plan) -> None:
        self._rng = rng
        self._ground = ground
        self._hot = list(hot)
        self._plan = plan
        self._aimed: Counter[tuple[str, str]] = Counter()
        taken = {_full_name(worker) for worker in hot}
        self._others = [
            one
            for module in ground.modules.values()
            for one in module.functions
            if isinstance(one, Worker) and _full_name(one) not in taken
        ]
        rng.shuffle(self._others)
        self._themes = self._draw_themes()

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks in a random order; renames are chosen first, since others must know of them."""
        hot = round(self._plan.share * self._plan.tasks)
        wanted = [(kind, True) for kind in _spread(hot)]
        wanted += [(kind, False) for kind in _spread(self._plan.tasks - hot)]
        self._rng.shuffle(wanted)
        aimed: dict[int, tuple[str, Worker, Helper | None]] = {}
        first = sorted(range(len(wanted)), key=lambda number: wanted[number][0] != "rename")
        for number in first:
            kind, is_hot = wanted[number]
            if kind == "rename":
                aimed[number] = self._rename(number + 1, hot=is_hot)
            else:
                aimed[number] = (*(self._aim_hot(kind) if is_hot else self._aim(kind)), None)
        made = []
        turns: Counter[tuple[str, str]] = Counter()
        for number in range(len(wanted)):
            kind, worker, helper = aimed[number]
            maker = Maker(
                ground=self._ground,
                rng=self._rng,
                number=number + 1,
                id=f"task-{number + 1:04}",
                worker=worker,
                turn=turns[kind, _full_name(worker)],
            )
            turns[kind, _full_name(worker)] += 1
            if helper is not None:
                made.append(rename(maker, helper, self._ground.renamed[f"{helper.module}.{helper.name}"]))
            else:
                made.append(make(kind, maker))
        return tuple(made)

    def _draw_themes(self) -> dict[str, list[Worker]]:
        """Give each hot function an open kind that it draws, in proportion to their weights.

        The kinds that a function can take few of are drawn by those that do not draw clauses or parameters: what grows
        is not what is put in order.
        """
        total = sum(WEIGHTS[kind] for kind in _OPEN)
        kinds = [kind for kind in _OPEN for _ in range(round(WEIGHTS[kind] / total * len(self._hot)))]
        workers = list(self._hot)
        self._rng.shuffle(workers)
        themes: dict[str, list[Worker]] = defaultdict(list)
        for kind, worker in zip(cycle(kinds), workers, strict=False):
            themes[kind].append(worker)
            if kind not in _GROWING:
                themes[""].append(worker)
        return themes

    def _aim_hot(self, kind: str) -> tuple[str, Worker]:
        """Choose a hot function; a kind that none of them can take any more gives way to an open one."""
        drawn = [one for one in self._themes[kind if kind in _OPEN else ""] if self._room(one, kind)]
        if not drawn or self._rng.random() >= FOCUS:
            drawn = [one for one in self._hot if self._room(one, kind)]
        if not drawn:
            kind, drawn = self._rng.choice(_ALWAYS), self._hot
        worker = self._rng.choice(drawn)
        self._take(worker, kind)
        return kind, worker

    def _aim(self, kind: str) -> tuple[str, Worker]:
        """Choose the first function that can take it, and put it behind the others."""
        for place, worker in enumerate(self._others):
            if self._room(worker, kind):
                self._others.append(self._others.pop(place))
                self._take(worker, kind)
                return kind, worker
        raise BadWorld(f"the codebase has no room for so many tasks of the kind {kind}", hint="Ask for fewer tasks.")

    def _rename(self, number: int, *, hot: bool) -> tuple[str, Worker, Helper | None]:
        for worker in self._rng.sample(self._hot, len(self._hot)) if hot else self._others:
            full = f"{worker.module}.{worker.helper}"
            scope = {caller.module for caller in self._ground.callers.get(full, ())} | {worker.module}
            if not worker.helper or full in self._ground.renamed or len(scope) > _MOST_SCOPE:
                continue
            functions = self._ground.modules[worker.module].functions
            helper = next(one for one in functions if isinstance(one, Helper) and one.name == worker.helper)
            self._ground.renamed[full] = f"{helper.name}_{number}"
            if not hot:
                self._others.append(self._others.pop(self._others.index(worker)))
            return "rename", worker, helper
        kind, worker = self._aim_hot("tail") if hot else self._aim("tail")
        return kind, worker, None

    def _room(self, worker: Worker, kind: str) -> bool:
        return self._aimed[kind, _full_name(worker)] < supports(worker, kind)

    def _take(self, worker: Worker, kind: str) -> None:
        self._aimed[kind, _full_name(worker)] += 1


def _full_name(worker: Worker) -> str:
    return f"{worker.module}.{worker.name}"


def _spread(tasks: int) -> list[str]:
    """Return so many kinds by their weights, by largest remainders."""
    exact = {kind: tasks * weight / sum(WEIGHTS.values()) for kind, weight in WEIGHTS.items()}
    counts = {kind: int(part) for kind, part in exact.items()}
    left = sorted(exact, key=lambda kind: counts[kind] - exact[kind])[: tasks - sum(counts.values())]
    return [kind for kind, count in counts.items() for _ in range(count + (kind in left))]

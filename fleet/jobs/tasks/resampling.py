"""Part of loaded tasks with a share of its own: drawn between tasks on hot targets and others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fleet.jobs.tasks.task import Task
from fleet.specs import from_parts, parts_of
from qodebase.errors import QodebaseError


class TooFewTasks(QodebaseError):
    """Tasks of which no such part can be taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Which part: how many tasks (0: as many as the share allows), the share on hot targets, and the seed."""

    tasks: int = 0
    share: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.tasks < 0 or not 0 <= self.share <= 1:
            raise TooFewTasks("`tasks` of a sample must be 0 or more, `share` 0 to 1")

    @classmethod
    def parse(cls, text: str) -> Sampling:
        """Read ``tasks=100,share=0.6,seed=1``.

        Raises:
            TooFewTasks: a name or a value is not allowed.
        """
        return from_parts(cls, parts_of(text), what="a sample", refused=TooFewTasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """The tasks that were drawn, in a seeded order, and the hot targets."""

    tasks: tuple[Task, ...]
    hot: tuple[str, ...]


def hot_targets(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the targets that several tasks name first, most wanted first."""
    wanted = Counter(task.targets[0] for task in tasks if task.targets)
    return tuple(target for target, count in sorted(wanted.items(), key=lambda one: (-one[1], one[0])) if count > 1)


def resampled(tasks: Sequence[Task], sampling: Sampling) -> Resampled:
    """Draw tasks, none twice, so that a share of them is aimed at hot targets.

    Raises:
        TooFewTasks: some task names no target, or there are too few on hot targets or on others.
    """
    bare = next((task for task in tasks if not task.targets), None)
    if bare is not None:
        raise TooFewTasks(
            f"the task {bare.id} names no `targets`, so it is not known whether its target is hot",
            hint="Write the definitions that each task is aimed at into its task.toml: targets = ['PATH#NAME'].",
        )
    hot = hot_targets(tasks)
    wanted = frozenset(hot)
    aimed = [task for task in tasks if task.targets[0] in wanted]
    others = [task for task in tasks if task.targets[0] not in wanted]
    total = sampling.tasks or _most(len(aimed), len(others), sampling.share)
    on_hot = round(total * sampling.share)
    for needed, there, what in ((on_hot, aimed, "hot targets"), (total - on_hot, others, "other targets")):
        if needed > len(there) or not total:
            raise TooFewTasks(
                f"a share of {sampling.share:g} of {total} tasks needs {needed} on {what}, and there are {len(there)}",
                hint="Ask for fewer tasks or another share; a hot target is one that several tasks name first.",
            )
    rng = random.Random(f"resample {sampling.seed} {total} {sampling.share}")
    drawn = [*rng.sample(aimed, on_hot), *rng.sample(others, total - on_hot)]
    rng.shuffle(drawn)
    return Resampled(tasks=tuple(drawn), hot=hot)


def _most(aimed: int, others: int, share: float) -> int:
    """Return the largest number of tasks that a share allows."""
    total = aimed + others
    while total and (round(total * share) > aimed or total - round(total * share) > others):
        total -= 1
    return total

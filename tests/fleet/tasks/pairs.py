"""Two tasks on one function, each done on the base: does git merge them, and is what it merges right?"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tasks_world import Applier, MemoryTree, failures

from fleet.jobs.tasks.task import Task
from fleet.jobs.tasks.world import World
from qodebase.change import Change
from qodebase.collision import Collision, Declined, Side
from qodebase.paths import RepoPath
from replay_rules.clean_merge import merge
from replay_rules.ladder import climb
from replay_rules.registry import rules_for


class Met(NamedTuple):
    """What came of pairs: how many, how many git does not merge, how many it merges wrong, how many rules do right."""

    pairs: int
    conflicts: int
    wrong: int
    by_rule: int


Kinds = tuple[str, str]


def table(world: World, *, most: int, seed: int = 0) -> Mapping[Kinds, Met]:
    """Return what came of at most so many pairs of each two kinds on one function, chosen by the seed."""
    counts: dict[Kinds, Counter[str]] = defaultdict(Counter)
    applier, base = Applier(world), MemoryTree(world.files)
    changes: dict[str, Change] = {}
    for kinds, pairs in _pairs(world, most, seed).items():
        for pair in pairs:
            for task in pair:
                if task.id not in changes:
                    changes[task.id] = applier.change(task, base)
            counts[kinds]["pairs"] += 1
            counts[kinds].update(_met(pair, base, [changes[task.id] for task in pair]))
    names = Met._fields
    return {kinds: Met(*(found[name] for name in names)) for kinds, found in sorted(counts.items())}


def total(table: Mapping[Kinds, Met]) -> Met:
    """Return the sum of a table."""
    return Met(*(sum(column) for column in zip(*table.values(), strict=True)))


def _pairs(world: World, most: int, seed: int) -> Mapping[Kinds, list[tuple[Task, Task]]]:
    found: dict[Kinds, list[tuple[Task, Task]]] = defaultdict(list)
    by_target: dict[str, list[Task]] = defaultdict(list)
    for task in world.tasks:
        by_target[task.targets[0]].append(task)
    for tasks in by_target.values():
        for one, other in itertools.combinations(tasks, 2):
            first, second = sorted((one, other), key=lambda task: task.kind)
            found[first.kind, second.kind].append((first, second))
    rng = random.Random(seed)
    return {kinds: rng.sample(pairs, min(most, len(pairs))) for kinds, pairs in sorted(found.items())}


def _met(pair: tuple[Task, Task], base: MemoryTree, changes: list[Change]) -> Iterator[str]:
    sides = [base.with_change(change) for change in changes]
    collisions = [
        Collision(
            path=path,
            base=Side(content=base.files[path]),
            main=Side(content=sides[0].files[path]),
            change=Side(content=sides[1].files[path]),
        )
        for path in changes[1].paths
    ]
    tests = {path: source for task in pair for path, source in {**task.checks, **task.hidden}.items()}
    clean: dict[RepoPath, bytes] = {}
    for collision in collisions:
        outcome = merge(collision)
        if not isinstance(outcome, Declined):
            clean[collision.path] = outcome.content
    if len(clean) == len(collisions):
        if failures(MemoryTree(sides[0].files | clean), tests):
            yield "wrong"
        return
    yield "conflicts"
    climbed = {one.path: climb(one, rules_for(one.path)).resolved for one in collisions}
    contents = {path: resolved.content for path, resolved in climbed.items() if resolved is not None}
    if len(contents) == len(collisions) and not failures(MemoryTree(sides[0].files | contents), tests):
        yield "by_rule"

"""The generated world: its shape, and that its tasks are compatible and judged by tests that mean something."""

from __future__ import annotations

import ast
import random
from collections import Counter

import pytest
from tasks_world import Applier, MemoryTree, failures, neighbour_failures

from fleet.jobs.tasks.ground import EASY, WEIGHTS
from fleet.jobs.tasks.plan import BadWorld, Plan
from fleet.jobs.tasks.world import World, generate, world_of
from qodebase.change import Patch

SMALL = 60


def all_tests(world: World) -> dict[bytes, bytes]:
    return {path: source for task in world.tasks for path, source in {**task.checks, **task.hidden}.items()}


def imports_of(source: bytes) -> set[str]:
    return {
        alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module == "shop"
        for alias in node.names
    }


def test_the_codebase_has_24_modules_of_60_functions_and_each_imports_few() -> None:
    files = generate(tasks=SMALL).files
    modules = {path.decode()[5:-3]: source for path, source in files.items() if not path.endswith(b"__init__.py")}
    assert len(modules) == 24
    graph = {name: imports_of(source) for name, source in modules.items()}
    for name, source in modules.items():
        assert sum(isinstance(node, ast.FunctionDef) for node in ast.parse(source).body) == 60
        closure, pending = set(), [name]
        while pending:
            here = pending.pop()
            closure.add(here)
            pending += graph[here] - closure
        assert len(closure) <= 5, (name, closure)


def test_a_third_of_the_functions_call_another_module() -> None:
    calling = total = 0
    for source in generate(tasks=SMALL).files.values():
        abroad = imports_of(source)
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                total += 1
                calling += any(
                    isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id in abroad
                    for inner in ast.walk(node)
                )
    assert total == 1440
    assert calling / total >= 0.3


def test_the_same_plan_gives_the_same_world_and_the_share_leaves_code_and_hot_functions_alone() -> None:
    first = generate(tasks=SMALL, share=0.6)
    world_of.cache_clear()
    assert first == generate(tasks=SMALL, share=0.6)
    plain, hot, another = generate(tasks=SMALL), generate(tasks=SMALL, share=0.6), generate(tasks=SMALL, seed=1)
    assert plain.files == hot.files
    assert plain.hot == hot.hot
    assert plain.files != another.files


def test_kinds_shares_and_hot_modules_are_as_asked() -> None:
    world = generate(share=0.6)
    assert len(world.tasks) == 1385
    assert abs(world.share_observed - 0.6) < 0.001
    assert (len(world.hot), len(world.hot_modules)) == (48, 6)
    assert {target.partition("#")[0] for target in world.hot} == {path.decode() for path in world.hot_modules}
    counts = Counter(task.kind for task in world.tasks)
    assert set(counts) == set(WEIGHTS)
    assert len(counts) >= 10
    assert sum(counts[kind] for kind in EASY) / 1385 <= 0.45
    cold = generate(tasks=SMALL)
    assert not [task.id for task in cold.tasks if task.targets[0] in cold.hot]


def test_intents_and_checks_have_names_of_their_own_and_what_is_retired_exists() -> None:
    world = generate(tasks=400, share=0.3)
    assert len({task.id for task in world.tasks}) == 400
    assert not {task.id for task in world.tasks} & set(world.neighbours)
    assert len({path for task in world.tasks for path in (*task.checks, *task.hidden)}) == 800
    retired = [name for task in world.tasks for name in task.retires]
    assert set(retired) <= set(world.neighbours)
    assert len(set(retired)) == len(retired)
    assert all(name.startswith("base/") for name in world.neighbours)


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_on_the_base_every_check_and_hidden_test_fails_and_every_neighbour_passes(share: float) -> None:
    world = generate(tasks=SMALL, share=share)
    base = MemoryTree(world.files)
    tests = all_tests(world)
    assert len(failures(base, tests)) == len(tests) == 2 * SMALL
    assert neighbour_failures(world, base) == []


def test_no_task_asks_for_what_a_function_returns_already() -> None:
    world = generate(seed=3, tasks=400, share=1.0, hot_functions=24)
    applier, base = Applier(world), MemoryTree(world.files)
    for task in (task for task in world.tasks if task.kind == "result"):
        assert applier.change(task, base).operations


def test_all_pass_when_all_are_done_in_any_order() -> None:
    in_random_orders(generate(tasks=SMALL, share=0.6), orders=5)


@pytest.mark.full
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_all_1385_pass_when_all_are_done_in_any_order(share: float) -> None:
    world = generate(share=share)
    assert len(failures(MemoryTree(world.files), all_tests(world))) == 2 * 1385
    in_random_orders(world, orders=5)


def in_random_orders(world: World, *, orders: int) -> None:
    applier = Applier(world)
    retired = {name for task in world.tasks for name in task.retires}
    for seed in range(orders):
        tasks = list(world.tasks)
        random.Random(seed).shuffle(tasks)
        end = applier.after(tasks, MemoryTree(world.files))
        assert failures(end, all_tests(world)) == {}
        assert neighbour_failures(world, end, retired) == []


def test_what_a_task_retires_really_goes_and_nothing_else_does() -> None:
    world = generate(tasks=25, share=0.6)
    applier, base = Applier(world), MemoryTree(world.files)
    for task in world.tasks:
        done = applier.after([task], base)
        assert neighbour_failures(world, done, paths=task.paths) == list(task.retires), task.text


def mutants_killed(world: World) -> tuple[int, int]:
    """Return how many single-line deletions in added code there are, and how many fail checks or hidden tests."""
    applier, base = Applier(world), MemoryTree(world.files)
    killed = total = 0
    for task in world.tasks:
        change = applier.change(task, base)
        done = base.with_change(change)
        for operation in change.operations:
            assert isinstance(operation, Patch)
            moved = 0
            for hunk in operation.hunks:
                at = hunk.offset + moved
                moved += len(hunk.text) - hunk.length
                for line in hunk.text.splitlines(keepends=True):
                    if line.strip():
                        content = done.files[operation.path]
                        mutant = MemoryTree(done.files | {operation.path: content[:at] + content[at + len(line) :]})
                        total += 1
                        killed += bool(failures(mutant, {**task.checks, **task.hidden}))
                    at += len(line)
    return total, killed


def test_nearly_every_deleted_line_of_added_code_is_noticed() -> None:
    total, killed = mutants_killed(generate(tasks=40, share=0.5))
    assert total > 80
    assert killed / total >= 0.95


@pytest.mark.full
def test_nearly_every_deleted_line_of_all_added_code_is_noticed() -> None:
    total, killed = mutants_killed(generate(share=0.6))
    assert total > 3000
    assert killed / total >= 0.95


@pytest.mark.parametrize(
    "text", ["tasks=0", "share=1.5", "hot_modules=3", "hot_functions=200", "hot_functions=2", "colour=1", "tasks=many"]
)
def test_a_plan_that_makes_no_world_is_refused(text: str) -> None:
    with pytest.raises(BadWorld):
        Plan.parse(text)


def test_a_plan_reads_back_its_own_text() -> None:
    plan = Plan(seed=3, tasks=60, share=0.3, hot_modules=4)
    assert Plan.parse(plan.text) == plan

"""The neighbour checks: the old behaviour of every function of the generated codebase, table values included."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from fleet.jobs.tasks.codebase import PACKAGE, Module
from fleet.jobs.tasks.ground import Ground, part_name
from fleet.jobs.tasks.shapes import GUARDED, PLAIN, Helper, Worker
from qodebase.check import Check
from qodebase.paths import RepoPath

_AMOUNTS = (5, 213)


class _Test(NamedTuple):
    """One neighbour check: its name, its test function and that function's source."""

    check: str
    name: str
    source: str


def neighbour_checks(ground: Ground, module: Module, retired: Collection[str]) -> dict[str, Check]:
    """Return a module's neighbour checks by name, ``base/MODULE.FUNCTION``; all share one file.

    Args:
        ground: what the base does.
        module: whose functions.
        retired: names of parts (``base/MODULE.FUNCTION/PART``) that some task ends; only these are checks of their own.
    """
    tests = [test for function in module.functions for test in _tests(ground, function, retired)]
    path = RepoPath(f"checks/test_base_{module.name}.py".encode())
    source = f"from {PACKAGE} import {module.name}\n" + "".join(f"\n\n{test.source}" for test in tests)
    files = {path: source.encode()}
    return {test.check: Check(tests=(f"{path.decode()}::{test.name}",), files=files) for test in tests}


def _tests(ground: Ground, function: Worker | Helper, retired: Collection[str]) -> Iterator[_Test]:
    called = f"{function.module}.{function.name}"
    if isinstance(function, Helper):
        yield _test(f"base/{called}", f"test_{function.name}", list(_of_helper(ground, function)))
        return
    parts: dict[str, list[str]] = {}
    for part, calls in _parts(function):
        parts.setdefault(part if part_name(function, part) in retired else "", []).extend(
            f"assert {called}{one!r} == {ground.shown(function, *one)!r}" for one in calls
        )
    for part, lines in parts.items():
        name = f"test_{function.name}" + (f"_{part}" if part else "")
        yield _test(part_name(function, part) if part else f"base/{called}", name, lines)


def _parts(worker: Worker) -> Iterator[tuple[str, list[tuple[str, int, int]]]]:
    """Yield the arguments that show each part of a worker's behaviour; the part that no task changes has no name."""
    yield "", [(PLAIN, amount, 0) for amount in _AMOUNTS] + [(key, _AMOUNTS[0], 0) for key, _ in worker.table]
    if worker.guard:
        yield "", [(PLAIN, GUARDED + 1, 0)]
    for clause in worker.clauses:
        yield clause.key, [(clause.key, amount, 0) for amount in _AMOUNTS]
    if worker.step:
        yield "loop", [(PLAIN, _AMOUNTS[0], count) for count in (2, 5)]


def _of_helper(ground: Ground, helper: Helper) -> Iterator[str]:
    full = f"{helper.module}.{helper.name}"
    new = ground.renamed.get(full)
    called = full
    if new:
        yield f'found = getattr({helper.module}, "{new}", None) or {full}'
        called = "found"
    function = getattr(ground.code.module(helper.module), helper.name)
    for amount in (0, *_AMOUNTS):
        yield f"assert {called}({amount}) == {function(amount)!r}"


def _test(check: str, name: str, lines: list[str]) -> _Test:
    body = "".join(f"    {line}\n" for line in lines)
    return _Test(check, name, f"def {name}() -> None:\n{body}")

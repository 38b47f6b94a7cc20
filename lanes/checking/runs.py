"""Runs checks on a tree: as many as can be in one process, and again alone whatever is not green there."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from lanes.checking.checkout import Checkout
from lanes.checking.inside.reads import NOTHING
from lanes.checking.inside.selection import Selections
from lanes.checking.results import Result, Shared, result_of, shared_of
from lanes.checking.sandbox import Sandbox
from lanes.checking.sharing import Group, Over, Wanted, groups_of
from lanes.checking.trees import Code
from lanes.checking.warm import Outcome, Request, Warm
from qodebase.check import Check
from qodebase.paths import RepoPath
from qodebase.trunk.differing import differing

_PLAIN_WALL_S = 5.0


class Runs:
    """Runs checks in two kinds of processes: small ones, and such that have pytest loaded.

    Tests are first only called, then run by pytest where that did not show that they pass, and at last by pytest with
    no other check beside; only what is red then is red. Whoever ends a process before its time is found in this way
    too: the check that was at work is run alone, and the others again.
    """

    def __init__(self, sandbox: Sandbox, *, tests: bool) -> None:
        self._small = Warm(sandbox)
        self._warm = Warm(dataclasses.replace(sandbox, preload=("pytest", *sandbox.preload))) if tests else self._small
        self._dirties = not sandbox.on
        self._habits: dict[str, str] = {}
        self._for_pytest: set[str] = set()
        self._read: dict[str, tuple[RepoPath, ...]] = {}
        self._compiled: dict[tuple[Path, bool, bytes], object] = {}

    async def close(self) -> None:
        """End everything that still runs."""
        await self._small.close()
        await self._warm.close()

    async def run(self, wanted: Mapping[str, Wanted], code: Code, checkout: Checkout) -> dict[str, Result]:
        """Run checks, known by their names, on a tree that a folder is made to hold."""
        found: dict[str, Result] = {}
        for group in groups_of(wanted, self._habits):
            await self._run_group(group, {name: wanted[name] for name in group.names}, code, checkout, found)
        return {name: found[name] for name in wanted}

    async def _run_group(
        self, group: Group, members: Mapping[str, Wanted], code: Code, checkout: Checkout, found: dict[str, Result]
    ) -> None:
        check = next(iter(members.values())).definition.check
        tests = not check.command
        rounds = await self._first_rounds(list(members), check)
        while rounds:
            this = rounds.pop()
            if not tests or (len(this.names) == 1 and not this.plain):
                (name,) = this.names
                found[name] = await self._alone(name, members[name], code, checkout)
                if tests and not found[name].why:
                    self._for_pytest.add(name)
                continue
            asked = {name: members[name] for name in this.names}
            shared, selections = await self._together(asked, group.over, code, checkout, plain=this.plain)
            seen = _seen(this, shared, selections)
            if not this.plain:
                self._for_pytest.update(name for name, result in seen.items() if not result.why)
            for name, result in seen.items():
                if group.shows(members[name], result):
                    rounds.append(_Round(names=[name], plain=False))
                else:
                    called = this.plain and self._habits.get(name) == NOTHING
                    found[name] = dataclasses.replace(result, called=called)
            rounds += _rest(this, seen, shared, selections)

    async def _first_rounds(self, names: list[str], check: Check) -> list[_Round]:
        """Return the checks for which a try without pytest is worth it, and the others."""
        plain: list[str] = []
        told = any(variable.startswith("PYTEST") for variable in check.environ)
        if check.tests and not told and await self._small.may_be_plain():
            plain = [name for name in names if name not in self._for_pytest]
        others = names if not plain else [name for name in names if name in self._for_pytest]
        return [_Round(names=some, plain=some is plain) for some in (plain, others) if some]

    async def _alone(self, name: str, one: Wanted, code: Code, checkout: Checkout) -> Result:
        check = one.definition.check
        request = Request(folder=checkout.root, command=check.command, tests=check.tests)
        request, outcome = await self._ran(request, {name: one}, one.over, code, checkout)
        result = await asyncio.to_thread(result_of, request, outcome)
        self._learn(name, result)
        return result

    async def _together(
        self, asked: Mapping[str, Wanted], over: Over, code: Code, checkout: Checkout, *, plain: bool
    ) -> tuple[Shared, Selections]:
        """Run some checks in one process; they are numbered in their order."""
        selected = tuple(one.definition.check.tests for one in asked.values())
        selections = Selections(selected)
        request = Request(folder=checkout.root, together=selected, plain=plain)
        request, outcome = await self._ran(request, asked, over, code, checkout)
        shared = await asyncio.to_thread(shared_of, request, outcome, selections)
        names = list(asked)
        for number, result in shared.green.items():
            self._learn(names[number], result)
        return shared, selections

    async def _ran(
        self, request: Request, asked: Mapping[str, Wanted], over: Over, code: Code, checkout: Checkout
    ) -> tuple[Request, Outcome]:
        check = next(iter(asked.values())).definition.check
        await asyncio.to_thread(checkout.hold, code, over)
        modules = () if request.command else await asyncio.to_thread(self._to_compile, request, asked, over, code)
        limits = check.limits
        if request.plain:
            limits = limits.within(_PLAIN_WALL_S)
        request = dataclasses.replace(request, modules=tuple(modules), environ=check.environ, limits=limits)
        try:
            return request, await (self._small if request.plain or request.command else self._warm).run(request)
        finally:
            if self._dirties:
                checkout.spoil()

    def _learn(self, name: str, result: Result) -> None:
        if result.habit is not None:
            # A test that finds a cache filled does nothing itself, and yet it may the next time.
            self._habits[name] = max(self._habits.get(name, NOTHING), result.habit)
        if result.read is not None:
            self._read[name] = result.read

    def _to_compile(self, request: Request, asked: Mapping[str, Wanted], over: Over, code: Code) -> list[str]:
        """Return the modules that are likely to be imported and were not compiled yet as they are now."""
        likely = set(differing(code.tree, code.base)).union(*(one.over for one in asked.values()))
        reads = [self._read[name] for name in asked if name in self._read]
        likely.update(*{id(read): read for read in reads}.values(), *(one.definition.bare for one in asked.values()))
        new = []
        for path in sorted(likely):
            key = (request.folder, request.plain, path)
            now = _content(path, over, code) if path.endswith(b".py") else None
            if now is not None and self._compiled.get(key) != now:
                self._compiled[key] = now
                new.append(os.fsdecode(path))
        return new


def _content(path: bytes, over: Over, code: Code) -> object:
    """Return what tells apart what lies at a path."""
    if path in over:
        return over[RepoPath(path)]
    node = code.tree.node(path)
    return None if node is None else node.id


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """Checks that are run together, in one of two ways."""

    names: list[str]
    plain: bool


def _seen(this: _Round, shared: Shared, selections: Selections) -> dict[str, Result]:
    """Return the results that a round settled, by the checks' names."""
    seen = {this.names[number]: result for number, result in shared.green.items()}
    if this.plain:
        return seen
    # The import of a file does not depend on who else selects only tests of it.
    importing = selections.one_file and shared.running == selections.paths[0]
    if not shared.ended and shared.crashed and importing:
        return dict.fromkeys(this.names, shared.died)
    if selections.one_file:
        seen |= {this.names[number]: result for number, result in shared.failed_imports.items()}
    return seen


def _rest(this: _Round, seen: Mapping[str, Result], shared: Shared, selections: Selections) -> Iterator[_Round]:
    """Yield the rounds in which everybody else is run; each is smaller than this one, or nearer to pytest alone."""
    left = [name for name in this.names if name not in seen]
    if not shared.ended:
        at_work = _at_work(this, shared, selections)
        yield from _apart(this, left, [name for name in left if name in at_work])
    elif this.plain:
        if left:
            yield _Round(names=left, plain=False)
    else:
        failed = {number for number in shared.failed_imports if this.names[number] not in seen}
        for path in selections.paths:
            some = sorted(failed & selections.around(path))
            failed.difference_update(some)
            yield from _smaller(this, [this.names[number] for number in some])
        imported = {this.names[number] for number in shared.failed_imports}
        yield from (_Round(names=[name], plain=False) for name in left if name not in imported)


def _at_work(this: _Round, shared: Shared, selections: Selections) -> set[str]:
    """Return the checks of what was at work when a run ended before its time."""
    if "::" in shared.running:
        numbers = set[int]().union(*selections.chosen(shared.running).values())
    else:
        numbers = selections.around(shared.running)
    return {this.names[number] for number in numbers}


def _apart(this: _Round, left: list[str], guilty: list[str]) -> Iterator[_Round]:
    others = [name for name in left if name not in set(guilty)]
    if this.plain:
        if guilty:
            yield _Round(names=guilty, plain=False)
        if others:
            yield _Round(names=others, plain=bool(guilty))
        return
    yield from _smaller(this, guilty)
    if guilty:
        yield from _smaller(this, others)
    else:
        for name in others:
            yield _Round(names=[name], plain=False)


def _smaller(this: _Round, names: list[str]) -> Iterator[_Round]:
    """Yield a round of some checks, or one for each where that would be the same round again."""
    if names and len(names) < len(this.names):
        yield _Round(names=names, plain=False)
    else:
        for name in names:
            yield _Round(names=[name], plain=False)

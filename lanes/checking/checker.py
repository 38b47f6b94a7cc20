"""The checker: lays a tree out, runs checks on it in the sandbox, and says what came of each."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from lanes.checking.checkout import Checkout, laid_from
from lanes.checking.definition import Definition, Touched
from lanes.checking.mentioning import mentions_of
from lanes.checking.results import Result, missing
from lanes.checking.runs import Runs
from lanes.checking.sandbox import Sandbox
from lanes.checking.sharing import Over, Wanted
from lanes.checking.space import space_for_checks
from lanes.checking.trees import Code, Trees
from lanes.reach.mentions import Mentioned
from qodebase.check import Check, read_together
from qodebase.check_selection import Selection
from qodebase.paths import RepoPath
from qodebase.ports import Clock, Judgement, Verdict
from qodebase.trunk.folder import Node

_MANY = 20
"""Checks whose files are to be changed in a folder, so that one more folder is worth its place."""
_MOST_FOLDERS = 8
_SMALL = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One check on one tree: all its runs together, and what is to be said of it in any case."""

    result: Result
    notes: tuple[str, ...] = ()


class SandboxedChecker:
    """A `qodebase.ports.Checker` that runs a job's checks; close it when done.

    A check is red where a run of it is, where its tests do not run although they pass on main, and where no test runs.
    Where the changes touch what defines a check, it is run twice: with that as main has it, and as the changes have it.

    Args:
        checks: the job's, by name.
        trees: knows what a tree is made of.
        clock: stands still while a check that is due runs.
        sandbox: how checks are held.
        slots: how many trees are judged at a time, each in a folder of its own; there are more, so that one that was
            used for like checks is likely to be free.
        selection: what is told of what checks looked at: names and files, files, or nothing, which means everything.
        charge_s: virtual seconds that a judgement takes under a simulated clock.
    """

    def __init__(
        self,
        checks: Mapping[str, Check],
        trees: Trees,
        clock: Clock,
        sandbox: Sandbox,
        *,
        slots: int = 2,
        selection: Selection = "names",
        charge_s: float = 0.0,
    ) -> None:
        self._checks = checks
        self._trees = trees
        self._clock = clock
        self._selection = selection
        self._charge_s = charge_s
        self._space = space_for_checks()
        space = self._space.path
        tests = any(check.tests for check in checks.values())
        bytecode = space / "bytecode" if sandbox.on and tests else None
        if bytecode is not None:
            bytecode.mkdir(mode=0o755)
        self._runs = Runs(replace(sandbox, keep=(*sandbox.keep, space), bytecode=bytecode), tests=tests)
        self._ours = sandbox.python == sys.executable
        self._room = asyncio.Semaphore(slots)
        self._free: list[tuple[Checkout, frozenset[str]]] = []
        self._made = 0
        self._definitions: dict[str, Definition] = {}
        self._on_main: dict[str, tuple[bytes, frozenset[str]]] = {}

    async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
        """Judge a tree with the checks of these names."""
        async with asyncio.TaskGroup() as tasks:
            work = tasks.create_task(self._judge(tree, checks), name=f"checks of {tree[:10]}")
            if self._clock.simulated:
                await self._clock.sleep(self._charge_s)
            with self._clock.working():
                return await work

    async def close(self) -> None:
        """End everything that still runs, and remove the folders."""
        await self._runs.close()
        await asyncio.to_thread(self._space.remove)

    async def _judge(self, tree: str, checks: Sequence[str]) -> Judgement:
        judged: dict[str, _Judged] = {}
        if checks:
            code = await asyncio.to_thread(self._trees.code, tree)
            async with self._checkout(checks) as checkout:
                judged = await self._all(checks, code, checkout)
        red = [name for name, one in judged.items() if one.result.why]
        reads = {name: None if self._selection == "all" else one.result.read for name, one in judged.items()}
        mentions = await asyncio.to_thread(self._mentions, judged, code) if judged else {}
        return Judgement(
            tree=tree,
            verdict=Verdict.RED if red else Verdict.GREEN,
            checks=tuple(checks),
            output=_told(judged),
            read=read_together(reads.values()),
            failed=tuple(red),
            reads=reads,
            mentions=mentions,
        )

    @asynccontextmanager
    async def _checkout(self, checks: Sequence[str]) -> AsyncIterator[Checkout]:
        """Take the free folder in which the fewest files of checks are to be changed, or a new one if that is many."""
        names = frozenset(name for name in checks if self._checks[name].files)
        async with self._room:
            checkout = self._best(names)
            try:
                yield checkout
            finally:
                self._free.append((checkout, names))

    def _best(self, names: frozenset[str]) -> Checkout:
        differ = [len(held ^ names) for _, held in self._free]
        if differ:
            best = differ.index(min(differ))
            more = self._made < _MOST_FOLDERS and self._free[best][0].size < _SMALL
            if differ[best] <= _MANY or not more:
                return self._free.pop(best)[0]
        self._made += 1
        return Checkout(self._space.path / f"tree-{self._made}")

    async def _all(self, names: Sequence[str], code: Code, checkout: Checkout) -> dict[str, _Judged]:
        defined = await asyncio.to_thread(self._defined, names, code)
        expected = await self._passing_on_main(names, code, checkout)
        laid = {name: laid_from(code.before, defined[name]) for name in names}
        results = await self._run(laid, expected, code, checkout)
        judged = {name: _Judged(result=result) for name, result in results.items()}
        touched = {name: paths for name, paths in defined.items() if paths}
        for name, paths in touched.items():
            listed = ", ".join(path.text for path in sorted(paths))
            note = f"{name}: judged with {listed} as on main; the changes touch what defines this check"
            judged[name] = _Judged(result=results[name], notes=(note,))
        again = [name for name in touched if not results[name].why]
        kept = {name: self._kept(name, expected[name]) for name in again}
        for name, own in (await self._run({name: {} for name in again}, kept, code, checkout)).items():
            read = read_together((results[name].read, own.read))
            judged[name] = _Judged(result=replace(own, read=read), notes=judged[name].notes)
        return judged

    def _mentions(self, judged: Mapping[str, _Judged], code: Code) -> dict[str, Mentioned]:
        """Return what checks mention as far as that is known: by this Python's rules, so for tests that it runs."""
        if not self._ours or self._selection != "names":
            return {}
        found = {
            name: mentions_of(Wanted.of(self._definition(name), {}), one.result, code)
            for name, one in judged.items()
            if not one.notes
        }
        return {name: words for name, words in found.items() if words is not None}

    def _definition(self, name: str) -> Definition:
        known = self._definitions.get(name)
        if known is None or known.check is not self._checks[name]:
            self._definitions[name] = known = Definition(self._checks[name])
        return known

    def _defined(self, names: Sequence[str], code: Code) -> dict[str, dict[RepoPath, Node | None]]:
        touched = Touched(code)
        return {name: self._definition(name).from_main(touched) for name in names}

    def _kept(self, name: str, expected: frozenset[str]) -> frozenset[str]:
        """Return the tests that must still pass where a check is run as the changes have it."""
        free = self._definition(name).may_edit
        return frozenset(test for test in expected if not free(RepoPath(os.fsencode(test.partition("::")[0]))))

    async def _passing_on_main(
        self, names: Sequence[str], code: Code, checkout: Checkout, *, now: bool = False
    ) -> dict[str, frozenset[str]]:
        """Return the tests that pass on main, where a change could take them away: the repository's own.

        What defines them may be as it was while the code tells other parameters: ``now`` asks for this very main.
        """
        if code.base.id == code.tree.id:
            return dict.fromkeys(names, frozenset())
        own = [name for name in names if self._definition(name).bare]
        keys = await asyncio.to_thread(lambda: {name: self._definition(name).fingerprint(code) for name in own})
        new = [
            name
            for name, key in keys.items()
            if key not in self._on_main or (now and self._on_main[key][0] != code.base.id)
        ]
        none = dict.fromkeys(new, frozenset[str]())
        for name, result in (await self._run({name: {} for name in new}, none, code.before, checkout)).items():
            self._on_main[keys[name]] = code.base.id, result.passed
        return {name: self._on_main[keys[name]][1] if name in keys else frozenset() for name in names}

    async def _run(
        self,
        laid: Mapping[str, Over],
        expected: Mapping[str, frozenset[str]],
        code: Code,
        checkout: Checkout,
    ) -> dict[str, Result]:
        """Run checks with these paths laid over the tree; red is also where an expected test does not pass."""
        wanted = {name: Wanted.of(self._definition(name), over) for name, over in laid.items()}
        results = await self._runs.run(wanted, code, checkout)
        lost = {name: expected[name] - result.passed for name, result in results.items() if not result.why}
        lost = {name: tests for name, tests in lost.items() if tests}
        passing = await self._passing_on_main(list(lost), code, checkout, now=True) if lost else {}
        for name, tests in lost.items():
            if tests & passing[name]:
                results[name] = replace(results[name], why=missing(tests & passing[name]))
        return results


def _told(judged: Mapping[str, _Judged]) -> str:
    """Return what a person needs to see: why each red check is red, then its output, then the notes."""
    lines = [f"{name}: {one.result.why}" for name, one in judged.items() if one.result.why]
    lines += [f"\n{name}:\n{one.result.text}" for name, one in judged.items() if one.result.why and one.result.text]
    lines += [note for one in judged.values() for note in one.notes]
    # A message of a test may hold what is no text.
    return "\n".join(lines).encode(errors="replace").decode()

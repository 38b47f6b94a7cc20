"""The checker: lays a tree out, runs checks on it in the sandbox, and says what came of each."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from lanes.checking.checkout import Checkout, Laid, laid_files, laid_from
from lanes.checking.definition import fingerprint, from_main, in_repository
from lanes.checking.results import Result, missing, result_of
from lanes.checking.sandbox import Sandbox
from lanes.checking.trees import Code, Trees
from lanes.checking.warm import Request, Warm
from qodebase.check import Check
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from qodebase.ports import Clock, Judgement, Verdict


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
        slots: how many trees are judged at a time, each in a folder of its own.
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
        charge_s: float = 0.0,
    ) -> None:
        self._checks = checks
        self._trees = trees
        self._clock = clock
        self._charge_s = charge_s
        self._space = tempfile.TemporaryDirectory(prefix="qodebase-checks-", ignore_cleanup_errors=True)
        space = Path(self._space.name).resolve()
        # Readable for the user that checks run as; the sandbox shows it also where folders above are private.
        space.chmod(0o755)
        tests = any(check.tests for check in checks.values())
        preload = ("pytest", *sandbox.preload) if tests else sandbox.preload
        self._dirties = not sandbox.on
        bytecode = space / "bytecode" if sandbox.on and tests else None
        if bytecode is not None:
            bytecode.mkdir(mode=0o755)
        self._warm = Warm(
            Sandbox(
                on=sandbox.on,
                hide=sandbox.hide,
                keep=(*sandbox.keep, space),
                python=sandbox.python,
                preload=preload,
                bytecode=bytecode,
            )
        )
        self._free: asyncio.Queue[Checkout] = asyncio.Queue()
        for number in range(slots):
            self._free.put_nowait(Checkout(space / f"tree-{number}"))
        self._on_main: dict[str, frozenset[str]] = {}
        self._imported: dict[tuple[str, ...], tuple[str, ...]] = {}

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
        await self._warm.close()
        await asyncio.to_thread(self._space.cleanup)

    async def _judge(self, tree: str, checks: Sequence[str]) -> Judgement:
        judged: dict[str, _Judged] = {}
        if checks:
            code = await asyncio.to_thread(self._trees.code, tree)
            async with self._checkout() as checkout:
                for name in checks:
                    judged[name] = await self._one(name, code, checkout)
        red = [name for name, one in judged.items() if one.result.why]
        reads = {name: one.result.read for name, one in judged.items()}
        return Judgement(
            tree=tree,
            verdict=Verdict.RED if red else Verdict.GREEN,
            checks=tuple(checks),
            output=_told(judged),
            read=_union(reads.values()),
            failed=tuple(red),
            reads=reads,
        )

    @asynccontextmanager
    async def _checkout(self) -> AsyncIterator[Checkout]:
        checkout = await self._free.get()
        try:
            yield checkout
        finally:
            self._free.put_nowait(checkout)

    async def _one(self, name: str, code: Code, checkout: Checkout) -> _Judged:
        check = self._checks[name]
        defined = await asyncio.to_thread(from_main, check, code)
        expected = await self._passing_on_main(name, check, code, checkout)
        result = await self._run(check, code, checkout, laid_from(code.before, defined), expected)
        if not defined:
            return _Judged(result=result)
        paths = ", ".join(path.text for path in sorted(defined))
        note = f"{name}: judged with {paths} as on main; the changes touch what defines this check"
        if result.why:
            return _Judged(result=result, notes=(note,))
        free = matcher(check.may_edit)
        kept = frozenset(test for test in expected if not free(RepoPath(test.partition("::")[0].encode())))
        own = await self._run(check, code, checkout, {}, kept)
        read = _union((result.read, own.read))
        return _Judged(result=Result(why=own.why, text=own.text, passed=own.passed, read=read), notes=(note,))

    async def _passing_on_main(self, name: str, check: Check, code: Code, checkout: Checkout) -> frozenset[str]:
        """Return the tests that pass on main, where a change could take them away: the repository's own."""
        if not check.tests or not in_repository(check) or code.base.id == code.tree.id:
            return frozenset()
        key = await asyncio.to_thread(fingerprint, name, check, code)
        if key not in self._on_main:
            self._on_main[key] = (await self._run(check, code.before, checkout, {}, frozenset())).passed
        return self._on_main[key]

    async def _run(
        self,
        check: Check,
        code: Code,
        checkout: Checkout,
        defined: Mapping[RepoPath, Laid | None],
        expected: frozenset[str],
    ) -> Result:
        await asyncio.to_thread(checkout.hold, code, {**defined, **laid_files(check.files)})
        request = Request(
            folder=checkout.root,
            command=check.command,
            tests=check.tests,
            modules=self._imported.get(check.tests) or tuple(one.partition("::")[0] for one in check.tests),
            environ=check.environ,
            limits=check.limits,
        )
        try:
            result = result_of(request, await self._warm.run(request))
        finally:
            if self._dirties:
                checkout.spoil()
        if result.read is not None:
            self._imported[check.tests] = tuple(os.fsdecode(path) for path in result.read if path.endswith(b".py"))
        lost = expected - result.passed
        if lost and not result.why:
            return Result(why=missing(lost), passed=result.passed, read=result.read)
        return result


def _union(reads: Iterable[tuple[RepoPath, ...] | None]) -> tuple[RepoPath, ...] | None:
    found: set[RepoPath] = set()
    for read in reads:
        if read is None:
            return None
        found.update(read)
    return tuple(sorted(found))


def _told(judged: Mapping[str, _Judged]) -> str:
    """Return what a person needs to see: why each red check is red, then its output, then the notes."""
    lines = [f"{name}: {one.result.why}" for name, one in judged.items() if one.result.why]
    lines += [f"\n{name}:\n{one.result.text}" for name, one in judged.items() if one.result.why and one.result.text]
    lines += [note for one in judged.values() for note in one.notes]
    return "\n".join(lines)

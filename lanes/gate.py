"""The gate: one verdict for each tree and set of checks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from qodebase.ports import Checker, Judgement, Verdict


class NoChecks:
    """Green for every tree: the checker of a job that declares no checks."""

    async def check(self, tree: str, checks: Iterable[str]) -> Judgement:
        """Judge a tree without running anything.

        Raises:
            RuntimeError: there are checks, and nothing that could run them.
        """
        if tuple(checks):
            raise RuntimeError("the job declares checks and the run has no checker")
        return Judgement(tree=tree, verdict=Verdict.GREEN)


class Gate:
    """Judge trees; a verdict belongs to its tree and checks, and is not asked for twice.

    A red tree is run once more: red twice is red, red then green is green and marked as a flake.
    """

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._verdicts: dict[tuple[str, tuple[str, ...]], Judgement] = {}
        self._running: dict[tuple[str, tuple[str, ...]], asyncio.Lock] = {}

    async def judge(self, tree: str, checks: Iterable[str]) -> Judgement:
        """Return the verdict on a tree."""
        wanted = tuple(sorted(set(checks)))
        if not wanted:
            return await self._checker.check(tree, wanted)
        known = self._verdicts.get((tree, wanted))
        if known is None:
            async with self._running.setdefault((tree, wanted), asyncio.Lock()):
                known = self._verdicts.get((tree, wanted)) or await self._run(tree, wanted)
                self._verdicts[tree, wanted] = known
            self._running.pop((tree, wanted), None)
        return known

    async def _run(self, tree: str, wanted: tuple[str, ...]) -> Judgement:
        judgement = await self._checker.check(tree, wanted)
        if judgement.verdict is Verdict.RED:
            again = await self._checker.check(tree, wanted)
            if again.verdict is Verdict.GREEN:
                judgement = Judgement(
                    tree=tree,
                    verdict=again.verdict,
                    checks=again.checks,
                    output=again.output,
                    flake=True,
                    read=again.read,
                    reads=again.reads,
                )
        return judgement

"""The gate: one verdict for each tree and check."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from lanes.read_sets import Looked
from lanes.verdicts import Verdicts
from qodebase.check import read_together
from qodebase.ports import Checker, Judgement, Verdict

_KEPT_TREES = 256

Tell = Callable[[Sequence[str]], object]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the gate found out about a tree.

    Attributes:
        judgement: the verdict; ``failed`` names what was red twice, ``reads`` is of every check that was judged.
        flipped: the checks that were red and then green.
        runs: how often the checker was asked for it.
        inherited: how many of the checks were green on another tree, and looked at nothing that is different here.
    """

    judgement: Judgement
    flipped: tuple[str, ...] = ()
    runs: int = 0
    inherited: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What one check came to on one tree; ``told`` is the output that says why it is red."""

    green: bool
    looked: Looked
    flipped: bool = False
    told: str = ""


@dataclass(slots=True)
class _Tree:
    """All that is known of one tree; only one task at a time finds out more."""

    known: dict[str, _Known] = field(default_factory=dict)
    held: dict[tuple[str, ...], Judgement] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Gate:
    """Judge trees; what a check came to belongs to its tree, and is not asked for twice.

    What is red is run once more: red twice is red, red then green is green and marked as a flake. A tree on which one
    of the wanted checks is known to be red is red, whatever the others would say. The newest trees are remembered.

    Args:
        verdicts: knows of trees on which a verdict holds too; None: each tree is judged by itself.
    """

    def __init__(self, checker: Checker, verdicts: Verdicts | None = None) -> None:
        self._checker = checker
        self._verdicts = verdicts
        self._trees: OrderedDict[str, _Tree] = OrderedDict()

    async def judge(self, tree: str, checks: Iterable[str], tell: Tell | None = None) -> Found:
        """Return the verdict on a tree; ``tell`` hears of what is red before that is run once more."""
        wanted = tuple(sorted(set(checks)))
        if not wanted:
            return Found(judgement=Judgement(tree=tree, verdict=Verdict.GREEN))
        about = self._about(tree)
        async with about.lock:
            runs = inherited = 0
            red = any(name in about.known and not about.known[name].green for name in wanted)
            missing = tuple(name for name in wanted if name not in about.known)
            if missing and not red and wanted not in about.held:
                held = self._inherit(tree, about, missing)
                inherited = len(held)
                if left := tuple(name for name in missing if name not in held):
                    runs = await self._run(tree, about, wanted, left, tell)
            return replace(self._found(tree, about, wanted), runs=runs, inherited=inherited)

    def _inherit(self, tree: str, about: _Tree, names: Sequence[str]) -> Collection[str]:
        """Take over which checks are known to be green here; return them."""
        holding = {} if self._verdicts is None else self._verdicts.holding(tree, names)
        for name, looked in holding.items():
            about.known[name] = _Known(green=True, looked=looked)
        return holding

    async def again(self, tree: str, checks: Sequence[str], times: int) -> list[frozenset[str]]:
        """Run checks on a tree so many times, whatever is known of it; return what was red each time."""
        return [_red(await self._checker.check(tree, checks), checks) for _ in range(times)]

    def _about(self, tree: str) -> _Tree:
        about = self._trees.setdefault(tree, _Tree())
        self._trees.move_to_end(tree)
        while len(self._trees) > _KEPT_TREES:
            self._trees.popitem(last=False)
        return about

    async def _run(
        self, tree: str, about: _Tree, wanted: tuple[str, ...], missing: tuple[str, ...], tell: Tell | None
    ) -> int:
        """Find out what is not known; return how many runs that took."""
        first = await self._checker.check(tree, missing)
        if first.verdict is Verdict.HOLD:
            about.held[wanted] = first
            return 1
        red = _red(first, missing)
        if self._verdicts is not None:
            self._verdicts.take(first)
        again: tuple[str, ...] = tuple(name for name in missing if name in red)
        if again and tell is not None:
            tell(again)
        second = await self._checker.check(tree, again) if again else None
        if second is not None and second.verdict is Verdict.HOLD:
            about.held[wanted] = second
            return 2
        still = frozenset() if second is None else _red(second, again)
        for name in missing:
            judgement = second if second is not None and name in red else first
            about.known[name] = _Known(
                green=name not in still,
                looked=Looked.of(judgement, name),
                flipped=name in red and name not in still,
                told=judgement.output if name in still else "",
            )
        return 1 if second is None else 2

    def _found(self, tree: str, about: _Tree, wanted: tuple[str, ...]) -> Found:
        held = about.held.get(wanted)
        if held is not None:
            return Found(judgement=held)
        known = {name: about.known[name] for name in wanted if name in about.known}
        failed = tuple(name for name, one in known.items() if not one.green)
        flipped = tuple(name for name, one in known.items() if one.flipped)
        judgement = Judgement(
            tree=tree,
            verdict=Verdict.RED if failed else Verdict.GREEN,
            checks=tuple(known),
            output="\n".join(dict.fromkeys(one.told for one in known.values() if one.told)),
            flake=bool(flipped),
            read=read_together(one.looked.read for one in known.values()),
            failed=failed,
            reads={name: one.looked.read for name, one in known.items()},
            mentions={name: one.looked.mentions for name, one in known.items() if one.looked.mentions is not None},
        )
        return Found(judgement=judgement, flipped=flipped)


def _red(judgement: Judgement, checks: Sequence[str]) -> frozenset[str]:
    """Return which of these checks were red; a red judgement that names none of them means all."""
    if judgement.verdict is not Verdict.RED:
        return frozenset()
    return frozenset(judgement.failed).intersection(checks) or frozenset(checks)

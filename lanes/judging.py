"""What a train is judged by, and what its verdict means: whose fault, a loss of main, or a flake of nobody's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanes.gate import Found, Gate
from lanes.train import Train
from qodebase import events
from qodebase.check import read_together
from qodebase.journal import Journal
from qodebase.paths import CommitId
from qodebase.ports import Judgement, Verdict

if TYPE_CHECKING:
    from lanes.desk import Desk

_TIMES = 3
_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the verdict on a train means.

    Attributes:
        judgement: the gate's; green where nothing is held against the train.
        broken: checks that are red twice and hold the train.
        doubted: checks that came out both ways on the train's tree and never do so on main.
    """

    judgement: Judgement
    broken: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()

    @property
    def green(self) -> bool:
        """Return whether the train may land."""
        return self.judgement.verdict is Verdict.GREEN and not self.doubted


class Judge:
    """Judge trains by their own checks and by the contract.

    A check in force that is red on a train is run on main too, beside the second run on the train's tree: red there, it
    is a loss, and bisected over the landings since it came in force. A check that flips is run on main three times: if
    it flips there it blames nobody.

    Args:
        tree_of: gives the tree of a commit.
    """

    def __init__(self, *, gate: Gate, desk: Desk, journal: Journal, tree_of: Callable[[CommitId], str]) -> None:
        self.contract = desk.contract
        self._gate = gate
        self._desk = desk
        self._journal = journal
        self._tree_of = tree_of
        self._flaky: set[str] = set()
        self._reading = asyncio.Lock()
        self._doubting = asyncio.Lock()

    def has_work(self, train: Train) -> bool:
        """Return whether there is a check that a train may have to be judged by."""
        return bool(self.contract.in_force or train.checks)

    async def judge(
        self, train: Train, tree: str, *, only: Sequence[str] | None = None, doubt: Collection[str] = ()
    ) -> Ruling:
        """Judge a train.

        Args:
            tree: main with the train on it.
            only: these checks; None: all that it is judged by.
            doubt: checks that flipped on a longer train, to be run some times more.
        """
        await self._read_first(train.lane)
        wanted = self.contract.wanted(train) if only is None else only
        asked: set[str] = set()
        lost: set[str] = set()

        async def on_main(red: Sequence[str]) -> None:
            names = [name for name in self._held_by_others(train, red) if name not in asked]
            asked.update(names)
            lost.update(await self._red_on_main(names, tree, train.lane))

        # Main is asked beside the gate, not within it: whoever waits there for one tree holds no other.
        async with asyncio.TaskGroup() as tasks:
            found = await self._gate.judge(
                tree, wanted, lambda red: tasks.create_task(on_main(red), name=f"main beside {train.name}")
            )
        judgement = found.judgement
        await on_main(judgement.failed)
        self._write(tree, found, train.lane, train=train.name)
        for name in sorted(lost.intersection(judgement.failed)):
            await self._lose(name, train.lane)
        broken = self._holding(train, [name for name in judgement.failed if name not in lost])
        if judgement.verdict is Verdict.RED and not broken:
            rest = None if only is None else self._holding(train, only)
            return await self.judge(train, tree, only=rest, doubt=doubt)
        doubted: set[str] = set()
        if judgement.verdict is Verdict.GREEN:
            doubted = await self._never_on_main(found.flipped, train.lane)
            doubted |= await self._shaken(tree, sorted(set(doubt).intersection(wanted) - doubted), train)
        return Ruling(judgement=judgement, broken=broken, doubted=self._holding(train, sorted(doubted)))

    def why(self, train: Train, ruling: Ruling) -> str:
        """Return why a train of one goes back, naming what it breaks of others."""
        if ruling.doubted:
            return f"flaky: {', '.join(ruling.doubted)} came out red and green on this change, and does not on main"
        if ruling.judgement.verdict is Verdict.HOLD:
            return f"held by the gate:\n{ruling.judgement.output}"
        theirs = self._held_by_others(train, ruling.broken)
        breaks = [self.contract.breaks(theirs)] if theirs else []
        return "\n".join(["checks failed:", *breaks, ruling.judgement.output])

    def _holding(self, train: Train, names: Iterable[str]) -> tuple[str, ...]:
        """Return which of these checks hold a train; others may have been ended, or lost, while it was judged."""
        own = set(train.checks)
        return tuple(name for name in names if name in own or name in self.contract.in_force)

    def _held_by_others(self, train: Train, red: Iterable[str]) -> list[str]:
        own = set(train.checks)
        return [name for name in red if name in self.contract.in_force and name not in own]

    async def _read_first(self, lane: str) -> None:
        """Learn what the checks in force read, by one judgement of main, where that is not known."""
        async with self._reading:
            names = sorted(self.contract.unread)
            if not names:
                return
            position = self._desk.main.position
            tree = await self._desk.tree_with({})
            found = await self._gate.judge(tree, names)
            of = "main" if self._desk.main.position else "base"
            self._write(tree, found, lane, of=of)
            if self._desk.main.moved_by_others(position):
                return
            known = set(found.judgement.checks)
            for name in self.contract.unread.intersection(names):
                self.contract.read(name, found.judgement if name in known else None)
            never = []
            for name in found.judgement.failed:
                if self._desk.main.position == 0:
                    self.contract.drop(name)
                    never.append(name)
                else:
                    await self._lose(name, lane)
            self._never(never)

    def _never(self, names: Sequence[str]) -> None:
        if names:
            self._journal.write(events.NeverInForce, actor="gate", checks=tuple(names))

    async def _red_on_main(self, names: Sequence[str], tree: str, lane: str) -> tuple[str, ...]:
        """Return which of these checks main fails too; the tree itself may be main's."""
        if not names:
            return ()
        main = await self._desk.tree_with({})
        if main == tree:
            return tuple(names)
        found = await self._gate.judge(main, names)
        if found.runs:
            self._write(main, found, lane, of="main")
        return found.judgement.failed

    async def _lose(self, name: str, lane: str) -> None:
        """Put a check that is red on main out of force, and find the landing that broke it."""
        clause = self.contract.in_force.get(name)
        if clause is None:
            return
        main = self._desk.main
        last = main.position
        self.contract.drop(name)

        async def red(position: int) -> bool:
            tree = self._tree_of(main.landing_at(position)[0])
            found = await self._gate.judge(tree, [name])
            self._write(tree, found, lane, of="bisection")
            return found.judgement.verdict is Verdict.RED

        try:
            first = await _first(clause.position, last, red)
        except asyncio.CancelledError:
            # Nobody would hear of it: the next judgement looks at it anew.
            self.contract.in_force[name] = clause
            self.contract.unread.add(name)
            raise
        if first == 0:
            self._never([name])
            return
        commit, by = main.landing_at(first)
        cause = "red as it landed" if first == clause.position else f"green until {main.landing_at(first - 1)[0][:12]}"
        self._journal.write(
            events.CheckLost,
            actor="gate",
            intent=clause.intent or None,
            lane=lane,
            check=name,
            owner=clause.intent,
            by=by,
            commit=commit,
            cause=cause,
        )

    async def _never_on_main(self, flipped: Collection[str], lane: str) -> set[str]:
        """Run checks that flipped on main; return those that never flip there."""
        async with self._doubting:
            return await self._doubt(tuple(sorted(set(flipped) - self._flaky)), lane)

    async def _doubt(self, names: tuple[str, ...], lane: str) -> set[str]:
        if not names:
            return set()
        tree = await self._desk.tree_with({})
        red = await self._gate.again(tree, names, _TIMES)
        self._write_again(tree, names, frozenset().union(*red), lane, of="main")
        flips = {name for name in names if 0 < sum(name in one for one in red) < _TIMES}
        self._flaky |= flips
        never = set(names) - flips
        for checks, on_main in ((flips, True), (never, False)):
            if checks:
                self._journal.write(
                    events.Flaky, actor="gate", lane=lane, checks=tuple(sorted(checks)), on_main=on_main
                )
        return never

    async def _shaken(self, tree: str, names: Sequence[str], train: Train) -> set[str]:
        """Run doubted checks some times more on a green tree; return those that were red."""
        if not names:
            return set()
        red = frozenset().union(*await self._gate.again(tree, names, _TIMES))
        self._write_again(tree, names, red, train.lane, train=train.name)
        return set(red)

    def _write(self, tree: str, found: Found, lane: str, *, train: str | None = None, of: str = "") -> None:
        judgement = found.judgement
        self._judged(
            tree,
            lane,
            train=train,
            of=of,
            verdict=str(judgement.verdict),
            checks=len(judgement.checks),
            flake=judgement.flake,
            runs=found.runs,
            inherited=found.inherited,
            failed=judgement.failed[:_NAMED],
        )

    def _write_again(
        self,
        tree: str,
        names: Sequence[str],
        red: Collection[str],
        lane: str,
        *,
        train: str | None = None,
        of: str = "",
    ) -> None:
        """Journal several runs of checks, which were red where one of them was."""
        verdict = str(Verdict.RED if red else Verdict.GREEN)
        failed = tuple(sorted(red)[:_NAMED])
        self._judged(
            tree, lane, train=train or None, of=of, verdict=verdict, checks=len(names), runs=_TIMES, failed=failed
        )

    def _judged(self, tree: str, lane: str, **words: Any) -> None:
        self._journal.write(events.Judged, actor=f"lane {lane}", lane=lane, tree=tree, **words)


def together(before: Judgement, again: Judgement) -> Judgement:
    """Return the verdict on a tree of which some checks were judged before main moved, and some on the newest main."""
    reads = before.reads | again.reads
    return Judgement(
        tree=again.tree,
        verdict=again.verdict,
        checks=tuple(sorted({*before.checks, *again.checks})),
        output=again.output,
        flake=before.flake or again.flake,
        read=read_together(reads.values()),
        reads=reads,
        mentions={name: words for name, words in before.mentions.items() if name not in again.reads} | again.mentions,
    )


async def _first(low: int, high: int, red: Callable[[int], Awaitable[bool]]) -> int:
    """Return the first red position from ``low`` to ``high``, which is red, by bisection."""
    if await red(low):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        if await red(middle):
            high = middle
        else:
            low = middle
    return high

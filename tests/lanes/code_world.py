"""A made codebase whose functions are sums that call each other, and a checker that works them out on a tree."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from lane_world import World

from lanes.checking.trees import Trees
from lanes.submission import Outcome, Submission
from lanes.verdicts import Verdicts
from qodebase.change import Change, Write
from qodebase.clock import VirtualClock
from qodebase.collision import Declined
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Judgement, Redone, ReplayRequest, ThrownAway, Tree, Verdict
from qodebase.record import Usage

T = TypeVar("T")
Read = Callable[[RepoPath], bytes]


def module(lines: Mapping[str, str]) -> bytes:
    """Return a module's file: ``f1 = 3 + b.f2`` a line."""
    return "".join(f"{name} = {text}\n" for name, text in lines.items()).encode()


def functions(content: bytes) -> dict[str, str]:
    """Return what a module's functions are."""
    return dict(line.split(" = ", 1) for line in content.decode().splitlines())


def value(name: str, read: Read) -> int:
    """Work out ``module.function``."""
    where, _, function = name.partition(".")
    text = functions(read(RepoPath(f"{where}/code".encode())))[function]
    return sum(value(term, read) if "." in term else int(term) for term in text.split(" + "))


class Sums:
    """Checks that functions have the values that `wanted` says; a read set is the modules that were looked at.

    Attributes:
        wanted: a check's function and value.
        flaky: says whether a check is red on a tree for no reason.
        held: says whether a tree is held.
        ran: what was asked for.
    """

    def __init__(self, charge_s: float = 0.0) -> None:
        self.wanted: dict[str, tuple[str, int]] = {}
        self.flaky: Callable[[str, Read], bool] = lambda name, read: False
        self.held: Callable[[Read], bool] = lambda read: False
        self.ran: list[tuple[str, tuple[str, ...]]] = []
        self.world: World | None = None
        self.trees: Trees | None = None
        self._charge_s = charge_s

    def read_of(self, tree: str) -> Read:
        """Return what reads a tree."""
        assert self.trees is not None
        code = self.trees.code(tree)

        def read(path: RepoPath) -> bytes:
            node = code.tree.node(path)
            assert node is not None, path
            return code.content(node.id)

        return read

    async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
        """Judge a tree."""
        assert self.world is not None
        self.ran.append((tree, tuple(checks)))
        await self.world.clock.sleep(self._charge_s)
        whole = self.read_of(tree)
        if self.held(whole):
            return Judgement(tree=tree, verdict=Verdict.HOLD, checks=tuple(checks), output="a person looks at it")
        reads: dict[str, tuple[RepoPath, ...] | None] = {}
        failed = []
        for name in checks:
            seen: set[RepoPath] = set()

            def read(path: RepoPath, seen: set[RepoPath] = seen) -> bytes:
                seen.add(path)
                return whole(path)

            function, expected = self.wanted[name]
            wrong = value(function, read) != expected
            if self.flaky(name, read) or wrong:
                failed.append(name)
            reads[name] = tuple(sorted(seen))
        return Judgement(
            tree=tree,
            verdict=Verdict.RED if failed else Verdict.GREEN,
            checks=tuple(checks),
            output="\n".join(f"{name} is wrong" for name in failed),
            failed=tuple(failed),
            reads=reads,
        )


class Rewrites:
    """Redoes an intent by writing its line anew on the newest text, after some seconds."""

    def __init__(self, lines: Mapping[str, tuple[str, str]], sums: Sums, seconds: float = 0.0) -> None:
        self.lines = lines
        self.sums = sums
        self.seconds = seconds
        self.asked: list[ReplayRequest] = []

    async def redo(self, request: ReplayRequest, fork: Tree) -> Redone | Declined:
        """Redo an intent."""
        self.asked.append(request)
        assert self.sums.world is not None
        await self.sums.world.clock.sleep(self.seconds)
        return Redone(change=self.change(request.intent.id, fork), model="big", usage=Usage(calls=1, cost_usd=0.5))

    def change(self, intent: str, fork: Tree) -> Change:
        """Write an intent's line."""
        return rewrite(self.sums, fork, intent, *self.lines[intent])


def rewrite(sums: Sums, fork: Tree, intent: str, function: str, text: str) -> Change:
    """Return the change that writes one function anew; the intent's check wants what it comes to at first."""
    where, _, name = function.partition(".")
    path = RepoPath(f"{where}/code".encode())
    content = module(functions(fork.read(path)) | {name: text})

    def read(other: RepoPath) -> bytes:
        return content if other == path else fork.read(other)

    sums.wanted.setdefault(intent, (function, value(function, read)))
    return Change(base=fork.commit, operations=(Write(path=path, content=content),))


def code_world(make: Callable[..., World], code: Mapping[str, Mapping[str, str]], sums: Sums, **more: Any) -> World:
    """Return a world of these modules, each with a lane of its own unless said otherwise."""
    files = {f"{name}/code".encode(): module(lines) for name, lines in code.items()}
    lanes = {name: (f"/{name}/**",) for name in code}
    one = make(files, **{"lanes": lanes, "checker": sums, **more})
    sums.world, sums.trees = one, Trees(one.reader)
    one.desk._tell = sums.trees.tell
    one.gate._verdicts = Verdicts(sums.trees) if one.policy.read_sets else None
    return one


def submit(one: World, sums: Sums, intent: str, function: str, text: str, **more: Any) -> Submission:
    """Return an intent that writes one function anew, made on main as it is; its check has its name."""
    fork = one.main.fork([RepoPath(f"{function.partition('.')[0]}/code".encode())])
    change = rewrite(sums, fork, intent, function, text)
    submission = one.submission(intent, change.operations, fork=fork, checks=(intent,), **more)
    submission.change = change
    return submission


def made_code(draw: random.Random, modules: int, size: int, calling: float) -> dict[str, dict[str, str]]:
    """Return modules of functions, so many of which call one of a module before theirs."""
    code: dict[str, dict[str, str]] = {}
    for number in range(modules):
        lines = {}
        for function in range(size):
            text = str(draw.randrange(100))
            if number and draw.random() < calling * modules / (modules - 1):
                text += f" + m{draw.randrange(number)}.f{draw.randrange(size)}"
            lines[f"f{function}"] = text
        code[f"m{number}"] = lines
    return code


def red_on_main(one: World, sums: Sums, names: Sequence[str]) -> list[str]:
    """Return which checks are red on main as git has it."""
    files = one.files()
    return [name for name in names if value(sums.wanted[name][0], files.__getitem__) != sums.wanted[name][1]]


def land_in_turn(one: World, *steps: Callable[[], Submission | CommitId]) -> list[Outcome]:
    """Take steps one after the other: land what one hands in before the next is taken; return what became of them."""

    async def work() -> list[Outcome]:
        outcomes = []
        async with one.serving() as yard:
            for step in steps:
                made = step()
                if isinstance(made, Submission):
                    outcomes.append(await yard.submit(made))
        return outcomes

    return run(one, work())


def run(one: World, work: Coroutine[Any, Any, T]) -> T:
    """Run work in a loop of the world's clock."""
    loop = one.clock.new_event_loop() if isinstance(one.clock, VirtualClock) else asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


class RewritesAhead(Rewrites):
    """The same, also on a state that main is only expected to come to."""

    def __init__(self, lines: Mapping[str, tuple[str, str]], sums: Sums, seconds: float = 0.0) -> None:
        super().__init__(lines, sums, seconds)
        self.ahead: list[str] = []

    async def redo_ahead(
        self, request: ReplayRequest, fork: Tree, settled: Callable[[Change], Awaitable[Change | None]]
    ) -> Redone | Declined | ThrownAway:
        """Redo an intent once it is known what main has come to."""
        self.ahead.append(request.intent.id)
        redone = await self.redo(request, fork)
        assert isinstance(redone, Redone)
        change = await settled(redone.change)
        return ThrownAway(usage=redone.usage) if change is None else msgspec.structs.replace(redone, change=change)

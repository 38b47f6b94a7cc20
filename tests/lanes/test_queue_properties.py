"""What holds for every queue, whatever comes: it drains, the ledger balances, nobody innocent goes back, no loss."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest
from code_world import Read, RewritesAhead, Sums, code_world, made_code, module, red_on_main, rewrite, run, value
from lane_world import World

from lanes.policy import Policy
from lanes.submission import Landed, Outcome, SentBack
from qodebase import events
from qodebase.clock import VirtualClock
from qodebase.intent import Intent
from qodebase.paths import RepoPath

Make = Callable[..., World]
MODULES, SIZE = 5, 4
PATHS = [RepoPath(b"m%d/code" % number) for number in range(MODULES)]
HELD = 7777


class Work(NamedTuple):
    intent: str
    function: str
    text: str
    wrong: bool
    retires: tuple[str, ...]


class Flakes:
    """Red now and then, never twice in turn on one tree; of three runs in turn one is red at least, and one green."""

    def __init__(self, names: set[str]) -> None:
        self._names = names
        self._runs: Counter[tuple[bytes, str]] = Counter()

    def __call__(self, name: str, read: Read) -> bool:
        if name not in self._names:
            return False
        whole = b"".join(read(path) for path in PATHS)
        self._runs[whole, name] += 1
        nth = self._runs[whole, name]
        return random.Random(str((whole, name))).random() < 0.2 if nth == 1 else nth % 2 == 1


class Fleet:
    """Agents that each take work, think on a fork and hand it in."""

    def __init__(self, world: Make, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.code = made_code(draw, MODULES, SIZE, 0.4)
        self.sums = Sums(charge_s=1.0)
        standing = self._standing()
        self.works = [self._work(number) for number in range(50)]
        lines = {work.intent: (work.function, work.text) for work in self.works}
        policy = Policy(train_max=draw.choice([1, 3, 16]), prefetch=draw.random() < 0.7, inside=draw.random() < 0.2)
        more: dict[str, Any] = {} if draw.random() < 0.6 else {"lanes": {}}
        redo = RewritesAhead(lines, self.sums, seconds=draw.choice([0.0, 3.0]))
        self.one = code_world(
            world, self.code, self.sums, policy=policy, redo=redo, standing=standing, clock=VirtualClock(), **more
        )
        names = [*standing, *lines]
        self.sums.flaky = Flakes(set(draw.sample(names, 6)) if draw.random() < 0.5 else set())
        self.sums.held = lambda read: any(
            f"= {HELD}" in read(RepoPath(b"m%d/code" % n)).decode() for n in range(MODULES)
        )
        self.outcomes: dict[str, Outcome] = {}

    def _standing(self) -> list[str]:
        """Return standing checks of what every function comes to, and let the first be red on the base."""
        files = {RepoPath(f"{where}/code".encode()): module(lines) for where, lines in self.code.items()}
        for where, lines in self.code.items():
            for name in lines:
                function = f"{where}.{name}"
                self.sums.wanted[f"stands-{function}"] = (function, value(function, files.__getitem__))
        names = list(self.sums.wanted)
        self.sums.wanted[names[0]] = (self.sums.wanted[names[0]][0], -1)
        return names

    def _work(self, number: int) -> Work:
        where, function = f"m{self.draw.randrange(MODULES)}", f"f{self.draw.randrange(SIZE)}"
        calls = self.code[where][function].split(" + ")[1:]
        constant = HELD if self.draw.random() < 0.04 else self.draw.randrange(1000)
        reached = _callers(self.code, f"{where}.{function}")
        retires = {f"stands-{one}" for one in reached} if self.draw.random() < 0.7 else set()
        if retires and number:
            retires |= {f"i{other}" for other in range(number) if self.draw.random() < 0.8}
        text = " + ".join([str(constant), *calls])
        return Work(f"i{number}", f"{where}.{function}", text, self.draw.random() < 0.15, tuple(sorted(retires)))

    async def agent(self, works: list[Work]) -> None:
        one, sums, draw = self.one, self.sums, self.draw
        for work in works:
            path = RepoPath(f"{work.function.partition('.')[0]}/code".encode())
            fork = one.main.fork([path])
            await one.clock.sleep(draw.random() * 4)
            change = rewrite(sums, fork, work.intent, work.function, work.text)
            if work.wrong:
                sums.wanted[work.intent] = (work.function, -5)
            priority = draw.choice([0, 100, 100, 100, 100])
            submission = one.submission(
                work.intent, change.operations, fork=fork, checks=(work.intent,), priority=priority
            )
            submission.intent = _retiring(submission.intent, work.retires)
            self.outcomes[work.intent] = await one.yard.submit(submission)

    def run(self) -> None:
        async def work() -> None:
            async with self.one.serving() as yard, asyncio.TaskGroup() as tasks:
                for number in range(8):
                    tasks.create_task(self.agent(self.works[number::8]), name=f"agent {number}")
            assert set(yard.waiting().values()) == {0}

        run(self.one, work())


def _retiring(intent: Intent, retires: tuple[str, ...]) -> Intent:
    return msgspec.structs.replace(intent, retires=retires)


def _callers(code: dict[str, dict[str, str]], function: str) -> set[str]:
    found = {function}
    while True:
        more = {
            f"{where}.{name}"
            for where, lines in code.items()
            for name, text in lines.items()
            if found.intersection(text.split(" + "))
        } - found
        if not more:
            return found
        found |= more


def blamed_rightly(fleet: Fleet, intent: str) -> bool:
    """Return whether an intent that went back for its checks was red alone on main, by what main itself is green by."""
    one, sums = fleet.one, fleet.sums
    alone, tip = "", one.base
    in_force = {name for name in sums.wanted if name.startswith("stands-")} - {next(iter(sums.wanted))}
    works = {work.intent: work for work in fleet.works}
    for event in one.events():
        if isinstance(event, events.TrainBuilt) and event.members == (intent,):
            alone, tip, held = event.tree, event.tip, set(in_force)
        if isinstance(event, events.Landed) and event.intent:
            in_force = in_force - set(works[event.intent].retires) | {event.intent}
    assert alone, intent
    tree, main = sums.read_of(alone), one.tree(tip)
    if sums.held(tree):
        return True
    judged = {intent, *(held - set(works[intent].retires))}
    red = {name for name in judged if value(sums.wanted[name][0], tree) != sums.wanted[name][1]}
    on_main = {name for name in red - {intent} if value(sums.wanted[name][0], main.read) != sums.wanted[name][1]}
    return bool(red - on_main)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.full) for seed in range(4, 80))])
def test_every_queue_drains_and_balances_blames_nobody_wrongly_and_loses_nothing(world: Make, seed: int) -> None:
    fleet = Fleet(world, seed)
    fleet.run()
    one, outcomes = fleet.one, fleet.outcomes
    assert len(outcomes) == len(fleet.works)
    landed = {name for name, outcome in outcomes.items() if isinstance(outcome, Landed)}
    assert landed == set(one.landed())
    sent_back = {name: outcome.reason for name, outcome in outcomes.items() if isinstance(outcome, SentBack)}
    assert len(landed) + len(sent_back) == len(outcomes)
    assert not {work.intent for work in fleet.works if work.wrong} & landed
    for name, reason in sent_back.items():
        assert not reason.startswith("flaky") or reason.startswith(f"flaky: {name} ")
        if reason.startswith(("checks failed", "held")):
            assert blamed_rightly(fleet, name), (name, reason)
    assert red_on_main(one, fleet.sums, sorted(one.contract.in_force)) == []
    assert one.events(events.CheckLost) == []
    retired = {name for work in fleet.works if work.intent in landed for name in work.retires}
    assert landed - retired <= set(one.contract.in_force)
    assert len(landed) > 10
    one.assert_whole()

"""Changes that are taken out of the lanes at every stage, and changes that interrupt a train."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from lane_world import World

from lanes.policy import Policy
from lanes.submission import Landed, Withdrawn
from qodebase import events
from qodebase.change import Change, Write
from qodebase.collision import Declined
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Redone, ReplayRequest, Tree
from qodebase.record import Usage

Make = Callable[..., World]
LANES = {"a": ("/a/**",), "b": ("/b/**",)}


class PatientRedo:
    """Redoes an intent when it is told to, and counts how often it was cut off."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.cut_off = 0

    async def redo(self, request: ReplayRequest, fork: Tree) -> Redone | Declined:
        self.asked.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cut_off += 1
            raise
        path = request.intent.scope[0]
        write = Write(path=path, content=fork.read(path) + request.intent.id.encode() + b"\n")
        return Redone(change=Change(base=fork.commit, operations=(write,)), model="m", usage=Usage())


class HeldChecker:
    """Says green, the first time only after `go`."""

    def __init__(self, inner: Callable[..., object]) -> None:
        self._inner = inner
        self.reached = asyncio.Event()
        self.go = asyncio.Event()

    async def check(self, tree: str, checks: tuple[str, ...]) -> Judgement:
        self.reached.set()
        await self.go.wait()
        return await self._inner(tree, checks)  # type: ignore[misc, no-any-return]


def hold_checks(one: World) -> HeldChecker:
    """Let the gate's checks wait."""
    held = HeldChecker(one.checker.check)
    one.gate._checker = held  # type: ignore[assignment]
    return held


def test_a_change_that_waits_in_its_lane_is_met_and_does_not_land(world: Make) -> None:
    one = world({b"a/1": b"", b"a/2": b""})

    async def work() -> None:
        async with one.serving() as yard:
            stays, goes = (yard.submit(one.submission(name, {b"a/" + name.encode(): b"1\n"})) for name in "12")
            yard.withdraw("2")
            assert isinstance(await stays, Landed)
            assert await goes == Withdrawn()

    asyncio.run(work())
    assert one.landed() == ["1"]
    one.assert_whole()


def test_a_change_that_is_being_judged_leaves_its_train_and_those_behind_it_are_coupled_anew(world: Make) -> None:
    one = world({b"a/1": b"one\ntwo\nthree\nfour\nfive\n"})
    first = one.submission("first", {b"a/1": b"ONE\ntwo\nthree\nfour\nfive\n"})
    second = one.submission("second", {b"a/1": b"one\ntwo\nthree\nfour\nFIVE\n"})

    async def work() -> None:
        held = hold_checks(one)
        async with one.serving() as yard:
            outcomes = [yard.submit(first), yard.submit(second)]
            await held.reached.wait()
            yard.withdraw("first")
            held.go.set()
            assert await outcomes[0] == Withdrawn()
            assert isinstance(await outcomes[1], Landed)

    asyncio.run(work())
    assert one.files() == {b"a/1": b"one\ntwo\nthree\nfour\nFIVE\n"}
    assert [event.members for event in one.events(events.TrainBuilt)] == [("first", "second"), ("second",)]  # type: ignore[attr-defined]
    one.assert_whole()


def test_a_change_that_is_landing_lands(world: Make) -> None:
    one = world({b"a/1": b""})
    sync = one._sync

    def withdraw_then_sync() -> None:
        one.yard.withdraw("late")
        sync()

    one.desk._sync = withdraw_then_sync
    (outcome,) = one.land_all(one.submission("late", {b"a/1": b"1\n"}))
    assert isinstance(outcome, Landed)
    assert one.landed() == ["late"]
    one.assert_whole()


def test_a_model_that_redoes_a_change_is_cut_off_and_what_waits_for_its_paths_goes_on(world: Make) -> None:
    redo = PatientRedo()
    one = world({b"a/1": b"base\n"}, redo=redo)
    stuck = one.submission("stuck", {b"a/1": b"mine\n"})
    ahead = one.submission("ahead", {b"a/1": b"theirs\n"})

    async def work() -> None:
        async with one.serving() as yard:
            await yard.submit(ahead)
            outcome = yard.submit(stuck)
            await redo.asked.wait()
            other = yard.submit(one.submission("waits", {b"a/1": b"theirs\nmore\n"}))
            yard.withdraw("stuck")
            assert await outcome == Withdrawn()
            assert isinstance(await other, Landed)

    asyncio.run(work())
    assert redo.cut_off == 1
    assert one.landed() == ["ahead", "waits"]
    assert one.files() == {b"a/1": b"theirs\nmore\n"}


def test_a_change_that_waits_for_a_replay_is_taken_out_when_the_replay_is_over(world: Make) -> None:
    redo = PatientRedo()
    one = world({b"a/1": b"base\n"}, redo=redo)
    stuck = one.submission("stuck", {b"a/1": b"mine\n"})
    ahead = one.submission("ahead", {b"a/1": b"theirs\n"})

    async def work() -> None:
        async with one.serving() as yard:
            await yard.submit(ahead)
            first = yard.submit(stuck)
            await redo.asked.wait()
            waits = yard.submit(one.submission("waits", {b"a/1": b"theirs\nmore\n"}))
            await asyncio.sleep(0)
            yard.withdraw("waits")
            redo.go.set()
            assert isinstance(await first, Landed)
            assert await waits == Withdrawn()

    asyncio.run(work())
    assert one.landed() == ["ahead", "stuck"]


def test_an_intent_without_a_change_in_the_lanes_cannot_be_withdrawn_and_that_is_no_fault(world: Make) -> None:
    one = world({b"a/1": b""})
    one.yard.withdraw("nobody")
    assert isinstance(one.land_all(one.submission("1", {b"a/1": b"1\n"}))[0], Landed)
    one.yard.withdraw("1")


@pytest.mark.parametrize("seed", range(4))
def test_withdrawn_at_any_moment_each_change_lands_or_does_not_and_never_both(world: Make, seed: int) -> None:
    draw = random.Random(seed)
    one = world({b"a/%d" % number: b"" for number in range(6)} | {b"b/1": b""}, lanes=LANES, policy=Policy(train_max=4))
    names = [f"i{number}" for number in range(40)]

    async def work() -> dict[str, object]:
        async with one.serving() as yard:
            outcomes = {}
            for name in names:
                paths = {b"a/%d" % draw.randrange(6), *([b"b/1"] if draw.random() < 0.2 else [])}
                submission = one.submission(
                    name, dict.fromkeys(paths, name.encode() + b"\n"), priority=draw.choice((0, 100))
                )
                outcomes[name] = yard.submit(submission)
                for _ in range(draw.randrange(4)):
                    await asyncio.sleep(0)
                if draw.random() < 0.5:
                    yard.withdraw(draw.choice(names[: len(outcomes)]))
            return {name: await outcome for name, outcome in outcomes.items()}

    found = asyncio.run(work())
    landed = [name for name, outcome in found.items() if isinstance(outcome, Landed)]
    assert sorted(one.landed()) == sorted(landed)
    assert Withdrawn() in found.values()
    one.assert_whole()


def test_a_change_of_priority_0_interrupts_the_train_that_is_being_judged_and_goes_first_and_alone(world: Make) -> None:
    one = world({b"a/1": b"", b"a/2": b"", b"a/3": b""})

    async def work() -> None:
        held = hold_checks(one)
        async with one.serving() as yard:
            outcomes = [yard.submit(one.submission(name, {b"a/" + name.encode(): b"1\n"})) for name in "12"]
            await held.reached.wait()
            outcomes.append(yard.submit(one.submission("3", {b"a/3": b"1\n"}, priority=0)))
            held.go.set()
            assert all([isinstance(await outcome, Landed) for outcome in outcomes])

    asyncio.run(work())
    assert one.landed() == ["3", "1", "2"]
    assert [event.members for event in one.events(events.TrainBuilt)] == [("1", "2"), ("3",), ("1", "2")]  # type: ignore[attr-defined]
    assert one.checker.ran == [("3",), ("1", "2")]


def test_a_change_of_priority_1_waits_for_the_train_that_is_being_judged(world: Make) -> None:
    one = world({b"a/1": b"", b"a/2": b""})

    async def work() -> None:
        held = hold_checks(one)
        async with one.serving() as yard:
            first = yard.submit(one.submission("1", {b"a/1": b"1\n"}))
            await held.reached.wait()
            second = yard.submit(one.submission("2", {b"a/2": b"1\n"}, priority=1))
            held.go.set()
            assert isinstance(await first, Landed)
            assert isinstance(await second, Landed)

    asyncio.run(work())
    assert one.landed() == ["1", "2"]


def test_one_change_of_priority_0_does_not_interrupt_another(world: Make) -> None:
    one = world({b"a/1": b"", b"a/2": b""})

    async def work() -> None:
        held = hold_checks(one)
        async with one.serving() as yard:
            first = yard.submit(one.submission("1", {b"a/1": b"1\n"}, priority=0))
            await held.reached.wait()
            second = yard.submit(one.submission("2", {b"a/2": b"1\n"}, priority=0))
            held.go.set()
            assert isinstance(await first, Landed)
            assert isinstance(await second, Landed)

    asyncio.run(work())
    assert one.checker.ran == [("1",), ("2",)]


def test_a_change_of_priority_0_over_several_lanes_interrupts_each_of_them(world: Make) -> None:
    one = world({b"a/1": b"", b"b/1": b"", b"a/2": b"", b"b/2": b""}, lanes=LANES)

    async def work() -> None:
        held = hold_checks(one)
        async with one.serving() as yard:
            slow = [yard.submit(one.submission(lane, {lane.encode() + b"/1": b"1\n"})) for lane in "ab"]
            await held.reached.wait()
            await asyncio.sleep(0)
            urgent = yard.submit(one.submission("both", {b"a/2": b"1\n", b"b/2": b"1\n"}, priority=0))
            held.go.set()
            assert all([isinstance(await outcome, Landed) for outcome in (*slow, urgent)])

    asyncio.run(work())
    assert one.landed()[0] == "both"
    one.assert_whole()


def test_checks_are_not_interrupted_for_a_path_that_only_looks_alike(world: Make) -> None:
    one = world({b"a/1": b"", b"b/1": b""}, lanes=LANES)

    async def work() -> None:
        held = hold_checks(one)
        async with one.serving() as yard:
            slow = yard.submit(one.submission("slow", {b"a/1": b"1\n"}))
            await held.reached.wait()
            urgent = yard.submit(one.submission("urgent", {b"b/1": b"1\n"}, priority=0))
            held.go.set()
            assert isinstance(await slow, Landed)
            assert isinstance(await urgent, Landed)

    asyncio.run(work())
    assert sorted(one.checker.ran) == [("slow",), ("urgent",)]
    assert one.main.read(RepoPath(b"a/1")) == b"1\n"


@pytest.mark.parametrize("lane", ["a", "b"])
def test_a_change_of_priority_0_in_one_of_its_lanes_interrupts_a_change_over_several(world: Make, lane: str) -> None:
    one = world({b"a/1": b"", b"b/1": b"", b"a/2": b"", b"b/2": b""}, lanes=LANES)

    async def work() -> None:
        held = hold_checks(one)
        async with one.serving() as yard:
            both = yard.submit(one.submission("both", {b"a/1": b"1\n", b"b/1": b"1\n"}))
            await held.reached.wait()
            urgent = yard.submit(one.submission("urgent", {lane.encode() + b"/2": b"1\n"}, priority=0))
            held.go.set()
            assert all([isinstance(await outcome, Landed) for outcome in (both, urgent)])

    asyncio.run(work())
    assert one.landed() == ["urgent", "both"]
    one.assert_whole()

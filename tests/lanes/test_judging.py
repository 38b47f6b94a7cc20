"""Reds and flakes: who is held to what, and how few runs it takes to find out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from code_world import Read, Sums, code_world, land_in_turn, module, red_on_main, run, submit, value
from lane_world import World

from lanes.policy import Policy
from lanes.submission import Landed, Outcome, SentBack, Withdrawn
from lanes.train import Train
from qodebase import events
from qodebase.clock import VirtualClock

Make = Callable[..., World]
CODE = {f"a{number}": {"f": str(number)} for number in range(8)}


def judged(one: World, of: str = "") -> list[events.Judged]:
    return [event for event in one.events(events.Judged) if isinstance(event, events.Judged) and event.of == of]


def test_a_member_that_is_red_by_its_own_check_is_found_without_a_run_of_its_own(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums, lanes={})
    submissions = [submit(one, sums, f"i{number}", f"a{number}.f", "20") for number in range(8)]
    sums.wanted["i3"] = ("a3.f", 99)
    outcomes = one.land_all(*submissions)
    assert [type(outcome) for outcome in outcomes] == [*[Landed] * 3, SentBack, *[Landed] * 4]
    assert [(event.verdict, event.runs) for event in judged(one)] == [("red", 2), ("green", 0), ("red", 0)]


def test_a_check_that_flips_on_main_blames_nobody_and_is_not_asked_again(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE | {"s": {"f": "a1.f + -1 + a2.f"}}, sums, standing=["shaky"])
    sums.wanted["shaky"] = ("s.f", 2)
    calls = [0]

    def flaky(name: str, read: Read) -> bool:
        calls[0] += name == "shaky"
        return name == "shaky" and calls[0] in (2, 5, 7)

    sums.flaky = flaky
    steps = [lambda at=at: submit(one, sums, f"i{at}", f"a{at}.f", f"{at} + 0") for at in (1, 2)]
    outcomes = land_in_turn(one, *steps)
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    flakes = [(event.checks, event.on_main) for event in one.events(events.Flaky) if isinstance(event, events.Flaky)]
    assert flakes == [(("shaky",), True)]
    assert [event.flake for event in judged(one)] == [True, True]
    assert [event.runs for event in judged(one, "main")] == [3]


@pytest.mark.parametrize("guilty", [0, 3, 6])
def test_of_several_the_one_that_makes_a_check_of_others_flip_is_found_and_goes_back(world: Make, guilty: int) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums, lanes={}, standing=["stands"])
    sums.wanted["stands"] = ("a7.f", 7)
    asked = [0]

    def flaky(name: str, read: Read) -> bool:
        if name != "stands":
            return False
        values = [value(f"a{at}.f", read) for at in range(8)]
        if values[guilty] != guilty + 100:
            return False
        asked[0] += 1
        return asked[0] % 2 == 1

    sums.flaky = flaky
    outcomes = one.land_all(*(submit(one, sums, f"i{at}", f"a{at}.f", str(at + 100)) for at in range(7)))
    sent_back = [at for at, outcome in enumerate(outcomes) if isinstance(outcome, SentBack)]
    assert sent_back == [guilty]
    assert outcomes[guilty].reason.startswith("flaky: stands came out red and green")  # type: ignore[union-attr]
    assert {event.on_main for event in one.events(events.Flaky)} == {False}  # type: ignore[attr-defined]


def test_a_held_train_is_split_and_only_the_held_member_goes_back(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums, lanes={})
    sums.held = lambda read: value("a2.f", read) == 102
    outcomes = one.land_all(*(submit(one, sums, f"i{at}", f"a{at}.f", str(at + 100)) for at in range(5)))
    assert [type(outcome) for outcome in outcomes] == [Landed, Landed, SentBack, Landed, Landed]
    assert outcomes[2] == SentBack(reason="held by the gate:\na person looks at it")


def test_a_loss_whose_bisection_is_interrupted_is_found_by_the_next_judgement(world: Make) -> None:
    sums = Sums(charge_s=5.0)
    code = {"a": {"f": "1"}, "b": {"f": "3"}, "c": {"f": "2"}}
    policy = Policy(prefetch=False)
    one = code_world(world, code, sums, lanes={}, standing=["stands"], policy=policy, clock=VirtualClock())
    sums.wanted["stands"] = ("b.f", 3)
    theirs = []
    bisecting = asyncio.Event()

    def hear(event: events.Event) -> None:
        if isinstance(event, events.Judged) and event.of == "main" and "stands" in event.failed:
            bisecting.set()

    async def work() -> None:
        async with one.serving() as yard:
            assert isinstance(await yard.submit(submit(one, sums, "x", "a.f", "10")), Landed)
            theirs.append(one.foreign({b"b/code": b"f = 4\n"}))
            assert isinstance(await yard.submit(submit(one, sums, "y", "a.f", "10 + 0")), Landed)
            one.listeners.append(hear)
            slow = yard.submit(submit(one, sums, "slow", "a.f", "4 + 6"))
            await bisecting.wait()
            await one.clock.sleep(1)
            urgent = yard.submit(submit(one, sums, "urgent", "c.f", "9", priority=0))
            assert isinstance(await urgent, Landed)
            assert isinstance(await slow, Landed)

    run(one, work())
    (lost,) = one.events(events.CheckLost)
    assert (lost.check, [lost.commit]) == ("stands", theirs)  # type: ignore[attr-defined]
    assert "stands" not in one.contract.in_force


def test_nobody_is_blamed_for_a_tree_that_takes_back_what_a_person_put_on_main(world: Make) -> None:
    sums = Sums(charge_s=5.0)
    code = {"a": dict.fromkeys("fmnog", "1"), "b": {"s": "1"}, "c": {"f": "1"}}
    one = code_world(world, code, sums, standing=["stands"], clock=VirtualClock())
    sums.wanted["stands"] = ("b.s", 1)

    async def work() -> None:
        async with one.serving() as yard:
            assert isinstance(await yard.submit(submit(one, sums, "first", "c.f", "3")), Landed)
            beside = yard.submit(submit(one, sums, "beside", "c.f", "3 + 0"))
            await one.clock.sleep(1)
            outcome = yard.submit(submit(one, sums, "x", "a.f", "10"))
            await one.clock.sleep(1)
            a = module(dict.fromkeys("fmno", "1") | {"g": "0"})
            one.foreign({b"a/code": a, b"b/code": module({"s": "1 + a.g"})})
            assert isinstance(await beside, Landed)
            assert isinstance(await outcome, Landed)

    run(one, work())
    assert one.files()[b"a/code"] == module({"f": "10", **dict.fromkeys("mno", "1"), "g": "0"})
    assert red_on_main(one, sums, ["stands", "x"]) == []
    one.assert_whole()


def test_a_check_that_flipped_on_a_longer_train_is_shaken_on_its_part_though_a_member_was_withdrawn(
    world: Make,
) -> None:
    sums = Sums(charge_s=1.0)
    policy = Policy(prefetch=False)
    one = code_world(world, CODE, sums, lanes={}, standing=["stands"], policy=policy, clock=VirtualClock())
    sums.wanted["stands"] = ("a7.f", 7)
    asked = [0]

    def flaky(name: str, read: Read) -> bool:
        if name != "stands" or [value(f"a{at}.f", read) for at in range(8)][2] != 102:
            return False
        asked[0] += 1
        return asked[0] in (1, 5)

    sums.flaky = flaky

    def hear(event: events.Event) -> None:
        if isinstance(event, events.TrainBuilt) and event.members == ("i2", "i3"):
            one.yard.withdraw("i3")

    one.listeners.append(hear)
    submissions = [submit(one, sums, f"i{at}", f"a{at}.f", str(at + 100)) for at in range(4)]

    async def work() -> list[Outcome]:
        async with one.serving() as yard:
            return [await future for future in [yard.submit(submission) for submission in submissions]]

    assert [type(outcome) for outcome in run(one, work())] == [Landed, Landed, SentBack, Withdrawn]


def test_two_judgements_that_each_ask_for_the_tree_of_the_other_both_come_to_an_end(world: Make) -> None:
    sums = Sums(charge_s=5.0)
    one = code_world(world, CODE, sums, standing=["stands"], clock=VirtualClock())
    sums.wanted["stands"] = ("a1.f", 1)
    submission = submit(one, sums, "i1", "a1.f", "1 + 0")
    trees: list[str] = []

    async def judged_alone(train: Train) -> None:
        trees.append(await one.desk.tree_with(train.edits))
        await one.judge.judge(train, trees[-1])

    async def work() -> None:
        empty, train = Train(name="e", lane="a1", base=one.base), Train(name="t", lane="a1", base=one.base)
        assert one.builder.couple(train, submission) is None
        await judged_alone(empty)
        one.contract.read("stands", None)
        one.gate._trees.clear()
        sums.flaky = lambda name, read: name == "stands"
        async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
            tasks.create_task(judged_alone(train))
            await one.clock.sleep(3)
            tasks.create_task(judged_alone(empty))
            await one.clock.sleep(3)
            one.foreign({b"a1/code": module({"f": "1 + 0"})})
            one.trunk.refresh()

    run(one, work())
    assert trees[0] == trees[2] != trees[1]

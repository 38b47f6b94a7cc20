"""The next train, made while one is at the gate, and model replays inside and beside a lane."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import pytest
from code_world import Rewrites, RewritesAhead, Sums, code_world, module, run, submit
from lane_world import World

from lanes.policy import Policy
from lanes.submission import Landed, Outcome, SentBack, Withdrawn
from qodebase import events
from qodebase.change import Change
from qodebase.clock import VirtualClock
from qodebase.ports import Postponed, ReplayRequest, Tree

Make = Callable[..., World]
CODE = {"a": {"f": "1", "g": "2", "h": "6"}, "b": {"f": "3"}, "c": {"f": "4"}, "d": {"f": "5"}}
LINES = {"x": ("a.f", "10"), "y": ("a.g", "20"), "z": ("b.f", "30"), "w": ("c.f", "40"), "v": ("a.h", "50")}
CHARGE_S, REPLAY_S = 5.0, 20.0


def made(world: Make, policy: Policy, kind: type[Rewrites] = RewritesAhead, **more: float) -> tuple[World, Rewrites]:
    sums = Sums(charge_s=CHARGE_S)
    redo = kind(LINES, sums, more.get("replay_s", REPLAY_S))
    return code_world(world, CODE, sums, lanes={}, policy=policy, redo=redo, clock=VirtualClock()), redo


def land(one: World, redo: Rewrites, *groups: str) -> dict[str, tuple[Outcome, float]]:
    """Hand groups of changes in, made on the base, a second apart; return what became of each, and when."""
    found: dict[str, tuple[Outcome, float]] = {}

    def ended(name: str, future: asyncio.Future[Outcome]) -> None:
        found[name] = future.result(), one.clock.now()

    async def work() -> None:
        submissions = {name: submit(one, redo.sums, name, *LINES[name]) for group in groups for name in group}
        async with one.serving() as yard:
            futures = []
            for group in groups:
                for name in group:
                    futures.append(yard.submit(submissions[name]))
                    futures[-1].add_done_callback(partial(ended, name))
                await one.clock.sleep(1)
            for future in futures:
                await future

    run(one, work())
    one.assert_whole()
    return found


def built(one: World) -> list[tuple[tuple[str, ...], bool]]:
    return [(event.members, event.guessed) for event in one.events(events.TrainBuilt)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("prefetch", "seconds"), [(True, 26.0), (False, 30.0)])
def test_a_replay_begins_on_what_the_train_at_the_gate_will_leave(world: Make, prefetch: bool, seconds: float) -> None:
    one, redo = made(world, Policy(prefetch=prefetch))
    found = land(one, redo, "x", "y")
    first, second = (found[name][0] for name in "xy")
    assert isinstance(first, Landed)
    assert isinstance(second, Landed)
    assert found["y"][1] == seconds
    assert len(redo.asked) == 1
    assert redo.asked[0].since == ("x",)
    record = one.record("y")
    assert (record.base, record.replay, record.usage.cost_usd) == (first.commit, 1, 0.5)
    assert one.events(events.Wasted) == []


@pytest.mark.parametrize(("replay_s", "cost"), [(2.0, 0.5), (20.0, None)], ids=["answered", "under way"])
def test_a_replay_whose_prompt_named_a_change_that_did_not_land_is_thrown_away_and_counted(
    world: Make, replay_s: float, cost: float | None
) -> None:
    one, redo = made(world, Policy(), replay_s=replay_s)
    assert isinstance(redo, RewritesAhead)
    redo.sums.flaky = lambda name, read: name == "x"
    found = land(one, redo, "x", "y")
    assert isinstance(found["x"][0], SentBack)
    assert isinstance(found["y"][0], Landed)
    assert redo.ahead == ["y"]
    assert len(redo.asked) == 1
    (wasted,) = one.events(events.Wasted)
    assert (wasted.intent, wasted.calls, wasted.cost_usd) == ("y", 1, cost)  # type: ignore[attr-defined]
    record = one.record("y")
    assert (record.replay, record.usage.calls, record.collisions) == (0, 1, ())


def test_a_change_that_is_withdrawn_while_it_is_redone_on_a_guess_leaves_the_lane_in_peace(world: Make) -> None:
    one, redo = made(world, Policy())

    async def work() -> list[Outcome]:
        async with one.serving() as yard:
            submissions = [submit(one, redo.sums, name, *LINES[name]) for name in "xyz"]
            futures = [yard.submit(submissions[0])]
            await one.clock.sleep(1)
            futures.append(yard.submit(submissions[1]))
            await one.clock.sleep(1)
            yard.withdraw("y")
            futures.append(yard.submit(submissions[2]))
            return [await future for future in futures]

    first, second, third = run(one, work())
    assert isinstance(first, Landed)
    assert second == Withdrawn()
    assert isinstance(third, Landed)


def test_a_guess_that_is_wrong_elsewhere_leaves_the_replay_as_it_is(world: Make) -> None:
    one, redo = made(world, Policy())
    redo.sums.flaky = lambda name, read: name == "z"
    found = land(one, redo, "wxz", "y")
    assert [type(found[name][0]) for name in "wxzy"] == [Landed, Landed, SentBack, Landed]
    assert len(redo.asked) == 1
    assert one.events(events.Wasted) == []


@pytest.mark.parametrize("kind", [Rewrites, RewritesAhead])
def test_the_next_train_is_used_as_it_was_made_where_the_guess_was_right(world: Make, kind: type[Rewrites]) -> None:
    one, redo = made(world, Policy(), kind)
    found = land(one, redo, "x", "z", "w", "y")
    assert all(isinstance(outcome, Landed) for outcome, _ in found.values())
    assert built(one)[:2] == [(("x",), False), (("z", "w"), True)]
    assert len(redo.asked) == 1


def test_the_next_train_is_made_again_where_the_one_before_it_did_not_land(world: Make) -> None:
    one, redo = made(world, Policy())
    redo.sums.flaky = lambda name, read: name == "x"
    found = land(one, redo, "x", "zw")
    assert [type(found[name][0]) for name in "xzw"] == [SentBack, Landed, Landed]
    assert built(one) == [(("x",), False), (("z", "w"), False)]


def test_a_lane_that_redoes_inside_waits_for_the_model(world: Make) -> None:
    one, redo = made(world, Policy(train_max=1, prefetch=False, inside=True))
    found = land(one, redo, "x", "y", "z")
    assert one.landed() == ["x", "y", "z"]
    assert [found[name][1] for name in "xyz"] == [5.0, 30.0, 35.0]
    beside, other = made(world, Policy(train_max=1, prefetch=False))
    found = land(beside, other, "x", "y", "z")
    assert [found[name][1] for name in "xyz"] == [5.0, 30.0, 10.0]


def test_two_that_collide_with_one_ahead_are_redone_one_behind_the_other(world: Make) -> None:
    one, redo = made(world, Policy())
    found = land(one, redo, "x", "y", "v")
    assert all(isinstance(outcome, Landed) for outcome, _ in found.values())
    assert [asked.intent.id for asked in redo.asked] == ["y", "v"]
    assert one.landed() == ["x", "y", "v"]
    assert one.events(events.Wasted) == []


def test_one_that_interrupts_undoes_the_train_that_was_made_ahead_too(world: Make) -> None:
    one, redo = made(world, Policy())

    async def work() -> list[Outcome]:
        async with one.serving() as yard:
            first = [submit(one, redo.sums, name, *LINES[name]) for name in "xzy"]
            urgent = submit(one, redo.sums, "w", *LINES["w"], priority=0)
            futures = [yard.submit(first[0])]
            await one.clock.sleep(1)
            futures += [yard.submit(one_more) for one_more in first[1:]]
            await one.clock.sleep(1)
            futures.append(yard.submit(urgent))
            return [await future for future in futures]

    assert all(isinstance(outcome, Landed) for outcome in run(one, work()))
    assert one.landed()[0] == "w"
    one.assert_whole()


def test_a_paused_lane_begins_no_train_and_a_drained_one_ends_what_it_has(world: Make) -> None:
    one, redo = made(world, Policy())
    seen: list[tuple[str, float]] = []

    async def work() -> None:
        async with one.serving() as yard:
            submissions = [submit(one, redo.sums, name, *LINES[name]) for name in "xzw"]
            yard.pause("main")
            futures = [yard.submit(submissions[0])]
            await one.clock.sleep(50)
            assert yard.waiting() == {"main": 1}
            yard.go_on("main")
            yard.drain("main")
            futures += [yard.submit(submission) for submission in submissions[1:]]
            await futures[0]
            seen.append(("x", one.clock.now()))
            await one.clock.sleep(50)
            assert yard.waiting() == {"main": 2}
            yard.go_on("main")
            for future in futures[1:]:
                assert isinstance(await future, Landed)
            seen.append(("zw", one.clock.now()))

    run(one, work())
    assert seen == [("x", 55.0), ("zw", 110.0)]


def test_a_drained_lane_brings_to_its_end_what_a_model_must_redo_first(world: Make) -> None:
    one, redo = made(world, Policy(prefetch=False))

    async def work() -> list[bool]:
        async with one.serving() as yard:
            submissions = [submit(one, redo.sums, name, *LINES[name]) for name in "xyw"]
            futures = [yard.submit(submission) for submission in submissions[:2]]
            yard.drain("main")
            futures.append(yard.submit(submissions[2]))
            await one.clock.sleep(100)
            ended = [future.done() for future in futures]
            yard.go_on("main")
            assert all([isinstance(await future, Landed) for future in futures])
            return ended

    assert run(one, work()) == [True, True, False]


def test_a_paused_lane_that_is_drained_brings_to_its_end_what_it_has(world: Make) -> None:
    one, redo = made(world, Policy())

    async def work() -> list[bool]:
        async with one.serving() as yard:
            yard.pause("main")
            futures = [yard.submit(submit(one, redo.sums, "x", *LINES["x"]))]
            await one.clock.sleep(1)
            yard.drain("main")
            futures.append(yard.submit(submit(one, redo.sums, "w", *LINES["w"])))
            await one.clock.sleep(50)
            return [future.done() for future in futures]

    assert run(one, work()) == [True, False]


def test_one_that_interrupts_does_not_give_up_the_last_train_of_a_lane_that_is_paused(world: Make) -> None:
    one, redo = made(world, Policy())

    async def work() -> list[bool]:
        async with one.serving() as yard:
            futures = [yard.submit(submit(one, redo.sums, "x", *LINES["x"]))]
            await one.clock.sleep(1)
            yard.pause("main")
            futures.append(yard.submit(submit(one, redo.sums, "w", *LINES["w"], priority=0)))
            await one.clock.sleep(50)
            ended = [future.done() for future in futures]
            yard.go_on("main")
            await futures[1]
            return ended

    assert run(one, work()) == [True, False]


def test_one_whose_replay_on_a_guess_came_to_nothing_does_not_overtake_the_one_ahead(world: Make) -> None:
    one, redo = made(world, Policy())

    async def work() -> None:
        async with one.serving() as yard:
            submissions = [submit(one, redo.sums, name, *LINES[name]) for name in "xyw"]
            submissions[2].intent = msgspec.structs.replace(submissions[2].intent, priority=0)
            futures = []
            for submission in submissions:
                futures.append(yard.submit(submission))
                await one.clock.sleep(1)
            assert all([isinstance(await future, Landed) for future in futures])

    run(one, work())
    assert one.landed() == ["w", "x", "y"]


class AtTheCap(RewritesAhead):
    """May not ask a model."""

    async def redo(self, request: ReplayRequest, fork: Tree) -> Postponed:  # type: ignore[override]
        return Postponed(why="the cost cap is reached")

    async def redo_ahead(
        self, request: ReplayRequest, fork: Tree, settled: Callable[[Change], Awaitable[Change | None]]
    ) -> Postponed:
        return Postponed(why="the cost cap is reached")


@pytest.mark.parametrize(("red", "became"), [("x", Landed), ("", Postponed)])
def test_at_the_cap_a_change_that_collides_with_a_guess_is_given_up_only_where_that_comes_true(
    world: Make, red: str, became: type[Outcome]
) -> None:
    one, redo = made(world, Policy(), AtTheCap)
    redo.sums.flaky = lambda name, read: name == red
    found = land(one, redo, "x", "y")
    assert isinstance(found["y"][0], became)
    assert one.events(events.Wasted) == []


def test_a_change_that_others_moved_under_at_the_gate_does_not_collide_with_itself(world: Make) -> None:
    sums = Sums(charge_s=CHARGE_S)
    redo = RewritesAhead({"x": ("a.f", "10")}, sums)
    one = code_world(world, {"a": dict.fromkeys("fmnog", "1")}, sums, lanes={}, redo=redo, clock=VirtualClock())

    async def work() -> None:
        async with one.serving() as yard:
            outcome = yard.submit(submit(one, sums, "x", "a.f", "10"))
            await one.clock.sleep(1)
            one.foreign({b"a/code": module(dict.fromkeys("fmno", "1") | {"g": "2"})})
            assert isinstance(await outcome, Landed)

    run(one, work())
    assert redo.asked == []
    assert one.events(events.Wasted) == []
    assert one.record("x").usage.cost_usd == 0
    one.assert_whole()

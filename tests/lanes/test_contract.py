from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
import pytest
from code_world import Sums, code_world, land_in_turn, made_code, red_on_main, run, submit
from lane_world import World

from lanes.contract import Contract
from lanes.policy import Policy
from lanes.submission import Landed, SentBack, Submission
from qodebase import events
from qodebase.change import Change, Write
from qodebase.clock import VirtualClock
from qodebase.events import Event
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath

Make = Callable[..., World]
CODE = {"a": {"f": "1", "g": "2"}, "b": {"f": "a.f + 1", "g": "5"}, "c": {"f": "7", "g": "8"}}
A = RepoPath(b"a/code")


def judged(one: World, of: str = "") -> list[events.Judged]:
    return [event for event in one.events(events.Judged) if isinstance(event, events.Judged) and event.of == of]


def only(one: World, kind: type[Event]) -> Event:
    (event,) = one.events(kind)
    return event


def retiring(submission: Submission, *checks: str) -> Submission:
    submission.intent = msgspec.structs.replace(submission.intent, retires=checks)
    return submission


def test_what_breaks_a_check_of_a_landed_intent_goes_back_naming_check_intent_and_commit(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums)
    first, second = land_in_turn(
        one,
        lambda: submit(one, sums, "first", "b.f", "a.f + 10"),
        lambda: submit(one, sums, "second", "a.f", "3"),
    )
    assert isinstance(first, Landed)
    assert isinstance(second, SentBack)
    assert second.reason == f"checks failed:\nbreaks first (of first, landed as {first.commit[:12]})\nfirst is wrong"
    assert red_on_main(one, sums, ["first"]) == []
    assert judged(one)[-1].runs == 2
    assert judged(one, "main") == []


def test_with_the_contract_off_it_lands_all_the_same(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums, policy=Policy(contract=False))
    land_in_turn(
        one,
        lambda: submit(one, sums, "first", "b.f", "a.f + 10"),
        lambda: submit(one, sums, "second", "a.f", "3"),
    )
    assert one.landed() == ["first", "second"]
    assert red_on_main(one, sums, ["first"]) == ["first"]


def test_an_intent_that_retires_a_check_may_break_it_and_ends_it_for_all(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums)
    land_in_turn(
        one,
        lambda: submit(one, sums, "first", "b.f", "a.f + 10"),
        lambda: retiring(submit(one, sums, "second", "a.f", "3"), "first"),
        lambda: submit(one, sums, "third", "a.g", "4"),
    )
    assert one.landed() == ["first", "second", "third"]
    assert set(one.contract.in_force) == {"second", "third"}
    assert all("first" not in names for _, names in sums.ran[1:])


def test_a_change_that_retires_a_check_of_its_own_train_comes_behind_it(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums, lanes={})
    first = submit(one, sums, "first", "b.f", "a.f + 10")
    one.land_all(first, retiring(submit(one, sums, "second", "a.f", "3"), "first"))
    built = [event.members for event in one.events(events.TrainBuilt) if isinstance(event, events.TrainBuilt)]
    assert built == [("first",), ("second",)]
    assert one.landed() == ["first", "second"]


def test_a_train_runs_its_own_checks_and_those_in_force_that_read_what_it_touches(world: Make) -> None:
    sums = Sums()
    sums.wanted |= {"a-stands": ("a.g", 2), "b-stands": ("b.f", 2), "c-stands": ("c.f", 7)}
    one = code_world(world, CODE, sums, standing=["a-stands", "b-stands", "c-stands"])
    land_in_turn(one, lambda: submit(one, sums, "x", "b.g", "6"), lambda: submit(one, sums, "y", "a.g", "1 + 1"))
    assert [names for _, names in sums.ran] == [
        ("a-stands", "b-stands", "c-stands"),
        ("b-stands", "x"),
        ("a-stands", "b-stands", "y"),
    ]
    assert [event.checks for event in judged(one, "base")] == [3]


def test_nobody_is_spared_a_check_by_one_behind_it_that_ends_the_check_and_does_not_land(world: Make) -> None:
    sums = Sums()
    sums.wanted["stands"] = ("a.f", 1)
    code = {"a": {"f": "1"}, "b": {"g": "2"}}
    one = code_world(world, code, sums, lanes={}, standing=["stands"], shared={b"index": "sorted-index"})
    breaks = submit(one, sums, "breaks", "a.f", "10")
    ends = retiring(submit(one, sums, "ends", "b.g", "5"), "stands")
    line = Write(path=RepoPath(b"index"), content=b"- `a` `f` function\n")
    ends.change = Change(base=ends.change.base, operations=(*ends.change.operations, line))
    ends.fork = one.fork(b"b/code")
    one.foreign({b"index": b"no newline at the end"})
    outcomes = one.land_all(breaks, ends)
    assert [isinstance(outcome, SentBack) for outcome in outcomes] == [True, True]
    assert red_on_main(one, sums, sorted(one.contract.in_force)) == []


def test_a_standing_check_that_is_red_on_the_base_is_never_in_force_and_named_once(world: Make) -> None:
    sums = Sums()
    sums.wanted |= {"bad": ("a.f", 99), "good": ("a.g", 2)}
    one = code_world(world, CODE, sums, standing=["bad", "good"])
    land_in_turn(one, lambda: submit(one, sums, "x", "a.f", "4"), lambda: submit(one, sums, "y", "a.f", "5"))
    never = only(one, events.NeverInForce)
    assert isinstance(never, events.NeverInForce)
    assert never.checks == ("bad",)
    assert one.landed() == ["x"]
    assert set(one.contract.in_force) == {"good", "x"}


def test_a_check_that_a_person_breaks_on_main_is_a_loss_bisected_and_blames_nobody(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums)
    theirs: list[CommitId] = []

    def by_a_person() -> CommitId:
        theirs.append(one.foreign({b"a/code": b"f = 50\ng = 2\n"}))
        return theirs[0]

    owner, _, *_, last, later = land_in_turn(
        one,
        lambda: submit(one, sums, "owner", "b.f", "a.f + 10"),
        lambda: submit(one, sums, "between", "c.f", "8"),
        by_a_person,
        lambda: submit(one, sums, "c0", "c.f", "20"),
        lambda: submit(one, sums, "c1", "c.f", "20"),
        lambda: submit(one, sums, "last", "b.g", "6"),
        lambda: submit(one, sums, "later", "b.f", "a.f + 2"),
    )
    assert isinstance(owner, Landed)
    assert isinstance(last, Landed)
    lost = only(one, events.CheckLost)
    assert isinstance(lost, events.CheckLost)
    assert (lost.check, lost.owner, lost.by, [lost.commit]) == ("owner", "owner", "", theirs)
    assert lost.cause.startswith("green until ")
    assert "owner" not in one.contract.in_force
    assert isinstance(later, Landed)


def test_the_contract_of_a_resumed_run_is_what_has_landed_without_what_was_ended_or_lost(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums)
    outcomes = one.land_all(*(submit(one, sums, name, f"{name}.g", "4") for name in "abc"))
    main = one.main_of(one.reader)
    landed = []
    for name, outcome in zip("abc", outcomes, strict=True):
        assert isinstance(outcome, Landed)
        retires = ("a",) if name == "b" else ()
        intent = Intent(id=name, asked="x", scope=(A,), checks=(name,), retires=retires)
        main.remember(name, outcome.commit, [A], before=one.base)
        landed.append((intent, outcome.commit))
    contract = Contract(Policy(), main, standing=["s", "never"], landed=landed, out={"never", "c"})
    assert {name: clause.position for name, clause in contract.in_force.items()} == {"s": 0, "b": 2}
    assert contract.unread == {"s", "b"}


@pytest.mark.parametrize("read_sets", [True, False])
def test_two_lanes_that_are_green_alone_are_not_red_together_unless_read_sets_are_off(
    world: Make, read_sets: bool
) -> None:
    sums = Sums(charge_s=1.0)
    policy = Policy(read_sets=read_sets)
    one = code_world(world, CODE, sums, policy=policy, clock=VirtualClock())

    async def work() -> list[object]:
        async with one.serving() as yard:
            futures = [yard.submit(submit(one, sums, *it)) for it in (("x", "b.f", "a.f + 10"), ("y", "a.f", "3"))]
            return [await future for future in futures]

    outcomes = run(one, work())
    assert [type(outcome) for outcome in outcomes] == ([SentBack, Landed] if read_sets else [Landed, Landed])
    assert red_on_main(one, sums, one.landed()) == ([] if read_sets else ["x"])


@pytest.mark.parametrize("read_sets", [True, False])
def test_on_a_codebase_of_functions_that_call_each_other_only_read_sets_keep_lanes_from_losing(
    world: Make, read_sets: bool
) -> None:
    draw = random.Random(4)
    code = made_code(draw, 6, 4, 0.4)
    calling = sum("." in text for lines in code.values() for text in lines.values())
    assert calling >= 0.3 * 6 * 4
    sums = Sums(charge_s=1.0)
    one = code_world(world, code, sums, policy=Policy(read_sets=read_sets), clock=VirtualClock())

    async def work() -> None:
        async with one.serving() as yard:
            for step in range(12):
                futures = []
                for number in range(8):
                    where = f"m{draw.randrange(6)}.f{draw.randrange(4)}"
                    old = code[where.split(".")[0]][where.split(".")[1]]
                    text = " + ".join([str(draw.randrange(1000)), *old.split(" + ")[1:]])
                    futures.append(yard.submit(submit(one, sums, f"i{step}-{number}", where, text)))
                    await one.clock.sleep(draw.random() / 4)
                for future in futures:
                    await future

    run(one, work())
    lost = red_on_main(one, sums, one.landed())
    assert (lost == []) is read_sets
    assert len(one.landed()) >= 15
    one.assert_whole()


def test_many_lanes_whose_checks_read_each_other_go_on(world: Make) -> None:
    sums = Sums(charge_s=1.0)
    names = [f"m{number}" for number in range(8)]
    code = {
        name: {"f": "1", "g": " + ".join(["0", *(f"{other}.f" for other in names[:at])])}
        for at, name in enumerate(names)
    }
    one = code_world(world, code, sums, clock=VirtualClock())

    async def work() -> None:
        async with one.serving() as yard:
            futures = [yard.submit(submit(one, sums, f"f-{name}", f"{name}.f", "1")) for name in names]
            futures += [yard.submit(submit(one, sums, f"g-{name}", f"{name}.g", code[name]["g"])) for name in names]
            for future in futures:
                assert isinstance(await future, Landed)

    run(one, work())
    one.assert_whole()


def test_a_check_that_is_ended_while_main_is_read_anew_holds_nobody(world: Make) -> None:
    sums = Sums(charge_s=5.0)
    policy = Policy(prefetch=False, read_sets=False)
    one = code_world(world, CODE, sums, standing=["stands"], policy=policy, clock=VirtualClock())
    sums.wanted["stands"] = ("b.g", 5)

    async def work() -> None:
        async with one.serving() as yard:
            assert isinstance(await yard.submit(submit(one, sums, "first", "c.f", "7 + 0")), Landed)
            one.foreign({b"c/code": b"f = 7 + 0\ng = 8 + 0\n"})
            beside = yard.submit(submit(one, sums, "beside", "c.f", "7 + 0 + 0"))
            await one.clock.sleep(3)
            ending = yard.submit(retiring(submit(one, sums, "ending", "a.g", "3"), "stands"))
            await beside
            free = yard.submit(submit(one, sums, "free", "b.g", "9"))
            assert isinstance(await ending, Landed)
            assert isinstance(await free, Landed)

    run(one, work())
    assert "stands" not in one.contract.in_force
    assert "stands" not in sums.ran[-1][1]


def test_what_checks_read_before_a_person_moved_main_again_is_not_taken_for_what_they_read_now(world: Make) -> None:
    sums = Sums(charge_s=5.0)
    code = {"a": {"g": "2"}, "b": {"s": "5"}, "c": {"f": "7"}, "d": {"f": "9"}}
    policy = Policy(prefetch=False)
    one = code_world(world, code, sums, standing=["stands"], policy=policy, clock=VirtualClock())
    one.trunk.living = True  # type: ignore[misc]
    sums.wanted["stands"] = ("b.s", 5)

    async def work() -> None:
        async with one.serving() as yard:
            assert isinstance(await yard.submit(submit(one, sums, "first", "c.f", "7 + 0")), Landed)
            beside = yard.submit(submit(one, sums, "beside", "c.f", "7 + 0 + 0"))
            await one.clock.sleep(2)
            slow = yard.submit(submit(one, sums, "slow", "d.f", "8"))
            one.foreign({b"b/code": b"s = 5 + 0\n"})
            await one.clock.sleep(4)
            one.foreign({b"b/code": b"s = 3 + a.g\n"})
            assert isinstance(await beside, Landed)
            assert isinstance(await slow, Landed)
            breaks = await yard.submit(submit(one, sums, "breaks", "a.g", "3"))
            assert isinstance(breaks, SentBack)
            assert "breaks stands" in breaks.reason

    run(one, work())
    assert red_on_main(one, sums, sorted(one.contract.in_force)) == []

"""Reds and flakes: who is held to what, and how few runs it takes to find out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from code_world import Read, Sums, code_world, land_in_turn, submit, value
from lane_world import World

from lanes.submission import Landed, SentBack
from qodebase import events

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
    assert [(event.verdict, event.runs) for event in judged(one)] == [("red", 2), ("green", 1), ("red", 0)]


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

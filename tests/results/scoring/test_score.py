"""The row of a setting, what passes, and what does not and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from dial_world import World

from qodebase.intent import Ending
from results.scoring.score import NotScored, score_run

A = "shop/a.py"
ONE_IS = "from shop.a import one\n\ndef test():\n    assert one() == {}\n"

NAMES = [
    *("share", "queue", "rules", "seed", "minutes", "touched", "collided", "conflicted", "refused_clean"),
    *("redone_by_merge", "redone_by_rule", "redone_by_model", "rule_refused", "wrong_redone", "wrong_fresh"),
    *("sent_back", "lost_own", "lost_in_landing", "passing", "required", "test_runs", "wait_p50_s", "wait_p99_s"),
    "clock",
]


def one_is(world: World, value: int) -> dict[str, str]:
    return {A: world.states[world.base][A].replace("return 1", f"return {value}")}


def test_the_row_has_the_dials_names_in_their_order(world: World) -> None:
    world.answer("task", one_is(world, 10))
    world.land("task")
    row = world.row()
    assert list(row) == NAMES
    assert (row["share"], row["queue"], row["rules"], row["seed"]) == (0.6, "lanes", "on", 1)


@pytest.mark.parametrize(("simulated", "clock"), [(True, "virtual"), (False, "real")])
def test_the_row_says_which_clock_its_times_are_of(tmp_path: Path, simulated: bool, clock: str) -> None:
    world = World(tmp_path / "run", {A: "def one():\n    return 1\n"}, simulated=simulated)
    world.answer("task", {A: "def one():\n    return 10\n"})
    assert world.row()["clock"] == clock


def test_a_score_says_how_many_answers_it_judged(world: World) -> None:
    world.answer("task", one_is(world, 10))
    world.land("task")
    assert world.score().judged_answers == {"judged_redone": 0, "judged_fresh": 1}


def test_an_intent_passes_where_all_its_hidden_tests_are_green_on_the_final_main(world: World) -> None:
    world.test("green", ONE_IS.format(10), intent="task")
    world.test("red", ONE_IS.format(11), intent="task")
    world.test("also green", ONE_IS.format(10), intent="twin")
    world.intent("twin")
    world.answer("task", one_is(world, 10))
    world.land("task")
    score = world.score()
    assert (score.passing, score.required) == (1, 2)
    (failing,) = score.failing
    assert (failing.intent, failing.why) == ("task", "lost own")
    assert failing.detail.endswith("red: AssertionError: ")


def test_every_intent_that_does_not_pass_is_named_with_its_reason(world: World) -> None:
    before = world.states[world.base][A]
    world.test("own", ONE_IS.format(10), intent="own")
    world.test("landing", "from shop.a import two\n\ndef test():\n    assert two() == 20\n", intent="landing")
    for name in ("refused", "silent", "waiting"):
        world.intent(name)
        world.test(name, "def test():\n    assert False\n", intent=name)
    world.answer("own", one_is(world, 11))
    world.land("own")
    world.answer("landing", {A: before.replace("return 2", "return 20")})
    world.land("landing", {A: world.states[world.tip][A]})
    world.end("refused", Ending.SENT_BACK, "checks failed")
    world.end("silent", Ending.NO_ANSWER, "empty")
    score = world.score()
    assert [(one.intent, one.why) for one in score.failing] == [
        ("refused", "not landed: sent back"),
        ("silent", "not landed: no answer"),
        ("waiting", "not landed: pending"),
        ("own", "lost own"),
        ("landing", "lost in landing"),
    ]
    assert [one.detail for one in score.failing][:3] == ["checks failed", "empty", ""]
    assert score.ledger.balanced
    row = score.row(share=0, queue="lanes", rules=True, seed=1)
    assert (row["passing"], row["required"], row["lost_own"], row["lost_in_landing"]) == (0, 5, 1, 1)


def test_a_hidden_test_that_a_landed_intent_retired_is_no_loss_and_does_not_pass(world: World) -> None:
    world.test("hidden", ONE_IS.format(10), intent="task")
    world.answer("task", one_is(world, 10))
    world.land("task")
    world.retires["later"] = ("hidden",)
    world.answer("later", one_is(world, 5))
    world.land("later")
    score = world.score()
    assert score.lost == ()
    assert [(one.intent, one.why) for one in score.failing] == [("task", "retired")]


def test_an_intent_without_hidden_tests_passes_where_it_landed(world: World) -> None:
    world.answer("landed", one_is(world, 10))
    world.land("landed")
    world.end("ended", Ending.REFUSED, "outside of its scope")
    assert [one.intent for one in world.score().failing] == ["ended"]


def test_a_main_that_left_the_base_cannot_be_scored(world: World) -> None:
    world.commit({A: "y = 1\n"})
    world.close()
    with pytest.raises(NotScored) as raised:
        score_run(world.folder, world.suite)
    assert "does not stand on the commit" in raised.value.message

"""Which answers are wrong, each judged on its own tree."""

from __future__ import annotations

from dial_world import World

from results.scoring.answers import Which

A = "shop/a.py"
ONE_IS = "from shop.a import one\n\ndef test():\n    assert one() == {}\n"
TWO_IS = "from shop.a import two\n\ndef test():\n    assert two() == {}\n"


def with_one(world: World, value: int) -> dict[str, str]:
    return {A: world.states[world.base][A].replace("return 1", f"return {value}")}


def ask_for_ten(world: World) -> None:
    """Ask for 10 from ``one``, seen by a check and by a hidden test, while ``two`` stays 2."""
    world.test("check", ONE_IS.format("10 or one() == 11"), intent="task", kind="check")
    world.test("hidden", ONE_IS.format(10), intent="task")
    world.test("two", TWO_IS.format(2))


def wrong(world: World) -> str:
    return world.score().judged[Which("task", 1, 0)].wrong


def test_a_right_answer_is_not_wrong(world: World) -> None:
    ask_for_ten(world)
    world.answer("task", with_one(world, 10))
    assert wrong(world) == ""


def test_an_answer_that_fails_its_own_check_is_wrong(world: World) -> None:
    ask_for_ten(world)
    world.answer("task", with_one(world, 12))
    assert wrong(world) == "check"


def test_an_answer_that_passes_its_checks_and_fails_a_hidden_test_is_wrong(world: World) -> None:
    ask_for_ten(world)
    world.answer("task", with_one(world, 11))
    assert wrong(world) == "hidden"


def test_an_answer_that_breaks_a_neighbour_is_wrong(world: World) -> None:
    ask_for_ten(world)
    files = with_one(world, 10)
    world.answer("task", {A: files[A].replace("return 2", "return 3")})
    assert wrong(world) == "neighbour"


def test_a_neighbour_that_was_red_on_the_state_shown_does_not_count(world: World) -> None:
    ask_for_ten(world)
    world.test("never", TWO_IS.format(99))
    world.answer("task", with_one(world, 10))
    assert wrong(world) == ""


def test_a_neighbour_that_the_intent_retires_does_not_count(world: World) -> None:
    ask_for_ten(world)
    world.test("old", ONE_IS.format(1))
    world.retires["task"] = ("old",)
    world.answer("task", with_one(world, 10))
    assert wrong(world) == ""


def test_an_answer_that_does_not_compile_fails_its_own_check(world: World) -> None:
    ask_for_ten(world)
    world.answer("task", {A: "def one(:\n"})
    score = world.score()
    judged = score.judged[Which("task", 1, 0)]
    assert judged.wrong == "check"
    assert [test.name for test in judged.neighbours] == ["two"]


def test_fresh_and_redone_answers_are_counted_apart_and_redone_ones_on_what_they_were_shown(world: World) -> None:
    ask_for_ten(world)
    world.answer("task", with_one(world, 12))
    world.answer("other", {A: world.states[world.base][A].replace("return 2", "return 20")})
    world.retires["other"] = ("two",)
    world.land("other")
    world.answer("task", {A: world.states[world.tip][A].replace("return 1", "return 11")}, replay=1)
    world.answer("task", {A: world.states[world.tip][A].replace("return 1", "return 10")}, replay=2)
    score = world.score()
    row = score.row(share=0, queue="lanes", rules=True, seed=1)
    assert (row["wrong_fresh"], row["wrong_redone"]) == (1, 1)
    assert score.judged[Which("task", 1, 1)].wrong == "hidden"
    assert score.judged[Which("task", 1, 2)].wrong == ""


def test_a_change_that_cannot_be_read_is_named_and_not_judged(world: World) -> None:
    ask_for_ten(world)
    world.answer("task", {"shop/gone.py": ""})
    score = world.score()
    assert score.judged == {}
    assert "shop/gone.py" in score.unread[Which("task", 1, 0)]

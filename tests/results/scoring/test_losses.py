"""Which checks main lost, where, and whose fault that is."""

from __future__ import annotations

from dial_world import World

from results.scoring.losses import Cause, Loss

A = "shop/a.py"
ONE_IS = "from shop.a import one\n\ndef test():\n    assert one() == {}\n"
TWO_IS = "from shop.a import two\n\ndef test():\n    assert two() == {}\n"


def text(world: World) -> str:
    return world.states[world.tip][A]


def only_loss(world: World) -> Loss:
    (loss,) = world.score().lost
    return loss


def right(world: World, intent: str = "task") -> None:
    """Land a right answer: ``one`` returns 10."""
    world.test(f"{intent}-hidden", ONE_IS.format(10), intent=intent)
    world.answer(intent, {A: text(world).replace("return 1", "return 10")})
    world.land(intent)


def test_nothing_is_lost_where_all_is_green(world: World) -> None:
    right(world)
    world.test("two", TWO_IS.format(2))
    score = world.score()
    assert score.lost == ()
    assert (score.passing, score.required) == (1, 1)


def test_a_hidden_test_that_is_red_on_its_own_tree_is_lost_own(world: World) -> None:
    world.test("hidden", ONE_IS.format(10), intent="task")
    world.answer("task", {A: text(world).replace("return 1", "return 11")})
    landed = world.land("task")
    loss = only_loss(world)
    assert (loss.check, loss.cause, loss.commit, loss.by) == ("hidden", Cause.OWN, landed, "task")
    assert loss.why == "red on its own tree"
    assert loss.told == "AssertionError: "


def test_a_merge_that_breaks_the_change_that_it_lands_is_lost_in_landing(world: World) -> None:
    world.test("hidden", ONE_IS.format(10), intent="task")
    world.answer("task", {A: text(world).replace("return 1", "return 10")})
    world.answer("mover", {A: text(world).replace("return 2", "return 20")})
    world.land("mover")
    landed = world.land("task", {A: text(world)})
    loss = only_loss(world)
    assert (loss.cause, loss.commit, loss.by) == (Cause.LANDING, landed, "task")


def test_a_later_merge_of_a_right_answer_that_breaks_it_is_lost_in_landing(world: World) -> None:
    before = text(world)
    right(world)
    world.answer("other", {A: before.replace("return 2", "return 20")}, base=world.base)
    landed = world.land("other")
    world.answer("unrelated", {"shop/b.py": "def far():\n    return 7\n"})
    world.land("unrelated")
    loss = only_loss(world)
    assert (loss.check, loss.cause, loss.commit, loss.by) == ("task-hidden", Cause.LANDING, landed, "other")


def test_a_later_merge_of_a_wrong_answer_is_the_models_fault(world: World) -> None:
    right(world)
    world.test("other-hidden", TWO_IS.format(20), intent="other")
    world.answer("other", {A: world.states[world.base][A].replace("return 2", "return 21")}, base=world.base)
    world.land("other")
    losses = {loss.check: loss for loss in world.score().lost}
    assert losses["task-hidden"].cause is Cause.OWN
    assert losses["task-hidden"].why == "the answer of other was wrong: hidden"


def test_an_answer_that_broke_the_check_on_the_state_that_it_was_shown_is_the_models_fault(world: World) -> None:
    right(world)
    world.answer("other", {A: text(world).replace("return 10", "return 1")})
    landed = world.land("other")
    loss = only_loss(world)
    assert (loss.cause, loss.commit, loss.by) == (Cause.OWN, landed, "other")
    assert "on the state that it was shown" in loss.why


def test_a_neighbour_that_was_green_on_the_base_is_lost_by_the_first_commit_that_breaks_it(world: World) -> None:
    before = text(world)
    world.test("two", TWO_IS.format(2))
    world.test("never", TWO_IS.format(99))
    right(world)
    world.answer("other", {A: before.replace('"between"', '"in between"')}, base=world.base)
    landed = world.land("other", {A: text(world).replace("return 2", "return 3")})
    loss = only_loss(world)
    assert (loss.check, loss.cause, loss.commit, loss.by) == ("two", Cause.LANDING, landed, "other")


def test_a_neighbour_that_a_wrong_answer_broke_is_lost_own(world: World) -> None:
    world.test("two", TWO_IS.format(2))
    world.answer("task", {A: text(world).replace("return 2", "return 3")})
    world.land("task")
    loss = only_loss(world)
    assert loss.cause is Cause.OWN
    assert loss.why == "the answer of task was wrong: neighbour"


def test_a_check_that_a_landed_intent_retires_is_not_lost(world: World) -> None:
    world.test("two", TWO_IS.format(2))
    world.retires["task"] = ("two",)
    world.answer("task", {A: text(world).replace("return 2", "return 3")})
    world.land("task")
    assert world.score().lost == ()


def test_a_check_is_lost_where_the_intent_that_retires_it_did_not_land(world: World) -> None:
    world.test("two", TWO_IS.format(2))
    world.retires["absent"] = ("two",)
    world.answer("task", {A: text(world).replace("return 2", "return 3")})
    world.land("task")
    assert only_loss(world).check == "two"


def test_hidden_tests_of_intents_that_did_not_land_are_not_lost(world: World) -> None:
    world.test("hidden", ONE_IS.format(10), intent="task")
    world.answer("task", {A: text(world).replace("return 1", "return 11")})
    world.refuse("task")
    score = world.score()
    assert score.lost == ()
    assert score.passing == 0


def test_own_checks_are_not_counted_as_lost(world: World) -> None:
    world.test("check", ONE_IS.format(10), intent="task", kind="check")
    world.answer("task", {A: text(world).replace("return 1", "return 11")})
    world.land("task")
    assert world.score().lost == ()


def test_the_first_red_commit_is_that_of_the_redness_that_remains(world: World) -> None:
    world.test("two", TWO_IS.format(2))
    base = text(world)
    for number, value in enumerate((3, 2, 4, 5)):
        world.answer(f"step-{number}", {A: base.replace("return 2", f"return {value}")})
        world.land(f"step-{number}")
    assert only_loss(world).by == "step-2"


def test_somebody_elses_commit_that_breaks_a_check_is_named_and_no_landing_lost_it(world: World) -> None:
    right(world)
    commit = world.foreign({A: text(world).replace("return 10", "return 0")})
    loss = only_loss(world)
    assert (loss.cause, loss.commit, loss.by) == (Cause.OWN, commit, "")
    assert loss.why == "somebody else's commit broke it"


def test_a_break_in_a_module_that_is_reached_over_another_one_is_found(world: World) -> None:
    world.foreign({"shop/c.py": "from . import a\n\n\ndef three():\n    return a.one() + 2\n"})
    world.test("three", "import shop.c\n\ndef test():\n    assert shop.c.three() == 12\n", intent="task")
    right(world, "task")
    world.answer("other", {"shop/b.py": "def far():\n    return 9\n"})
    landed = world.land("other", {A: text(world).replace("return 10", "return 0")})
    losses = world.score().lost
    assert {(loss.check, loss.commit) for loss in losses} == {("three", landed), ("task-hidden", landed)}


def test_a_check_of_several_tests_is_lost_once_and_in_landing_where_one_of_them_was(world: World) -> None:
    before = text(world)
    for source in (ONE_IS.format(10), TWO_IS.format(20), "def test():\n    pass\n"):
        world.test("hidden", source, intent="task")
    world.answer("task", {A: before.replace("return 1", "return 10")})
    world.land("task")
    world.answer("other", {A: before.replace('"between"', '"in between"')}, base=world.base)
    landed = world.land("other")
    loss = only_loss(world)
    assert (loss.check, loss.kind, loss.functions) == ("hidden", "hidden", ("test", "test"))
    assert (loss.cause, loss.commit) == (Cause.LANDING, landed)

"""What happened to an intent on its way to main, by the letter of each definition."""

from __future__ import annotations

import pytest
from dial_world import World

A = "shop/a.py"


def one_is(text: str, value: str) -> str:
    return text.replace("return 1", f"return {value}")


def two_is(text: str, value: str) -> str:
    return text.replace("return 2", f"return {value}")


def test_an_intent_is_touched_where_a_function_of_its_scope_changed_on_main_since_its_base(world: World) -> None:
    base = world.states[world.base][A]
    world.intent("hit", symbols=("shop/a.py#one",))
    world.intent("beside", symbols=("shop/a.py#two",))
    world.answer("hit", {A: two_is(base, "20")})
    world.answer("beside", {A: two_is(base, "22")})
    world.answer("mover", {A: one_is(base, "10")})
    world.land("mover")
    world.land("hit", {A: two_is(one_is(base, "10"), "20")})
    world.refuse("beside")
    facts = world.score().facts
    assert facts["hit"].touched
    assert facts["beside"].touched
    assert not facts["mover"].touched


def test_a_function_that_only_moved_in_its_file_did_not_change(world: World) -> None:
    base = world.states[world.base][A]
    world.intent("still", symbols=("shop/a.py#two",))
    world.answer("still", {A: two_is(base, "20")})
    world.answer("mover", {A: base.replace("LIMIT = 9", "LIMIT = 9\nMORE = 1")})
    world.land("mover")
    world.land("still", {A: two_is(base, "20").replace("LIMIT = 9", "LIMIT = 9\nMORE = 1")})
    facts = world.score().facts["still"]
    assert facts.collided
    assert not facts.touched


def test_without_symbols_the_scope_is_what_the_change_edits(world: World) -> None:
    base = world.states[world.base][A]
    world.answer("same", {A: one_is(base, "11")})
    world.answer("other", {A: two_is(base, "22")})
    world.answer("mover", {A: one_is(base, "10")})
    world.land("mover")
    world.land("other", {A: two_is(one_is(base, "10"), "22")})
    world.send_back("same", reason="collided and could not be redone")
    facts = world.score().facts
    assert facts["same"].touched
    assert not facts["other"].touched


def test_collided_and_conflicted_are_two_things(world: World) -> None:
    base = world.states[world.base][A]
    world.answer("apart", {A: two_is(base, "20")})
    world.answer("same", {A: one_is(base, "11")})
    world.answer("elsewhere", {"shop/b.py": "def far():\n    return 5\n"})
    world.answer("mover", {A: one_is(base, "10")})
    world.land("mover")
    world.meet("apart", "merge")
    world.land("apart", {A: two_is(one_is(base, "10"), "20")})
    world.land("elsewhere")
    world.send_back("same", reason="collided and could not be redone")
    facts = world.score().facts
    assert (facts["apart"].collided, facts["apart"].conflicted) == (True, False)
    assert (facts["same"].collided, facts["same"].conflicted) == (True, True)
    assert (facts["elsewhere"].collided, facts["elsewhere"].conflicted) == (False, False)
    assert (facts["mover"].collided, facts["mover"].conflicted) == (False, False)


def test_an_intent_conflicts_once_however_often_it_does(world: World) -> None:
    base = world.states[world.base][A]
    for number in (1, 2):
        world.answer("late", {A: one_is(world.states[world.tip][A], f"1{number}")}, attempt=number, base=world.tip)
        mover = f"mover-{number}"
        world.answer(
            mover, {A: world.states[world.tip][A].replace("def one():\n    return ", "def one():\n    return 7 + ")}
        )
        world.land(mover)
        world.send_back("late", attempt=number, reason="collided and could not be redone")
    assert base != world.states[world.tip][A]
    row = world.row()
    assert row["conflicted"] == 1
    assert row["sent_back"] == 2


def test_what_both_sides_made_alike_has_not_conflicted(world: World) -> None:
    base = world.states[world.base][A]
    for name in ("first", "second"):
        world.answer(name, {A: one_is(base, "10"), "shop/new.py": "NEW = 1\n"}, base=world.base)
    world.land("first")
    world.land("second")
    facts = world.score().facts["second"]
    assert facts.collided
    assert not facts.conflicted


def test_a_change_that_a_model_redid_conflicted_with_what_the_model_was_shown(world: World) -> None:
    base = world.states[world.base][A]
    world.answer("redone", {A: one_is(base, "11")})
    world.answer("mover", {A: one_is(base, "10")})
    world.land("mover")
    world.answer("redone", {A: one_is(base, "21")}, replay=1)
    world.land("redone", replay=1)
    facts = world.score().facts["redone"]
    assert facts.conflicted
    assert facts.redone_by == "model"


@pytest.mark.parametrize(
    ("steps", "by"), [(["merge"], "merge"), (["merge", "rule:clauses"], "rule"), (["rule:imports"], "rule"), ([], "")]
)
def test_redone_by_says_how_the_landed_bytes_arose(world: World, steps: list[str], by: str) -> None:
    world.answer("late", {A: two_is(world.states[world.base][A], "20")})
    for number, step in enumerate(steps):
        world.meet("late", step, path=f"shop/{number}.py")
    world.land("late")
    score = world.score()
    assert score.facts["late"].redone_by == by
    row = score.row(share=0, queue="single", rules=True, seed=1)
    assert [row[f"redone_by_{word}"] for word in ("merge", "rule", "model")] == [
        int(by == word) for word in ("merge", "rule", "model")
    ]


def test_a_replay_that_was_merged_again_is_the_models(world: World) -> None:
    world.answer("late", {A: two_is(world.states[world.base][A], "20")})
    world.answer("late", {A: two_is(world.states[world.base][A], "20")}, replay=1)
    world.meet("late", "merge", replay=1)
    world.land("late", replay=1)
    assert world.score().facts["late"].redone_by == "model"


def caller_and_renamed(world: World) -> None:
    """A new caller of a function in another file, and a landed change that renames that function."""
    world.answer("caller", {"shop/b.py": "from shop.a import one\n\n\ndef far():\n    return one()\n"})
    world.answer("renamer", {A: world.states[world.base][A].replace("def one()", "def uno()")})
    world.test(
        "caller", "from shop.b import far\n\ndef test():\n    assert far() == 1\n", intent="caller", kind="check"
    )
    world.land("renamer")


def test_refused_clean_is_red_after_a_clean_merge_of_a_change_that_is_green_alone(world: World) -> None:
    caller_and_renamed(world)
    world.refuse("caller")
    score = world.score()
    assert score.facts["caller"].refused_clean
    assert not score.facts["caller"].collided
    assert score.facts["caller"].rule_refused == 0


def test_a_change_that_is_red_alone_is_not_refused_clean(world: World) -> None:
    caller_and_renamed(world)
    world.test("more", "from shop.b import far\n\ndef test():\n    assert far() == 2\n", intent="caller", kind="check")
    world.refuse("caller")
    assert not world.score().facts["caller"].refused_clean


def test_a_hidden_test_that_is_red_alone_does_not_count_for_the_gate_never_sees_it(world: World) -> None:
    caller_and_renamed(world)
    world.test("hid", "from shop.b import far\n\ndef test():\n    assert far() == 2\n", intent="caller")
    world.refuse("caller")
    assert world.score().facts["caller"].refused_clean


def test_red_on_the_base_itself_is_no_merge(world: World) -> None:
    world.answer("alone", {A: one_is(world.states[world.base][A], "10")})
    world.refuse("alone")
    assert not world.score().facts["alone"].refused_clean


def two_rows(world: World) -> None:
    """Two changes that each add a row to one table, which a rule resolves; the first has landed."""
    table = "RATES = {\n    'a': 1,\n}\n"
    world.foreign({A: table})
    world.answer("late", {A: table.replace("}", "    'late': 2,\n}")})
    world.answer("first", {A: table.replace("}", "    'first': 3,\n}")})
    world.land("first")


def test_a_rule_result_that_the_gate_refused_is_counted(world: World) -> None:
    two_rows(world)
    world.refuse("late")
    facts = world.score().facts["late"]
    assert facts.conflicted
    assert facts.rule_refused == 1
    assert not facts.refused_clean


def test_a_red_train_that_is_split_refuses_nobody_who_lands_after_it(world: World) -> None:
    two_rows(world)
    world.answer("other", {"shop/b.py": "def far():\n    return 5\n"})
    world.judge(world.couple("late", "other"), "red")
    world.meet("late", "rule:table-rows")
    world.land("late")
    world.refuse("other")
    score = world.score()
    assert score.facts["late"].rule_refused == 0
    assert score.row(share=0, queue="lanes", rules=True, seed=1)["sent_back"] == 1


def test_a_change_that_no_replay_could_redo_was_not_refused_by_the_gate(world: World) -> None:
    two_rows(world)
    world.judge(world.couple("late"), "red")
    world.meet("late", "")
    world.send_back("late", reason="collided and could not be redone")
    assert world.score().facts["late"].rule_refused == 0


def test_members_in_front_of_it_in_its_train_count_as_main(world: World) -> None:
    table = "RATES = {\n    'a': 1,\n}\n"
    world.foreign({A: table})
    world.answer("ahead", {A: table.replace("}", "    'ahead': 3,\n}")})
    world.answer("late", {A: table.replace("}", "    'late': 2,\n}")})
    world.refuse("late", ahead=("ahead",))
    facts = world.score().facts["late"]
    assert facts.collided
    assert facts.rule_refused == 1


def test_a_train_that_was_coupled_on_a_guess_is_judged_on_what_landed_before_its_verdict(world: World) -> None:
    two_rows(world)
    world.answer("other", {A: world.states[world.tip][A].replace("'a': 1", "'a': 100")})
    train = world.couple("late", guessed=True)
    world.land("other")
    world.judge(train, "red")
    world.send_back("late", reason="checks failed")
    facts = world.score().facts["late"]
    assert facts.rule_refused == 1

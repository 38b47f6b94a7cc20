from __future__ import annotations

import pytest

from qodebase.intent import BadIntents, Intent, check_order


def intent(name: str, *after: str) -> Intent:
    return Intent(id=name, asked=f"Do {name}.", scope=(), after=after)


def test_an_order_that_can_be_kept_is_fine_in_whatever_order_it_is_written() -> None:
    check_order([])
    check_order([intent("a", "b", "c"), intent("b", "c"), intent("c"), intent("d", "a", "c")])
    check_order([intent("0"), *(intent(str(number), str(number - 1)) for number in range(1, 5000))])
    check_order([*(intent(str(number), str(number + 1)) for number in range(5000)), intent("5000")])


def test_an_intent_that_waits_for_itself_is_an_error() -> None:
    with pytest.raises(BadIntents, match="wait for each other: a after a\n") as caught:
        check_order([intent("a", "a")])
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_a_circle_is_an_error_that_names_it_and_nothing_beside_it() -> None:
    ring = [intent("x", "b"), intent("a", "z"), intent("b", "z", "c"), intent("c", "d"), intent("d", "b"), intent("z")]
    with pytest.raises(BadIntents) as caught:
        check_order(ring)
    assert caught.value.message == "intents wait for each other: b after c after d after b"


def test_an_order_after_an_intent_that_is_not_there_is_an_error() -> None:
    with pytest.raises(BadIntents, match="'b' comes after 'gone', which is no intent of the run"):
        check_order([intent("a"), intent("b", "a", "gone")])


def test_two_intents_of_one_id_are_an_error() -> None:
    with pytest.raises(BadIntents, match="two intents are called 'a'"):
        check_order([intent("a"), intent("b"), intent("a")])

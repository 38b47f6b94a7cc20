"""Entries of dictionaries, sets and ``__all__``, united by key."""

from __future__ import annotations

import random

import pytest

from replay_rules.key_sets import rule
from tests.support.three_ways import content, inserted, three, why


def test_entries_of_a_dictionary_are_united() -> None:
    collision = inserted(b"D = {\n    'a': 1,\n}\n", b"}", b"    'c': 3,\n", b"    # two\n    'b': 2,  # too\n")
    assert content(rule(collision)) == b"D = {\n    'a': 1,\n    'c': 3,\n    # two\n    'b': 2,  # too\n}\n"


def test_a_missing_last_comma_is_put_where_it_is_needed() -> None:
    base = b"const d = {\n  a: 1\n};\n"
    main, change = base.replace(b"1\n", b"1,\n  b: 2\n"), base.replace(b"1\n", b"1,\n  c: 3\n")
    assert content(rule(three(base, main, change, b"m.js"))) == b"const d = {\n  a: 1,\n  b: 2,\n  c: 3\n};\n"


def test_entries_in_one_row_stay_in_one_row() -> None:
    outcome = rule(three(b"d = {'a': 1}\n", b"d = {'a': 1, 'b': 2}\n", b"d = {'a': 1, 'c': 3}\n"))
    assert content(outcome) == b"d = {'a': 1, 'b': 2, 'c': 3}\n"


def test_all_and_sets_are_sorted_where_all_versions_are() -> None:
    base = b'__all__ = ["a", "e"]\n'
    outcome = rule(three(base, base.replace(b', "e"', b', "d", "e"'), base.replace(b', "e"', b', "b", "e"')))
    assert content(outcome) == b'__all__ = ["a", "b", "d", "e"]\n'
    outcome = rule(three(b"s = {'b', 'a'}\n", b"s = {'b', 'a', 'c'}\n", b"s = {'b', 'a', '0'}\n"))
    assert content(outcome) == b"s = {'b', 'a', 'c', '0'}\n"


def test_a_dictionary_deep_in_a_function_is_found() -> None:
    base = b"def f(k):\n    return g({\n        'a': 1,\n    }, k)\n"
    collision = inserted(base, b"    }", b"        'b': 2,\n", b"        'c': 3,\n")
    assert content(rule(collision)) == base.replace(b"1,\n", b"1,\n        'b': 2,\n        'c': 3,\n")


@pytest.mark.parametrize(
    ("main", "change"),
    [
        (b"    'b': 2,\n", b"    'b': 3,\n"),
        (b"    'b': 2,\n", b'    "b": 2,\n'),
        (b"    'b': next(n),\n", b"    'c': next(n),\n"),
        (b"    B: 2,\n", b"    C: 3,\n"),
        (b"    **b,\n", b"    'c': 3,\n"),
        (b"    'b': 2,\n", b"    C.d: 3,\n"),
        (b"    1: 2,\n", b"    0x1: 3,\n"),
        (b"    'a': 2,\n", b"    'c': 3,\n"),
    ],
)
def test_keys_that_may_be_one_are_declined(main: bytes, change: bytes) -> None:
    assert why(rule(inserted(b"D = {\n    'a': 1,\n}\n", b"}", main, change)))


def test_a_plain_list_has_an_order_and_is_declined() -> None:
    assert why(rule(three(b"x = ['a']\n", b"x = ['a', 'b']\n", b"x = ['a', 'c']\n")))


def test_a_removed_entry_beside_an_added_one_is_declined() -> None:
    base = b"d = {'a': 1, 'b': 2}\n"
    assert why(rule(three(base, b"d = {'a': 1}\n", b"d = {'a': 1, 'b': 2, 'c': 3}\n")))


def test_a_doubled_key_in_two_places_is_declined() -> None:
    base = b"d = {\n    'a': 1,\n    'm': 2,\n}\n"
    assert why(
        rule(three(base, base.replace(b"    'a'", b"    'x': 0,\n    'a'"), base.replace(b"}", b"    'x': 9,\n}")))
    )


def test_generated_dictionaries_come_out_as_both_sides_made_them() -> None:
    dice = random.Random(8)
    for _ in range(40):
        names = dice.sample(range(100), 6)
        head = b"".join(b"    'k%d': %d,\n" % (name, name) for name in names[:2])
        mine, theirs = (b"".join(b"    'k%d': %d,\n" % (name, name) for name in run) for run in (names[2:4], names[4:]))
        got = content(rule(inserted(b"D = {\n" + head + b"}\n", b"}", mine, theirs)))
        spaces: dict[str, dict[str, int]] = {}
        exec(got, spaces)
        assert spaces["D"] == {f"k{name}": name for name in names}
        assert got.count(b"\n") == 8

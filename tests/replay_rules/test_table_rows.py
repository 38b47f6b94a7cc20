"""Rows that both sides added to one table."""

from __future__ import annotations

import random

import pytest

from replay_rules.table_rows import rule
from tests.support.three_ways import content, inserted, three, why

BASE = b"T = [\n    ('a', 1),\n    ('m', 2),\n]\n"


def test_rows_of_a_sorted_table_go_to_their_places() -> None:
    got = content(rule(inserted(BASE, b"    ('m'", b"    ('d', 3),\n", b"    ('c', 4),  # four\n")))
    assert got == b"T = [\n    ('a', 1),\n    ('c', 4),  # four\n    ('d', 3),\n    ('m', 2),\n]\n"


def test_numbers_are_sorted_as_numbers() -> None:
    outcome = rule(three(b"t = [2, 9, 90]\n", b"t = [2, 9, 30, 90]\n", b"t = [2, 9, 10, 90]\n"))
    assert content(outcome) == b"t = [2, 9, 10, 30, 90]\n"


def test_records_of_scripts_are_rows() -> None:
    base = b'const t = [\n  { id: "a", n: 1 },\n  { id: "m", n: 2 },\n];\n'
    got = content(rule(inserted(base, b"]", b'  { id: "z", n: 1 },\n', b'  { id: "q", n: 1 },\n', b"a.ts")))
    assert got == base[:-3] + b'  { id: "q", n: 1 },\n  { id: "z", n: 1 },\n];\n'


def test_cases_of_a_parametrised_test_may_stand_in_any_order() -> None:
    base = b"@pytest.mark.parametrize('a', [\n    (2, 1),\n])\ndef test(a):\n    pass\n"
    main, change = b"    (1, 1),\n", b"    (1, 2),\n"
    assert content(rule(inserted(base, b"])", main, change))) == base.replace(b"])", main + change + b"])")
    assert why(rule(inserted(base, b"])", main, b"    (1,1),\n")))


@pytest.mark.parametrize(
    ("base", "main", "change"),
    [
        (b"t = ['b', 'a']\n", b"t = ['b', 'a', 'c']\n", b"t = ['b', 'a', 'd']\n"),
        (b"t = ['a', 'b']\n", b"t = ['a', 'b', 'c']\n", b"t = ['a', 'b', 'aa']\n"),
        (b"t = [(1, 2), (3, 4)]\n", b"t = [(1, 2), (3, 4), (5, 6)]\n", b"t = [(1, 2), (3, 4), (5, 7)]\n"),
        (b"t = [x, y]\n", b"t = [x, y, z]\n", b"t = [x, y, zz]\n"),
        (b"t = [1, 2]\n", b"t = [1, 2, 3]\n", b"t = [1, 2, 'a']\n"),
        (b"t = [1]\n", b"t = [1, 2]\n", b"t = [1, 3]\n"),
    ],
)
def test_tables_whose_order_may_matter_are_declined(base: bytes, main: bytes, change: bytes) -> None:
    assert why(rule(three(base, main, change)))


def test_generated_sorted_tables_are_the_sorted_union() -> None:
    dice = random.Random(6)
    for _ in range(30):
        numbers = dice.sample(range(1000), 9)
        base, main, change = (sorted(numbers[:upto]) for upto in (5, 7, 5))
        change = sorted([*numbers[:5], *numbers[7:]])
        versions = [b"t = [%s]\n" % ", ".join(map(str, rows)).encode() for rows in (base, main, change)]
        outcome = rule(three(versions[0], versions[1], versions[2]))
        wanted = b"t = [%s]\n" % ", ".join(map(str, sorted(numbers))).encode()
        assert getattr(outcome, "content", wanted) == wanted


def test_a_number_of_any_length_never_raises() -> None:
    base = b"T = [\n    1,\n    " + b"9" * 5000 + b",\n]\n"
    assert why(rule(inserted(base, b"]", b"    3,\n", b"    4,\n")))

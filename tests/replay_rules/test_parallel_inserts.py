"""Hunks that both sides inserted at one place of an unordered list."""

from __future__ import annotations

import random

import pytest

from replay_rules.parallel_inserts import rule
from tests.support.three_ways import content, inserted, three, why

PATH = b"AUTHORS"


def test_whole_hunks_stand_one_behind_the_other() -> None:
    got = content(rule(inserted(b"a\nz\n", b"z", b"m1\nm2\n", b"c1\nc2\n", PATH)))
    assert got == b"a\nm1\nm2\nc1\nc2\nz\n"


def test_other_line_ends_and_a_missing_last_one_are_kept() -> None:
    assert content(rule(inserted(b"a\r\n", b"", b"m\r\n", b"c\r\n", PATH))) == b"a\r\nm\r\nc\r\n"
    assert content(rule(three(b"a", b"a\nm", b"a\nc", PATH))) == b"a\nm\nc"
    assert content(rule(inserted(b"\xff\n", b"", b"\xfe\n", b"\xfd\n", PATH))) == b"\xff\n\xfe\n\xfd\n"


def test_requirements_of_different_packages_are_both_kept() -> None:
    got = content(rule(inserted(b"a==1\n", b"", b"b>=2\n", b"c\n", b"requirements-dev.txt")))
    assert got == b"a==1\nb>=2\nc\n"


@pytest.mark.parametrize(
    ("base", "main", "change", "path"),
    [
        (b"a\n", b"a\nm\n", b"a\nm\n", PATH),
        (b"a\n", b"a\nm\nx\n", b"a\nc\nx\n", PATH),
        (b"a\n", b"b\n", b"a\nc\n", PATH),
        (b"a\n", b"a\nm {\n", b"a\nc\n", PATH),
        (b"a\n", b"a\n\nm\n", b"a\nc\n\n", PATH),
        (b"a\n", b"a\r\nm\r\n", b"a\nc\n", PATH),
        (b"a\n", b"a\n!m\n", b"a\nc\n", b".gitignore"),
        (b"a\n", b"a\nNum_Py==1\n", b"a\nnum-py==2\n", b"requirements.txt"),
        (b"a\n", b"a\n-r m.txt\n", b"a\nc\n", b"requirements.txt"),
        (b"a\n", b"a\nm\n", b"a\nc\n", b"x.py"),
        (b"a\n\0", b"a\nm\n\0", b"a\nc\n\0", PATH),
    ],
)
def test_what_is_no_pair_of_plain_insertions_is_declined(base: bytes, main: bytes, change: bytes, path: bytes) -> None:
    assert why(rule(three(base, main, change, path)))


def test_generated_insertions_equal_both_edits_applied() -> None:
    dice = random.Random(7)
    for number in range(40):
        base = [b"base %d\n" % line for line in range(12)]
        there = {3, *(line for line in range(12) if dice.random() < 0.4)}
        runs = [
            [b"%s%d %d\n" % (side, number, line) if line in there else b"" for line in range(12)]
            for side in (b"m", b"c")
        ]
        main, change, both = (
            b"".join(b"".join(parts) for parts in zip(*columns, strict=True))
            for columns in ((runs[0], base), (runs[1], base), (runs[0], runs[1], base))
        )
        assert content(rule(three(b"".join(base), main, change, PATH))) == both


def test_a_package_that_both_sides_require_at_different_places_is_required_once() -> None:
    base = b"a\nq\nr\ns\nt\n"
    main = b"a\nfoo==1\nq\nr\ns\nt\nbar\n"
    change = b"a\nbaz\nq\nr\nFoo>=2\ns\nt\n"
    assert "one package" in why(rule(three(base, main, change, b"requirements.txt")))

"""Definitions of one name from both sides."""

from __future__ import annotations

import pytest

from qodebase.collision import Declined, Resolved
from replay_rules.twin_functions import rule
from tests.support.three_ways import content, three, why

BASE = b"def a():\n    return 1\n"
TWIN = b"def half(x):\n    return x / 2\n"


def test_equal_twins_at_different_places_are_kept_once_where_main_has_them() -> None:
    main, change = BASE + b"\n\n" + TWIN, TWIN + b"\n\n" + BASE
    assert content(rule(three(BASE, main, change))) == main
    assert content(rule(three(BASE, change, main))) == change


def test_twins_that_differ_in_layout_and_comments_alone_are_equal() -> None:
    main = BASE + b"\n\n" + TWIN
    change = BASE + b"\n\ndef half( x ):\n    # half of it\n    return x/2\n"
    assert content(rule(three(BASE, main, change))) == main


def test_twins_of_scripts_are_kept_once() -> None:
    base, twin = b"f();\n", b"function half(x) {\n  return x / 2;\n}\n"
    assert content(rule(three(base, base + twin, twin + base, b"a.ts"))) == base + twin


def test_unequal_twins_are_declined() -> None:
    assert why(rule(three(BASE, BASE + TWIN, TWIN.replace(b"2", b"2.0") + BASE)))
    assert why(rule(three(BASE, BASE + b"@cache\n" + TWIN, TWIN + BASE)))


def test_a_file_without_twins_is_not_for_this_rule() -> None:
    assert why(rule(three(BASE, BASE + TWIN, BASE + b"def b(): pass\n")))


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_the_same_definition_at_the_same_place_is_kept_once(ending: bytes) -> None:
    base = b"LIMIT = 5\n\n\ndef a():\n    return 1\n"
    both = base + b"\n\n# Half of it.\n@cache\ndef half(x):\n    return x / 2" + ending
    assert rule(three(base, both, both)) == Resolved(content=both)


@pytest.mark.parametrize(
    "both",
    [
        b"LIMIT = 6\n\n\ndef a():\n    return 1\n\n\ndef half(x):\n    return x / 2\n",
        b"LIMIT = 5\nCOUNT = 1\n\n\ndef a():\n    return 1\n",
        b"LIMIT = 5\n\n\ndef a():\n    return 1\n\n\ndef half(x):\n    return x / 2\n\n\nregister(half)\n",
        b"LIMIT = 5\n\n\ndef a():\n    total = 0\n    return 1\n",
        b"LIMIT = 5\n\n\ndef a():\n    return 1\n\n\ndef a():\n    return 1\n",
    ],
)
def test_the_same_edit_of_anything_else_may_be_meant_twice(both: bytes) -> None:
    base = b"LIMIT = 5\n\n\ndef a():\n    return 1\n"
    assert isinstance(rule(three(base, both, both)), Declined)


def test_twins_whose_lines_end_elsewhere_are_not_equal() -> None:
    base = b"f();\n"
    twins = [b"\nfunction g(x) {\n  return" + gap + b"x;\n}\n" for gap in (b" ", b"\n    ")]
    assert "another" in why(rule(three(base, base + twins[0], base + twins[1], b"a.js")))

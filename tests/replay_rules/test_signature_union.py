"""Parameters that both sides added to one function."""

from __future__ import annotations

import pytest

from replay_rules.signature_union import rule
from tests.support.three_ways import content, three, why

BASE = b"def f(a):\n    return a\n"


def test_parameters_with_defaults_and_what_they_add_are_united() -> None:
    main = b"def f(a, b=0):\n    return a + b * 2\n"
    change = b"def f(a, c=1):\n    return a - c\n"
    assert content(rule(three(BASE, main, change))) == b"def f(a, b=0, c=1):\n    return a + b * 2 - c\n"


def test_factors_commute_with_factors() -> None:
    outcome = rule(three(BASE, b"def f(a, b=1):\n    return a * b\n", b"def f(a, c=1):\n    return a * c\n"))
    assert content(outcome) == b"def f(a, b=1, c=1):\n    return a * b * c\n"


def test_keyword_only_parameters_over_several_lines_are_united() -> None:
    base = b"def f(\n    a: int,\n    *,\n    k: int = 0,\n) -> int:\n    return g(a, k)\n"
    main, change = (base.replace(b"k: int = 0,\n", b"k: int = 0,\n    %s: str = '',\n" % name) for name in (b"m", b"n"))
    assert content(rule(three(base, main, change))) == base.replace(
        b"k: int = 0,\n", b"k: int = 0,\n    m: str = '',\n    n: str = '',\n"
    )


def test_amounts_added_as_statements_are_united() -> None:
    base = b"def f(a):\n    total = a\n    return total\n"
    main = b"def f(a, b=0):\n    total = a\n    total += b\n    return total\n"
    change = b"def f(a, c=0):\n    total = a\n    total -= c\n    return total\n"
    assert content(rule(three(base, main, change))) == (
        b"def f(a, b=0, c=0):\n    total = a\n    total += b\n    total -= c\n    return total\n"
    )


def test_destructured_parameters_of_scripts_are_united() -> None:
    base = b"function f({ a }) {\n  return a;\n}\n"
    outcome = rule(three(base, base.replace(b"{ a }", b"{ a, b }"), base.replace(b"{ a }", b"{ a, c = 1 }"), b"a.js"))
    assert content(outcome) == base.replace(b"{ a }", b"{ a, b, c = 1 }")


@pytest.mark.parametrize(
    ("main", "change"),
    [
        (b"def f(a, b):\n    return a\n", b"def f(a, c):\n    return a\n"),
        (b"def f(a, b=0):\n    return a\n", b"def f(a, b=1):\n    return a\n"),
        (b"def f(b=0, a=0):\n    return a\n", b"def f(c=0, a=0):\n    return a\n"),
        (b"def f(a, b=0):\n    return a + b\n", b"def f(a, c=1):\n    return a * c\n"),
        (b"def f(a, b=''):\n    return a + b\n", b"def f(a, c=''):\n    return a + c\n"),
        (b"def f(a, b=0):\n    return g(a, b)\n", b"def f(a, c=0):\n    return h(a, c)\n"),
        (b"def f(a, b=0):\n    return a + a\n", b"def f(a, c=0):\n    return a + c\n"),
        (b"def f(a, b=0):\n    return a\n", b"def f(a, c=0):\n    return a\n\n\nf(1, 2)\n"),
    ],
)
def test_what_does_not_commute_is_declined(main: bytes, change: bytes) -> None:
    assert why(rule(three(BASE, main, change)))


def test_a_plus_in_scripts_may_join_texts_and_is_declined() -> None:
    base = b"function f(a) {\n  return a;\n}\n"
    main, change = (
        base.replace(b"(a)", b"(a, %s = 0)" % name).replace(b"return a", b"return a + %s" % name)
        for name in (b"b", b"c")
    )
    assert why(rule(three(base, main, change, b"a.js")))
    main, change = (side.replace(b" + ", b" - ") for side in (main, change))
    assert b"return a - b - c;" in content(rule(three(base, main, change, b"a.js")))


def test_every_order_of_the_numbers_gives_the_sum_of_both() -> None:
    for first, second in ((b"+", b"-"), (b"-", b"-"), (b"+", b"+")):
        main = b"def f(a, b=0):\n    return a %s b\n" % first
        change = b"def f(a, c=0):\n    return a %s c\n" % second
        spaces: dict[str, object] = {}
        exec(content(rule(three(BASE, main, change))), spaces)
        united = spaces["f"]
        assert callable(united)
        sign = {b"+": 1, b"-": -1}
        assert united(10, b=3, c=4) == 10 + sign[first] * 3 + sign[second] * 4
        assert united(10) == 10

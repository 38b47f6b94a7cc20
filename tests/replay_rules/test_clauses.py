"""Clauses that both sides added to one decision."""

from __future__ import annotations

import itertools
import random

import pytest

from replay_rules.clauses import rule
from tests.support.three_ways import content, inserted, three, why

CHAIN = b'def f(k):\n    if k == "a":\n        return 1\n    else:\n        return 0\n'
ROW = b'def f(k):\n    if k == "a":\n        return 1\n    return 0\n'
SWITCH = b'function f(k) {\n  switch (k) {\n    case "a":\n      return 1;\n    default:\n      return 0;\n  }\n}\n'
MATCH = b'def f(k):\n    match k:\n        case "a":\n            return 1\n        case _:\n            return 0\n'


def test_branches_of_one_chain_are_both_kept() -> None:
    main, change = (
        b'    elif k == "b":\n        return 2\n',
        b'    elif k in ("c", "d"):\n        # why\n        return 3\n',
    )
    assert content(rule(inserted(CHAIN, b"    else", main, change))) == CHAIN.replace(
        b"    else", main + change + b"    else"
    )


def test_a_row_of_ifs_that_leave_is_a_decision_too() -> None:
    main, change = b'    if k == "b":\n        return 2\n', b'    if k == "c":\n        raise ValueError(k)\n'
    assert content(rule(inserted(ROW, b"    return", main, change))) == ROW.replace(
        b"    return 0", main + change + b"    return 0"
    )


def test_cases_of_match_and_switch_are_both_kept() -> None:
    main, change = b'        case "b":\n            return 2\n', b'        case "c" | "d":\n            return 3\n'
    assert content(rule(inserted(MATCH, b"        case _", main, change))) == MATCH.replace(
        b"        case _", main + change + b"        case _"
    )
    main, change = b'    case "b":\n      return 2;\n', b'    case "c": {\n      break;\n    }\n'
    assert content(rule(inserted(SWITCH, b"    default", main, change, b"a.ts"))) == SWITCH.replace(
        b"    default", main + change + b"    default"
    )


@pytest.mark.parametrize(
    ("main", "change"),
    [
        (b'    elif k == "b":\n        return 2\n', b'    elif k == "b":\n        return 3\n'),
        (b'    elif k == "b":\n        return 2\n', b"    elif k > 7:\n        return 3\n"),
        (b'    elif k == "b":\n        return 2\n', b'    elif j == "c":\n        return 3\n'),
        (b'    elif k == "b":\n        return 2\n', b'    elif k.startswith("c"):\n        return 3\n'),
        (b'    elif k == "b":\n        return 2\n', b"    elif k == C:\n        return 3\n"),
    ],
)
def test_branches_that_may_overlap_are_declined(main: bytes, change: bytes) -> None:
    assert why(rule(inserted(CHAIN, b"    else", main, change)))


@pytest.mark.parametrize(
    ("main", "change"),
    [
        (b"    if k < 0:\n        return 2\n", b"    if k > 9:\n        return 3\n"),
        (b'    if k == "b":\n        k = "c"\n', b'    if k == "c":\n        return 3\n'),
        (b'    if k == "b":\n        return 2\n', b"    k = k.lower()\n"),
        (b'    if k == "b":\n        return 2\n    else:\n        return 4\n', b'    if k == "c":\n        return 3\n'),
    ],
)
def test_guards_whose_order_matters_are_declined(main: bytes, change: bytes) -> None:
    assert why(rule(inserted(ROW, b"    return", main, change)))


def test_cases_that_fall_through_or_catch_all_are_declined() -> None:
    assert why(rule(inserted(SWITCH, b"    default", b'    case "b":\n', b'    case "c":\n      return 3;\n', b"a.js")))
    capture = b"        case other:\n            return 2\n"
    assert why(rule(inserted(MATCH, b"        case _", capture, b'        case "c":\n            return 3\n')))
    guarded = b'        case "b" if k:\n            return 2\n'
    assert why(rule(inserted(MATCH, b"        case _", guarded, b'        case "b":\n            return 3\n')))


def test_an_edit_elsewhere_in_the_block_may_bear_on_the_other_sides_clause_and_is_declined() -> None:
    main, change = (b'    if k == "%s":\n        return 2\n' % name for name in (b"b", b"c"))
    collision = inserted(ROW, b"    return", main, change)
    edited = content(rule(collision)).replace(change, b"").replace(b"return 0", b"return None")
    assert why(rule(three(ROW, edited, ROW.replace(b"    return 0", change + b"    return 0"))))


def test_both_sides_changing_one_branch_is_declined() -> None:
    assert why(rule(three(ROW, ROW.replace(b"1", b"2"), ROW.replace(b"1", b"3"))))


def test_generated_decisions_answer_as_both_sides_wanted() -> None:
    dice = random.Random(4)
    for _ in range(25):
        keys = dice.sample("bcdefghij", 4)
        runs = [
            "".join(f'    elif k == "{key}":\n        return "{key.upper()}"\n' for key in run).encode()
            for run in (keys[:2], keys[2:])
        ]
        spaces: dict[str, object] = {}
        exec(content(rule(inserted(CHAIN, b"    else", runs[0], runs[1]))), spaces)
        decide = spaces["f"]
        assert callable(decide)
        assert [decide(key) for key in itertools.chain(keys, "az")] == [*(key.upper() for key in keys), 1, 0]


def test_texts_that_javascript_takes_for_numbers_may_overlap() -> None:
    base = b"function f(k) {\n  if (k == 'a') {\n    return 1;\n  }\n  return 0;\n}\n"
    sides = [b"  if (k %s) {\n    return 2;\n  }\n" % test for test in (b"== '1'", b"== 1", b"=== '1'", b"=== 1")]
    assert why(rule(inserted(base, b"  return 0", sides[0], sides[1], b"m.js")))
    assert content(rule(inserted(base, b"  return 0", sides[2], sides[3], b"m.js")))

from __future__ import annotations

from typing import Any

import pytest

from replay_rules.keyed import MISSING, CannotMerge, Keyed, Leaf, Member, explains, merged, render


def row(keys: str, *, end: bytes = b"\n") -> Keyed:
    """Return one line for each letter; its value is its place in the alphabet unless a digit follows it."""
    members = [Member(key=key, value=Leaf(text=key.encode() + end, data=key)) for key in keys]
    return Keyed(members=tuple(members))


@pytest.mark.parametrize(
    ("base", "main", "change", "wanted"),
    [
        ("ba", "bam", "bac", "bamc"),
        ("ba", "mba", "cba", "mcba"),
        ("ba", "bma", "bac", "bmac"),
        ("ac", "acm", "abc", "abcm"),
        ("zba", "za", "zbac", "zac"),
        ("zba", "zbam", "za", "zam"),
        ("ba", "b", "b", "b"),
        ("", "m", "c", "mc"),
    ],
)
def test_members_go_where_both_sides_put_them(base: str, main: str, change: str, wanted: str) -> None:
    whole = merged(row(base), row(main), row(change), idempotent=True)
    assert render(whole).replace(b"\n", b"").decode() == wanted


def test_a_member_that_both_sides_moved_otherwise_is_declined() -> None:
    with pytest.raises(CannotMerge, match="another order"):
        merged(row("abc"), row("cab"), row("abcd"), idempotent=False)


def test_lines_without_an_end_get_one_only_where_more_follows() -> None:
    assert render(row("ab", end=b"")) == b"a\nb"


@pytest.mark.parametrize(
    ("base", "main", "change", "result", "right"),
    [
        ({"a": 1}, {"a": 2}, {"a": 1, "b": 3}, {"a": 2, "b": 3}, True),
        ({"a": 1}, {"a": 2}, {"a": 1, "b": 3}, {"a": 1, "b": 3}, False),
        ({"a": 1}, {"a": 2}, {"a": 1, "b": 3}, {"a": 2}, False),
        ({"a": 1}, {"a": 2}, {"a": 1}, {"a": 2, "x": 0}, False),
        ({"a": 1}, {"a": True}, {"a": 1}, {"a": 1}, False),
        (["x"], ["x", "m"], ["x", "c"], ["x", "m", "c"], True),
        (["x"], ["x", "m"], ["x", "c"], ["m", "c"], False),
        (["x"], ["x", "m"], ["x", "c"], ["x", "m", "c", "c"], False),
        (["x", "y"], ["x"], ["x", "y", "c"], ["x", "c"], True),
        ([{}], [{}, {"m": 1}], [{}, {"c": 1}], [{}, {"m": 1}, {"c": 1}], False),
        ("1", "2", "3", "3", True),
        ("1", "2", "3", "4", False),
        (MISSING, {"m": 1}, {"c": 1}, {"m": 1, "c": 1}, True),
    ],
)
def test_values_tell_whether_a_result_holds_both_edits(
    base: Any, main: Any, change: Any, result: Any, right: bool
) -> None:
    assert explains(base, main, change, result) is right

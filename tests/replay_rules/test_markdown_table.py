from __future__ import annotations

import random

import pytest

from replay_rules.markdown_table import rule
from tests.support.replay_sides import collide, content_of, edited, reason_of, takes_odd_bytes

PAGE = b"# Flags\n\nWords.\n\n| flag | what |\n|------|:----:|\n| `z` | last |\n| `a` | first |\n\nEnd.\n"


def test_rows_of_both_sides_are_there_and_the_text_around_merges() -> None:
    main = edited(PAGE, (b"first |\n", b"first |\n| `m` | main |\n"), (b"Words.", b"Many words."))
    change = edited(PAGE, (b"first |\n", b"first |\n| `c` | a \\| b |\n"), (b"End.", b"The end."))
    wanted = edited(
        PAGE,
        (b"first |\n", b"first |\n| `m` | main |\n| `c` | a \\| b |\n"),
        (b"Words.", b"Many words."),
        (b"End.", b"The end."),
    )
    assert content_of(rule(collide("a.md", PAGE, main, change))) == wanted


def test_sorted_rows_stay_sorted() -> None:
    base = edited(PAGE, (b"| `z` | last |\n| `a` | first |\n", b"| a | 1 |\n| m | 2 |\n"))
    main, change = edited(base, (b"2 |\n", b"2 |\n| z | 3 |\n")), edited(base, (b"2 |\n", b"2 |\n| p | 4 |\n"))
    merged = content_of(rule(collide("a.md", base, main, change)))
    assert merged == edited(base, (b"2 |\n", b"2 |\n| p | 4 |\n| z | 3 |\n"))


def test_a_table_that_main_padded_anew_keeps_mains_padding() -> None:
    padded = edited(PAGE, (b"| `z` | last |\n| `a` | first |", b"| `z`  | last  |\n| `a`  | first |"))
    change = edited(PAGE, (b"first |\n", b"first |\n| `c` | new |\n"))
    merged = content_of(rule(collide("a.md", PAGE, padded, change)))
    assert merged == edited(padded, (b"first |\n", b"first |\n| `c` | new |\n"))


@pytest.mark.parametrize(
    ("main", "change", "said"),
    [
        ((b"| last |", b"| lost |"), (b"| last |", b"| least |"), "both sides changed"),
        ((b"first |\n", b"first |\n| x | 1 |\n"), (b"first |\n", b"first |\n| x | 2 |\n"), "both sides added"),
        ((b"first |\n", b"first |\n| x | 1 |\n"), (b"first |\n", b"first |\n| y | 2 | 3 |\n"), "other columns"),
        ((b"| flag | what |", b"| flag | sense |"), (b"| last |", b"| lost |"), "a column"),
        ((b"Words.", b"Main."), (b"Words.", b"Change."), "beside the tables"),
        ((b"| `z` | last |\n", b""), (b"| last |", b"| lost |"), "main deleted"),
    ],
)
def test_what_is_not_proved_is_declined(main: tuple[bytes, bytes], change: tuple[bytes, bytes], said: str) -> None:
    assert said in reason_of(rule(collide("a.md", PAGE, edited(PAGE, main), edited(PAGE, change))))


def test_a_table_in_fenced_code_is_text() -> None:
    fenced = b"```\n" + PAGE + b"```\n"
    main, change = (
        edited(fenced, (b"first |\n", b"first |\n|m|1|\n")),
        edited(fenced, (b"first |\n", b"first |\n|c|1|\n")),
    )
    assert "no table" in reason_of(rule(collide("a.md", fenced, main, change)))


def test_line_ends_of_windows_and_a_missing_last_one_stay() -> None:
    base = b"|a|b|\r\n|-|-|\r\n|z|1|\r\n|b|2|"
    merged = content_of(rule(collide("a.md", base, base + b"\r\n|y|3|", base + b"\r\n|x|4|\r\n")))
    assert merged == base + b"\r\n|y|3|\r\n|x|4|\r\n"


def test_odd_bytes_never_raise() -> None:
    takes_odd_bytes(rule, "a.md", PAGE)


def test_random_rows_are_all_there_in_the_order_of_their_sides() -> None:
    source = random.Random(6)
    for _ in range(150):
        rows = [b"| %d | x |\n" % number for number in source.sample(range(100, 200), source.randint(2, 8))]
        sides = []
        for mark in (1000, 2000):
            side = rows.copy()
            for number in range(source.randint(1, 3)):
                side.insert(source.randint(0, len(side)), b"| %d | x |\n" % (mark + number))
            sides.append(side)
        head = b"| id | what |\n| -- | ---- |\n"
        merged = content_of(rule(collide("a.md", *(head + b"".join(side) for side in (rows, *sides)))))
        for side, gone in zip(sides, (b"| 2", b"| 1"), strict=True):
            known = [
                row for row in merged[len(head) :].splitlines(keepends=True) if row in rows or not row.startswith(gone)
            ]
            assert sorted(known) == sorted(side)
            assert [row for row in known if row in rows] == rows


def test_tables_with_one_header_that_changed_places_are_not_mixed() -> None:
    head = b"| n | v |\n| - | - |\n"
    one, two = b"# One\n\n" + head + b"| a | 1 |\n\n", b"# Two\n\n" + head + b"| b | 2 |\n\n"
    main = one.replace(b"| a | 1 |\n", b"| a | 1 |\n| x | 9 |\n") + two
    assert "told apart" in reason_of(rule(collide("R.md", one + two, main, two + one)))

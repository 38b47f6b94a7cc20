from __future__ import annotations

import random

import pytest

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.sorted_index import first_entry, insert, key_of, rule

HEAD = b"# API\n\nWords.\n\n"


def entry(path: str, name: str, text: str = "function") -> bytes:
    return f"- `{path}` `{name}` {text}\n".encode()


def collide(base: bytes | None, main: bytes | None, change: bytes | None) -> Collision:
    sides = [Side(content=content) for content in (base, main, change)]
    return Collision(path=RepoPath(b"I.md"), base=sides[0], main=sides[1], change=sides[2])


def test_entries_put_in_one_by_one_in_any_order_end_sorted_and_complete() -> None:
    random_ = random.Random(3)
    entries = [entry(f"p{a}/{b}.py", f"name{c}") for a in range(4) for b in range(5) for c in range(3)]
    expected = HEAD + b"".join(sorted(entries, key=lambda line: key_of(line) or (b"", b"")))
    for _ in range(10):
        random_.shuffle(entries)
        index = HEAD
        for line in entries:
            grown = insert(index, line)
            assert isinstance(grown, bytes)
            index = grown
        assert index == expected


def test_order_is_by_path_then_name_and_not_by_the_text_of_the_line() -> None:
    index = insert(insert(HEAD, entry("a.py", "z")), entry("a", "z"))  # type: ignore[arg-type]
    assert index == HEAD + entry("a", "z") + entry("a.py", "z")


def test_lines_between_like_lines_are_found_again_whole() -> None:
    base = HEAD + entry("a.py", "x") + entry("a.py", "z")
    change = HEAD + entry("a.py", "x") + entry("a.py", "y") + entry("a.py", "z")
    main = HEAD + entry("a.py", "w") + entry("a.py", "x") + entry("a.py", "z")
    wanted = HEAD + b"".join(entry("a.py", name) for name in "wxyz")
    assert rule(collide(base, main, change)) == Resolved(content=wanted)


def test_lines_added_at_two_places_are_all_inserted() -> None:
    base = HEAD + entry("b", "1") + entry("d", "1")
    change = HEAD + entry("a", "1") + entry("b", "1") + entry("c", "1") + entry("d", "1")
    main = base + entry("e", "1")
    assert rule(collide(base, main, change)) == Resolved(content=HEAD + b"".join(entry(p, "1") for p in "abcde"))


def test_an_index_that_both_sides_began_is_one_index() -> None:
    assert rule(collide(None, HEAD + entry("b", "1"), HEAD + entry("a", "1"))) == Resolved(
        content=HEAD + entry("a", "1") + entry("b", "1")
    )


def test_the_same_entry_twice_is_kept_once_and_with_other_text_declined() -> None:
    base = HEAD
    assert rule(collide(base, base + entry("a", "1"), base + entry("a", "1"))) == Resolved(
        content=HEAD + entry("a", "1")
    )
    assert isinstance(rule(collide(base, base + entry("a", "1", "one"), base + entry("a", "1", "two"))), Declined)


@pytest.mark.parametrize(
    ("base", "main", "change"),
    [
        (HEAD + entry("a", "1"), HEAD + entry("a", "1") + entry("b", "1"), HEAD),
        (HEAD + entry("a", "1"), None, HEAD + entry("a", "1") + entry("b", "1")),
        (HEAD, HEAD + entry("a", "1") + b"prose\n" + entry("c", "1"), HEAD + entry("b", "1")),
        (HEAD, HEAD + entry("a", "1"), HEAD + b"prose\n"),
        (HEAD, HEAD + entry("a", "1") + b"- `torn", HEAD + entry("b", "1")),
    ],
)
def test_what_it_cannot_prove_is_declined(base: bytes, main: bytes, change: bytes) -> None:
    assert isinstance(rule(collide(base, main, change)), Declined)


def test_the_first_entry_is_found_behind_any_heading() -> None:
    assert first_entry(entry("a", "1")) == 0
    assert first_entry(HEAD + entry("a", "1")) == len(HEAD)
    assert first_entry(HEAD) == len(HEAD)


def test_entries_of_other_line_ends_are_not_mixed() -> None:
    base = HEAD + entry("b", "f")
    main = (HEAD + entry("a", "f") + entry("b", "f")).replace(b"\n", b"\r\n")
    outcome = rule(collide(base, main, base + entry("c", "f")))
    assert isinstance(outcome, Declined)
    assert "line ends" in outcome.why

"""The rule that undoes the sorted index takes out exactly the lines that a landing added."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.sorted_index import rule as add
from replay_rules.sorted_index_undo import rule as undo

HEAD = b"# Index\n\n"


def line(number: int, text: str = "function") -> bytes:
    return f"- `src/{number // 10:02}.py` `name{number:03}` {text}\n".encode()


def index(numbers: set[int]) -> bytes:
    return HEAD + b"".join(line(number) for number in sorted(numbers))


def collision(base: bytes | None, main: bytes | None, change: bytes | None) -> Collision:
    one, two, three = (Side(content=content) for content in (base, main, change))
    return Collision(path=RepoPath(b"INDEX.md"), base=one, main=two, change=three)


@settings(deadline=None)
@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_what_is_left_is_the_newest_index_without_the_lines(there: set[int], added: set[int], since: set[int]) -> None:
    landed = there | added
    outcome = undo(collision(index(landed), index(landed | since), index(there)))
    assert outcome == Resolved(content=index((landed | since) - (added - there)))


def test_undoing_is_the_inverse_of_adding_in_any_order() -> None:
    draw = random.Random(3)
    main, landings = index({1, 50}), []
    for _ in range(20):
        added = main + b""
        for number in draw.sample(range(60), 3):
            if line(number) not in main:
                outcome = add(collision(main, main, index_with(main, number)))
                assert isinstance(outcome, Resolved)
                main = outcome.content
        landings.append((added, main))
    draw.shuffle(landings)
    for before, after in landings:
        outcome = undo(collision(after, main, before))
        assert isinstance(outcome, Resolved)
        main = outcome.content
    assert main == index({1, 50})


def index_with(content: bytes, number: int) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join([*lines[:2], *sorted([*lines[2:], line(number)])])


def test_a_line_that_somebody_took_out_already_stays_out() -> None:
    assert undo(collision(index({1, 2}), index({1}), index({1}))) == Resolved(content=index({1}))


def test_a_line_that_somebody_wrote_anew_is_for_a_person() -> None:
    main = HEAD + line(1) + line(2, "method")
    outcome = undo(collision(index({1, 2}), main, index({1})))
    assert isinstance(outcome, Declined)
    assert "the same entry with another text" in outcome.why


def test_a_change_that_does_anything_else_is_declined() -> None:
    for base, main, change in (
        (index({1}), index({1}), index({2})),
        (index({1}), index({1}), b"# Other\n\n" + line(1)),
        (index({1}), index({1}), line(1)),
        (index({1}), None, HEAD),
        (None, index({1}), HEAD),
        (index({1, 2}), HEAD + line(1) + b"by hand\n" + line(2), index({1})),
    ):
        assert isinstance(undo(collision(base, main, change)), Declined), (base, main, change)


def test_a_change_that_sets_the_mode_as_well_is_declined() -> None:
    base, main, change = index({1, 2}), index({1, 2, 3}), index({1})
    sides = (Side(content=base), Side(content=main), Side(content=change, mode=0o100755))
    outcome = undo(Collision(path=RepoPath(b"INDEX.md"), base=sides[0], main=sides[1], change=sides[2]))
    assert isinstance(outcome, Declined)

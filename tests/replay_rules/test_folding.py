from __future__ import annotations

import random

import pytest

from qodebase.collision import Declined
from qodebase.paths import RepoPath
from replay_rules.folding import fold

INDEX = RepoPath(b"docs/INDEX.md")
HEADING = b"# Index\n\n"


def entry(number: int) -> bytes:
    return b"- `p/%05d.js` `name` function\n" % number


def folded(*contents: bytes) -> bytes | Declined:
    return fold(INDEX, contents, "sorted-index")


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_shards_fold_into_what_one_index_would_hold(count: int) -> None:
    shards: list[list[int]] = [[] for _ in range(count)]
    chance = random.Random(count)
    for number in range(600):
        chance.choice(shards).append(number)
    contents = [HEADING + b"".join(map(entry, shard)) for shard in shards]
    assert folded(*contents) == HEADING + b"".join(map(entry, range(600)))


def test_the_first_content_gives_the_heading_and_keeps_its_lines() -> None:
    ours = b"# Ours\n\nText.\n" + entry(3)
    assert folded(ours, HEADING + entry(1), HEADING + entry(3) + entry(4)) == (
        b"# Ours\n\nText.\n" + entry(1) + entry(3) + entry(4)
    )


@pytest.mark.parametrize("count", [1, 500])
def test_what_the_rule_declines_is_not_folded(count: int) -> None:
    many = HEADING + b"".join(map(entry, range(count)))
    other = HEADING + b"- `p/00000.js` `name` class\n"
    for contents in [(many, other), (other, many)]:
        outcome = folded(*contents)
        assert isinstance(outcome, Declined)
        assert "another text" in outcome.why


def test_many_lines_are_added_as_few_are() -> None:
    chance = random.Random(5)
    there = sorted(chance.sample(range(2000), 700))
    added = sorted(chance.sample(range(2000), 300))
    index = HEADING + b"".join(map(entry, there))
    at_once = folded(index, HEADING + b"".join(map(entry, added)))
    one_by_one: bytes | Declined = index
    for number in added:
        assert isinstance(one_by_one, bytes)
        one_by_one = folded(one_by_one, HEADING + entry(number))
    assert at_once == one_by_one == HEADING + b"".join(map(entry, sorted({*there, *added})))


def test_many_lines_are_not_added_to_an_index_that_is_not_sorted_or_holds_something_else() -> None:
    lines = HEADING + b"".join(map(entry, range(0, 600, 2)))
    for broken, why in [
        (HEADING + entry(9) + entry(5), "not sorted"),
        (HEADING + entry(5) + b"text\n" + entry(9), "no entry"),
        (HEADING + entry(5)[:-1], "middle of a line"),
    ]:
        outcome = folded(broken, lines)
        assert isinstance(outcome, Declined)
        assert why in outcome.why


def test_nothing_cannot_be_folded() -> None:
    with pytest.raises(ValueError, match="nothing"):
        folded()

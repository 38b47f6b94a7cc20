"""Hunks, the regions that two sides share, and what is built from them."""

from __future__ import annotations

import difflib
import random
import time

import pytest

from replay_rules.hunks import Hunk, conflicts, hunks, lines_of, rebuild, whole_hunks


def test_lines_end_at_line_feeds_only_and_join_to_what_they_were() -> None:
    content = b"a\r\nb\rc\x0bd\n\xe9\n\nlast"
    assert lines_of(content) == [b"a\r\n", b"b\rc\x0bd\n", b"\xe9\n", b"\n", b"last"]
    assert lines_of(b"") == []


def test_hunks_laid_on_the_base_give_the_side() -> None:
    dice = random.Random(1)
    for _ in range(300):
        base = [b"%d\n" % dice.randrange(6) for _ in range(dice.randrange(12))]
        side = [line for line in base if dice.random() < 0.8]
        for _ in range(dice.randrange(4)):
            side.insert(dice.randrange(len(side) + 1), b"%d\n" % dice.randrange(8))
        out, at = [], 0
        for hunk in hunks(base, side):
            assert at <= hunk.start <= hunk.end
            out += [*base[at : hunk.start], *hunk.lines]
            at = hunk.end
        assert [*out, *base[at:]] == side


def test_a_line_more_between_equal_ends_is_one_insertion() -> None:
    assert hunks([b"a\n", b"b\n"], [b"a\n", b"x\n", b"b\n"]) == [Hunk(1, 1, (b"x\n",))]
    assert hunks([b"a\n"], [b"a\n"]) == []


def test_edits_that_touch_are_one_region_and_edits_apart_are_none() -> None:
    base = [b"%d\n" % number for number in range(6)]
    main = [b"M\n" if line == b"1\n" else line for line in base]
    beside = [b"C\n" if line == b"2\n" else line for line in base]
    apart = [b"C\n" if line == b"3\n" else line for line in base]
    (region,) = conflicts(base, main, beside)
    assert (region.start, region.end, region.main, region.change) == (
        1,
        3,
        (b"M\n", b"2\n"),
        (b"1\n", b"C\n"),
    )
    assert conflicts(base, main, apart) == []
    assert rebuild(base, main, apart, []) == [b"0\n", b"M\n", b"2\n", b"C\n", b"4\n", b"5\n"]


def test_insertions_at_one_place_are_a_region_without_base_lines() -> None:
    (region,) = conflicts([b"a\n"], [b"a\n", b"m\n"], [b"a\n", b"c\n"])
    assert region.inserts
    assert (region.base, region.main, region.change) == ((), (b"m\n",), (b"c\n",))


def test_every_region_taken_from_one_side_with_the_rest_untouched_gives_that_side() -> None:
    dice = random.Random(2)
    for _ in range(200):
        base = [b"%d\n" % dice.randrange(9) for _ in range(10)]
        main = [line for line in base if dice.random() < 0.8] + [b"m\n"] * dice.randrange(2)
        regions = conflicts(base, main, main)
        assert rebuild(base, main, main, [region.main for region in regions]) == main
        assert rebuild(base, main, base, []) == main


def test_a_file_of_one_line_again_and_again_is_one_hunk_and_takes_no_time() -> None:
    base = [b"x\n"] * 6000
    side = [b"a\n", *base, b"b\n"]
    assert hunks(base, side) == [Hunk(0, 6000, tuple(side))]
    assert hunks(base, [*base, b"b\n"]) == [Hunk(6000, 6000, (b"b\n",))]


def test_the_quick_matcher_finds_what_the_standard_library_finds() -> None:
    pieces = [f"{word}\n".encode() for word in ("a", "b", "", "return x", "    pass", "c")]
    rng = random.Random(1)
    for _ in range(300):
        base, side = ([rng.choice(pieces) for _ in range(rng.randrange(40))] for _ in range(2))
        codes = difflib.SequenceMatcher(None, base, side, autojunk=False).get_opcodes()
        expected = [Hunk(start, end, tuple(side[a:b])) for tag, start, end, a, b in codes if tag != "equal"]
        assert whole_hunks(base, side) == expected


def test_lines_that_change_by_turns_are_found_in_time() -> None:
    base = [b"%d\n" % number for number in range(10_000)]
    side = [line if number % 2 else b"new " + line for number, line in enumerate(base)]
    began = time.process_time()
    assert hunks(base, side) == [Hunk(at, at + 1, (side[at],)) for at in range(0, len(base), 2)]
    assert time.process_time() - began < 5


def test_what_is_found_by_landmarks_still_gives_the_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("replay_rules.hunks._MOST_WORK", 100)
    dice = random.Random(3)
    for _ in range(300):
        kinds = dice.choice((3, 40))
        base = [b"%d\n" % dice.randrange(kinds) for _ in range(dice.randrange(40))]
        side = [line for line in base if dice.random() < 0.8]
        for _ in range(dice.randrange(4)):
            side.insert(dice.randrange(len(side) + 1), b"%d\n" % dice.randrange(kinds))
        assert rebuild(base, base, side, []) == side

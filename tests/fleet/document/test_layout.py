from __future__ import annotations

import random
import textwrap

import pytest

from fleet.jobs.document.layout import laid_out


@pytest.mark.parametrize(("width", "first"), [(1, 0), (10, 0), (20, 3), (77, 0), (20, 30)])
def test_words_behind_single_blanks_stand_in_the_lines_that_textwrap_gives(width: int, first: int) -> None:
    chance = random.Random(width)
    for _ in range(300):
        words = ["w" * chance.choice((1, 2, 5, 9, 25)) for _ in range(chance.randrange(1, 40))]
        wrapped = textwrap.wrap(" " * first + " ".join(words), width, break_long_words=False, break_on_hyphens=False)
        if len(words[0]) + first <= width:
            assert laid_out(" ".join(words), width, first) == [wrapped[0][first:], *wrapped[1:]]


def test_a_word_longer_than_the_width_stands_on_a_line_alone() -> None:
    assert laid_out("a " + "w" * 30 + " b c", 10) == ["a", "w" * 30, "b c"]
    assert laid_out("w" * 30, 10, 20) == ["w" * 30]


def test_further_lines_of_an_item_hang_below_its_text() -> None:
    assert laid_out("- one two three\n- four", 10) == ["- one two", "  three", "- four"]

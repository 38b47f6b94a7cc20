"""Tabs and blanks that an answer has lost: put back where it is sure where they were."""

from __future__ import annotations

import random
import time

import pytest

from fleet.jobs.edit.blanks import LostTabs, places, put_back
from fleet.jobs.edit.formats import parse
from qodebase.paths import RepoPath

GO = "package a\n\nfunc f() {\n\tif x {\n\t\treturn 1  \n\t}\n\treturn 2\n}\n"
PATH = RepoPath(b"a.go")


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


@pytest.mark.parametrize("width", [2, 3, 4, 8])
def test_a_whole_text_gets_its_tabs_back_and_new_lines_theirs(width: int) -> None:
    wanted = GO.replace("\treturn 2", "\tif y {\n\t\treturn 3\n\t}\n\treturn 2")
    told = "".join(f"{line.rstrip()}\n" for line in wanted.expandtabs(width).splitlines())
    assert put_back(GO, told) == wanted


def test_what_is_only_lost_is_put_back_and_what_is_changed_is_not() -> None:
    before = "one  \ntwo\n   \nthree\t\n"
    assert put_back(before, "one\nTWO\n\nthree\n") == "one  \nTWO\n   \nthree\t\n"
    assert put_back(before, "one \nTWO\n   \nthree\t\n") == "one  \nTWO\n   \nthree\t\n"
    assert put_back(before, "zero\n") == "zero\n"
    inner = "def f():\n\tif x:\n\t\treturn 1\n"
    assert put_back("def f():\n\treturn 1\n", inner) == inner
    assert put_back("a\n", "a  \nb\n") == "a  \nb\n"


def test_of_tabs_and_blanks_side_by_side_nobody_can_say_which_were_which() -> None:
    with pytest.raises(LostTabs):
        put_back("x: y\n\tcc a \\\n      b\n", "x: y\n    cc a \\\n      b\n    ld\n")


def test_a_block_and_a_hunk_find_their_place_though_their_tabs_are_blanks() -> None:
    wanted = GO.replace("\t\treturn 1", "\t\ty := 1\n\t\treturn 1")
    told = block("    if x {\n        return 1\n", "    if x {\n        y := 1\n        return 1\n")
    assert parse("blocks", told, {PATH: GO}) == {PATH: wanted}
    hunk = "@@ -4,2 +4,3 @@\n     if x {\n+        y := 1\n         return 1\n"
    assert parse("diff", f"--- a/a.go\n+++ b/a.go\n{hunk}", {PATH: GO}) == {PATH: wanted}


def test_what_a_block_leaves_as_it_is_stays_as_it_stands_in_the_file() -> None:
    told = block("\t\treturn 1\n\t}\n", "\t\treturn 1\n\t\ty()\n\t}\n")
    assert parse("blocks", told, {PATH: GO}) == {PATH: GO.replace("\t}\n", "\t\ty()\n\t}\n")}
    assert parse("blocks", block("\t\treturn 1  \n", "\t\treturn 1\n"), {PATH: GO}) == {PATH: GO.replace("1  ", "1")}


def test_lines_are_found_to_the_letter_first() -> None:
    assert places(["\ta", "    a", "a"], ["    a"]) == {1: 0}
    assert places(["\ta", "\t\ta"], ["    a"]) == {0: 4, 1: 2}
    assert places(["  a"], ["a"]) == {}


def test_blanks_that_may_be_one_tab_or_two_are_sure_of_neither() -> None:
    assert places(["\ta", "x", "\t\ta"], ["        a"]) == {2: 4, 0: 8}
    assert places(["\ta", "\tb", "\t\ta", "\t\tb"], ["        a", "        b"]) == {2: 4, 0: 8}
    assert places(["\ta", "\t\tb"], ["    a", "        b"]) == {0: 4}
    with pytest.raises(LostTabs):
        put_back("\ta\n\t\ta\n", "        a\n")
    with pytest.raises(LostTabs):
        put_back("\ta\n", "    b\n")


def test_made_texts_come_back_whole_whatever_they_lost() -> None:
    dice = random.Random(7)
    for _ in range(200):
        lines = ["\t" * dice.randrange(4) + dice.choice("abc") + dice.choice(("", "", " ")) for _ in range(30)]
        before = "".join(f"{line}\n" for line in ("top", *lines))
        at = dice.randrange(1, 30)
        new = [*lines[:at], "\tnew line", *lines[at:]]
        told = "".join(f"{line.expandtabs(4).rstrip()}\n" for line in ("top", *new))
        assert put_back(before, told) == "".join(f"{line}\n" for line in ("top", *new))


def test_a_large_text_of_equal_lines_takes_no_time() -> None:
    before = "\tx = 1 \n" * 20_000
    begun = time.process_time()
    put_back(before, "    x = 1\n" * 20_001)
    assert time.process_time() - begun < 5

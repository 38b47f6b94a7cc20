from __future__ import annotations

from lanes.read_sets import Moved, ReadSets, meets, touched
from qodebase.collision import Entry
from qodebase.edits import Edit
from qodebase.paths import RepoPath

A, B, C = (RepoPath(name) for name in (b"x/a", b"x/b", b"y/z/c"))
ENTRY = Entry(0o100644, "0" * 40)
EDIT = Edit(0o100644, b"1")


def test_an_edit_touches_its_path_and_one_that_comes_or_goes_the_folders_above_too() -> None:
    assert touched({A: EDIT}, {A: ENTRY}) == {A}
    assert touched({A: EDIT}, {A: None}) == {A, b"/", b"x/"}
    assert touched({C: None}, {C: ENTRY}) == {C, b"/", b"y/", b"y/z/"}
    assert touched({C: None}, {C: None}) == {C}


def test_checks_are_found_by_what_they_read_and_those_of_everything_always() -> None:
    sets = ReadSets()
    sets.keep("one", (A, B))
    sets.keep("two", (RepoPath(b"y/z/"),))
    sets.keep("all", None)
    assert sets.meeting([B]) == {"one", "all"}
    assert sets.meeting(touched({C: EDIT}, {C: None})) == {"two", "all"}
    assert sets.meeting([]) == {"all"}
    sets.keep("one", (C,))
    sets.keep("all", ())
    assert sets.meeting([A, B]) == set()
    assert sets.meeting([C]) == {"one"}
    sets.drop("one")
    sets.drop("nobody")
    assert sets.meeting([C]) == set()


def test_a_check_that_read_everything_meets_what_touches_nothing() -> None:
    assert meets(None, set())
    assert meets((A, B), {B})
    assert not meets((A,), {B})


def test_what_moved_is_known_from_any_position_on() -> None:
    moved = Moved()
    for position, path in ((2, A), (3, B), (7, C)):
        moved.landed(position, frozenset([path]))
    assert [moved.since(position) for position in (0, 2, 5, 7)] == [{A, B, C}, {B, C}, {C}, set()]

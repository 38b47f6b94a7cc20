from __future__ import annotations

from lanes.read_sets import Looked, Moved, ReadSets, Touched, all_touched, touched
from qodebase.collision import Entry
from qodebase.edits import Edit
from qodebase.paths import RepoPath

A, B, C = (RepoPath(name) for name in (b"x/a", b"x/b", b"y/z/c"))
CODE = RepoPath(b"x/code.py")
ENTRY = Entry(0o100644, "0" * 40)
EDIT = Edit(0o100644, b"1")


class Code:
    def __init__(self, contents: dict[RepoPath, bytes]) -> None:
        self._contents = contents

    def entry(self, path: RepoPath) -> Entry | None:
        return ENTRY if path in self._contents else None

    def read(self, path: RepoPath) -> bytes:
        return self._contents[path]


def at(*places: bytes, named: dict[RepoPath, str] | None = None) -> Touched:
    names = {path: frozenset(text.split()) for path, text in (named or {}).items()}
    return Touched(frozenset({*map(RepoPath, places), *names}), names)


def looked(*places: bytes, mentions: str | None = None) -> Looked:
    return Looked(tuple(map(RepoPath, places)), None if mentions is None else (frozenset(mentions.split()),))


def test_an_edit_touches_its_path_and_one_that_comes_or_goes_the_folders_above_too() -> None:
    def places(path: RepoPath, edit: Edit | None, *there: RepoPath) -> frozenset[RepoPath]:
        return touched({path: edit}, Code(dict.fromkeys(there, b"")), named=False).places

    assert places(A, EDIT, A) == {A}
    assert places(A, EDIT) == {A, b"/", b"x/"}
    assert places(C, None, C) == {C, b"/", b"y/", b"y/z/"}
    assert places(C, None) == {C}
    assert places(A, Edit(0o120000, b"b"), A) == {A, b"/", b"x/"}


def test_an_edit_of_a_function_touches_its_name_where_names_are_looked_at() -> None:
    before = Code({CODE: b"def f(): return 1\n", A: b"def f(): return 1\n"})
    edits: dict[RepoPath, Edit | None] = {path: Edit(0o100644, b"def f(): return 2\n") for path in (CODE, A)}
    assert touched(edits, before, named=True) == Touched(frozenset([CODE, A]), {CODE: frozenset("f")})
    assert touched(edits, before, named=False) == Touched(frozenset([CODE, A]))
    executable: dict[RepoPath, Edit | None] = {CODE: Edit(0o100755, b"def f(): return 2\n")}
    assert touched(executable, before, named=True).named == {}


def test_of_changes_one_behind_the_other_a_path_is_named_only_where_all_are() -> None:
    first, second = at(B, named={CODE: "f"}), at(named={CODE: "g", A: "h"})
    assert all_touched([first, second]) == at(B, named={CODE: "f g", A: "h"})
    assert all_touched([first, at(CODE)]) == at(B, CODE)
    assert all_touched([]) == at()


def test_checks_are_found_by_what_they_read_and_those_of_everything_always() -> None:
    sets = ReadSets()
    sets.keep("one", looked(A, B))
    sets.keep("two", looked(b"y/z/"))
    sets.keep("all", Looked(None))
    assert sets.meeting(at(B)) == {"one", "all"}
    assert sets.meeting(touched({C: EDIT}, Code({}), named=True)) == {"two", "all"}
    assert sets.meeting(at()) == {"all"}
    sets.keep("one", looked(C))
    sets.keep("all", looked())
    assert sets.meeting(at(A, B)) == set()
    assert sets.meeting(at(C)) == {"one"}
    sets.drop("one")
    sets.drop("nobody")
    assert sets.meeting(at(C)) == set()


def test_a_check_that_mentions_no_name_that_changed_is_not_found_by_the_file() -> None:
    sets = ReadSets()
    sets.keep("f", looked(CODE, mentions="f g"))
    sets.keep("h", looked(CODE, mentions="h"))
    sets.keep("unknown", looked(CODE))
    sets.keep("elsewhere", looked(A, mentions="f"))
    assert sets.known_to_meet(at(named={CODE: "g new"})) == {"f", "unknown"}
    assert sets.known_to_meet(at(CODE)) == {"f", "h", "unknown"}
    sets.keep("f", looked(CODE, mentions="h"))
    assert sets.known_to_meet(at(named={CODE: "g"})) == {"unknown"}


def test_a_check_that_looked_at_everything_meets_what_touches_nothing() -> None:
    assert Looked(None).meets(at())
    assert looked(A, B).meets(at(B))
    assert not looked(A).meets(at(B))


def test_a_check_meets_a_file_by_the_names_that_it_mentions() -> None:
    change = at(named={CODE: "f"})
    assert looked(CODE, mentions="f g").meets(change)
    assert looked(CODE).meets(change)
    assert not looked(CODE, mentions="g").meets(change)
    assert not looked(A, mentions="f").meets(change)
    assert looked(A, CODE, mentions="g").meets(at(A, named={CODE: "f"}))


def test_what_moved_is_known_from_any_position_on() -> None:
    moved = Moved()
    for position, path in ((2, A), (3, B), (7, C)):
        moved.landed(position, at(path))
    found = [moved.since(position).places for position in (0, 2, 5, 7)]
    assert found == [{A, B, C}, {B, C}, {C}, set()]

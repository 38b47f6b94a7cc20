"""Where each path of a change lands."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from made_tree import Files

from qodebase.change import EXECUTABLE, AnyOperation, Change, Delete, Patch, Rename, SetMode, Write
from qodebase.collision import Collision, Declined, Resolved
from qodebase.edits import Edit, materialise
from qodebase.paths import CommitId, RepoPath
from replay_rules.ladder import climb
from replay_rules.placing import Laid, Place, follow, placed, renamed_by
from replay_rules.renames import Moves, moves_between

BODY = b"".join(b"line number %d\n" % number for number in range(20))
OLD, NEW, OTHER = RepoPath(b"src/old.py"), RepoPath(b"lib/new.py"), RepoPath(b"lib/other.py")
BASE = Files({"src/old.py": BODY, "keep.py": b"k\n"})


def edited(*numbers: int) -> bytes:
    """Return the body with some lines replaced."""
    out = BODY
    for number in numbers:
        out = out.replace(b"number %d\n" % number, b"is now %d\n" % number)
    return out


def places_of(
    operations: tuple[AnyOperation, ...], now: Files, shared: frozenset[RepoPath] = frozenset(), *, alike: bool = False
) -> list[Place]:
    """Place a change of the base on main as it is now; main's renames are those between the two."""
    change = Change(base=CommitId("0" * 40), operations=operations)
    edits = materialise(change, BASE, lambda path: path not in shared)
    return placed(change, edits, BASE, now, moves_between(BASE, now).target, shared=shared, idempotent=lambda _: alike)


def test_what_main_did_not_move_is_taken_as_it_is() -> None:
    places = places_of((Rename(path=OLD, target=NEW), Delete(path=RepoPath(b"keep.py"))), BASE)
    assert [(place.path, place.target, place.collision, place.why) for place in places] == [
        (OLD, OLD, None, ""),
        (NEW, NEW, None, ""),
        (b"keep.py", b"keep.py", None, ""),
    ]
    assert places[0].edits(places[0].edit, BASE) == {OLD: None}


def test_an_edit_lands_where_main_renamed_the_file_and_with_mains_mode() -> None:
    now = Files({"lib/new.py": (edited(1), EXECUTABLE), "keep.py": b"k\n"})
    (place,) = places_of((Write(path=OLD, content=edited(15)),), now)
    assert (place.path, place.target, place.touched) == (OLD, NEW, (OLD, NEW))
    assert place.collision is not None
    assert place.collision.path == NEW
    assert climb(place.collision).resolved == Resolved(content=edited(1, 15), mode=EXECUTABLE)
    assert place.edits(None, now) == {NEW: None}


def test_a_rename_takes_what_main_wrote_with_it_and_empties_the_old_place() -> None:
    now = Files({"src/old.py": edited(1), "keep.py": b"k\n"})
    (place,) = places_of((Rename(path=OLD, target=NEW), SetMode(path=NEW, mode=EXECUTABLE)), now)
    assert isinstance(place.collision, Collision)
    resolved = climb(place.collision).resolved
    assert resolved == Resolved(content=edited(1), mode=EXECUTABLE)
    edit = Edit(EXECUTABLE, edited(1))
    assert place.edits(edit, now) == {OLD: None, NEW: edit}


@pytest.mark.parametrize(
    ("operations", "now", "why"),
    [
        ((Rename(path=OLD, target=OTHER),), {"lib/new.py": BODY}, "moved here to lib/other.py, on main to lib/new.py"),
        ((Rename(path=OLD, target=NEW),), {}, "deleted on main, moved here to lib/new.py"),
        ((Delete(path=OLD),), {"lib/new.py": BODY}, "deleted here, moved on main to lib/new.py"),
        ((Rename(path=OLD, target=NEW),), {"a.py": BODY, "b.py": BODY}, "1 equal files are gone and 2 came"),
        (
            (Rename(path=OLD, target=NEW),),
            {"src/old.py": edited(1), "lib/new.py": b"other\n"},
            "moved here to lib/new.py, where main has another file now",
        ),
        (
            (Write(path=OLD, content=edited(2)), Write(path=NEW, content=b"own\n")),
            {"lib/new.py": BODY},
            "moved on main to lib/new.py, which the change writes itself",
        ),
    ],
)
def test_what_has_no_certain_place_says_why(
    operations: tuple[AnyOperation, ...], now: Mapping[str, bytes], why: str
) -> None:
    places = places_of(operations, Files({"keep.py": b"k\n", **now}))
    assert [place.why for place in places if place.why] == [f"{why}: author"]
    assert all(place.collision is None for place in places if place.why)


def test_a_deletion_on_main_stays_a_collision_of_the_path_itself() -> None:
    (place,) = places_of((Write(path=OLD, content=edited(2)),), Files({"keep.py": b"k\n"}))
    assert (place.target, place.why) == (OLD, "")
    assert place.collision is not None
    assert place.collision.main.content is None
    assert climb(place.collision).resolved is None


@pytest.mark.parametrize("alike", [False, True])
def test_a_file_that_both_sides_delete_is_gone_where_what_is_alike_is_meant_once(alike: bool) -> None:
    gone = Files({"keep.py": b"k\n"})
    (place,) = places_of((Delete(path=OLD),), gone, alike=alike)
    assert (place.target, place.edit, place.why) == (OLD, None, "")
    if alike:
        assert place.collision is None
        assert place.edits(place.edit, gone) == {OLD: None}
    else:
        assert place.collision is not None
        assert climb(place.collision).steps[0].declined == "both sides deleted the file: author"
    (place,) = places_of((Delete(path=OLD),), Files({"src/old.py": edited(1), "keep.py": b"k\n"}), alike=alike)
    assert place.collision is not None
    assert climb(place.collision).steps[0].declined == "deleted on one side, edited on the other: author"


def test_a_file_that_became_another_kind_of_file_is_not_followed() -> None:
    (place,) = places_of((Write(path=OLD, content=edited(2)),), Files({"lib/new.txt": BODY, "keep.py": b"k\n"}))
    assert place.why == "moved on main to lib/new.txt, which is another kind of file: model"


def test_a_change_that_writes_a_shared_path_does_not_follow() -> None:
    shared = frozenset([RepoPath(b"index")])
    operations = (Write(path=OLD, content=edited(2)), Write(path=RepoPath(b"index"), content=b"src/old.py\n"))
    (place,) = places_of(operations, Files({"lib/new.py": BODY, "keep.py": b"k\n"}), shared)
    assert place.why == "moved on main to lib/new.py, and what it writes in index names the old path: model"
    (place,) = places_of(operations, Files({"src/old.py": edited(1), "keep.py": b"k\n"}), shared)
    assert place.collision is not None


@pytest.mark.parametrize(
    ("operations", "found"),
    [
        ((Rename(path=OLD, target=NEW),), {OLD: NEW}),
        ((Rename(path=OLD, target=OTHER), Rename(path=OTHER, target=NEW)), {OLD: NEW}),
        ((Rename(path=OLD, target=NEW), Write(path=NEW, content=b"all else\n")), {OLD: NEW}),
        ((Delete(path=OLD), Write(path=NEW, content=edited(1))), {OLD: NEW}),
        ((Delete(path=OLD), Write(path=NEW, content=b"all else\n")), {}),
        ((Rename(path=OLD, target=NEW), Write(path=OLD, content=b"a stub\n")), {}),
        ((Rename(path=OLD, target=NEW), Delete(path=NEW)), {}),
        ((Patch(path=OLD, hunks=()),), {}),
    ],
    ids=["told", "twice", "rewritten", "seen", "another file", "a stub is left", "deleted after", "none"],
)
def test_a_changes_own_renames_are_told_or_seen(
    operations: tuple[AnyOperation, ...], found: Mapping[RepoPath, RepoPath]
) -> None:
    change = Change(base=CommitId("0" * 40), operations=operations)
    assert renamed_by(change, materialise(change, BASE), BASE) == found


class Steps:
    """A history of trees, one a commit."""

    def __init__(self, *trees: Files) -> None:
        self._trees = trees

    def removal(self, path: RepoPath, after: int) -> tuple[int, Moves] | None:
        for position in range(after + 1, len(self._trees)):
            moves = moves_between(self._trees[position - 1], self._trees[position])
            if path in moves.gone:
                return position, moves
        return None


def test_a_file_is_followed_from_commit_to_commit_however_it_changed_in_between() -> None:
    first, second = edited(*range(8)), edited(*range(16))
    trees = [Files({"src/old.py": BODY}), Files({"a": first}), Files({"a": second}), Files({"b": second, "c": b"c\n"})]
    assert moves_between(trees[0], trees[-1]).target(OLD) is None
    assert follow(OLD, 0, Steps(*trees)) == b"b"
    assert follow(RepoPath(b"a"), 1, Steps(*trees)) == b"b"
    assert follow(OLD, 1, Steps(*trees)) == OLD
    assert follow(OLD, 0, Steps(*trees, Files({"c": b"c\n"}))) is None
    assert isinstance(follow(OLD, 0, Steps(*trees, Files({"x": second, "y": second}))), Declined)


def test_an_old_path_that_was_made_anew_is_not_the_file_that_left_it() -> None:
    trees = [Files({"src/old.py": BODY}), Files({"a": BODY}), Files({"a": BODY, "src/old.py": b"stub\n"})]
    assert follow(OLD, 0, Steps(*trees)) == b"a"
    assert follow(OLD, 2, Steps(*trees)) == OLD


def test_edits_laid_on_a_tree_are_what_it_holds() -> None:
    laid = Laid(BASE, {OLD: None, NEW: Edit(EXECUTABLE, b"n\n")})
    assert laid.entry(OLD) is None
    assert laid.entry(NEW) == Edit(EXECUTABLE, b"n\n").entry
    assert (laid.read(NEW), laid.read(RepoPath(b"keep.py"))) == (b"n\n", b"k\n")
    with pytest.raises(KeyError):
        laid.read(OLD)

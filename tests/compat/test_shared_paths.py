"""Shared paths: taken where main did not move, redone where it did, declined together with their whole change."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from qodebase.change import EXECUTABLE, REGULAR, Hunk
from qodebase.collision import Declined, Entry
from qodebase.paths import RepoPath
from qodebase.trunk.batch import Edit, How, Landed, LandingRefused, Moved, SharedEdit
from qodebase.trunk.landing import Trunk

Call = Callable[..., Any]
INDEX = RepoPath(b"docs/INDEX.md")


def add_line(shared: SharedEdit, content: bytes | None) -> bytes | Declined:
    assert isinstance(shared.change, tuple)
    line = shared.change[0].text
    lines = (content or b"").splitlines(keepends=True)
    return Declined(why=f"{line!r} is there") if line in lines else b"".join(sorted([*lines, line]))


def line(base: Entry | None, number: int) -> SharedEdit:
    return SharedEdit(path=INDEX, base=base, change=(Hunk(offset=0, text=b"%05d\n" % number),))


def test_every_change_adds_its_line_in_one_batch(repository: Call, landing: Call, git: Call, sound: Call) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        numbers = [number * 7919 % 500 for number in range(500)]
        batch = [landing(trunk, {b"f%d" % number: b"x"}, shared=(line(None, number),)) for number in numbers]
        results: Any = trunk.land(batch, add_line)
        assert [result.shared[INDEX].how for result in results] == [How.TAKEN] + [How.REDONE] * 499
        for before, after in pairwise(results):
            assert after.shared[INDEX].before == before.shared[INDEX].after
    assert git(path, "cat-file", "blob", f"main:{INDEX.decode()}") == b"".join(b"%05d\n" % at for at in range(500))
    for number, result in list(zip(numbers, results, strict=True))[::50]:
        diff = git(path, "diff", "-U0", f"{result.commit}^", result.commit, "--", INDEX.decode())
        assert [text for text in diff.splitlines() if text[:1] in b"+-" and text[:3] not in (b"+++", b"---")] == [
            b"+%05d" % number
        ]
    sound(path)


def test_shared_files_too_large_to_be_kept_and_empty_ones_are_redone_within_one_batch(
    repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    large = b"a line of a large index\n" * 800_000
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1", level=1) as trunk:
        first = landing(trunk, {b"f": b""}, shared=(SharedEdit(path=INDEX, base=None, change=large),))
        others = [landing(trunk, {b"f%d" % at: b""}, shared=(line(None, at),)) for at in range(2)]
        on_empty = landing(trunk, {}, shared=(SharedEdit(path=RepoPath(b"f"), base=None, change=b"x"),))

        def redo(shared: SharedEdit, content: bytes | None) -> bytes:
            assert content is not None
            assert isinstance(shared.change, bytes) or content.startswith(large)
            return content + (shared.change if isinstance(shared.change, bytes) else shared.change[0].text)

        results = trunk.land([first, *others, on_empty], redo)
        assert [type(result) for result in results] == [Landed] * 4
    assert git(path, "cat-file", "blob", "main:docs/INDEX.md") == large + b"00000\n00001\n"
    assert git(path, "cat-file", "blob", "main:f") == b"x"
    sound(path)


def test_a_declined_edit_holds_back_its_whole_change_and_the_others_land(
    repository: Call, landing: Call, ls_tree: Call, sound: Call
) -> None:
    path = repository({b"docs/INDEX.md": (EXECUTABLE, b"00001\n")})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        base = trunk.entry(INDEX)
        batch = [
            landing(trunk, {b"one": b"x"}, shared=(line(base, 2),)),
            landing(trunk, {b"two": b"x"}, shared=(line(base, 2),)),
            landing(trunk, {b"three": b"x"}, shared=(line(base, 3),)),
        ]
        results: Any = trunk.land(batch, add_line)
    assert [type(result) for result in results] == [Landed, Moved, Landed]
    assert results[1] == Moved(paths=(INDEX,), why="b'00002\\n' is there")
    assert set(ls_tree(path)) == {b"one", b"three", INDEX}
    assert ls_tree(path)[INDEX].mode == EXECUTABLE
    sound(path)


def test_a_shared_path_that_main_deleted_or_made_a_link_is_told_to_the_rule_or_held_back(
    repository: Call, landing: Call, land: Call
) -> None:
    path = repository({b"docs/INDEX.md": b"00001\n", b"a": b"x"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        base = trunk.entry(INDEX)
        land(trunk, {INDEX: None})
        seen = []

        def redo(shared: SharedEdit, content: bytes | None) -> bytes:
            seen.append(content)
            return b"again\n"

        result: Any = trunk.land([landing(trunk, {b"a": b"1"}, shared=(line(base, 2),))], redo)[0]
        assert seen == [None]
        assert result.shared[INDEX].after.mode == REGULAR
        land(trunk, {INDEX: (0o120000, b"elsewhere")}, intent="link")
        result = trunk.land([landing(trunk, {b"a": b"2"}, shared=(line(base, 3),))], redo)[0]
        assert isinstance(result, Moved)
        assert len(seen) == 1


def test_whole_content_is_taken_when_main_is_what_the_edit_was_made_on(
    repository: Call, landing: Call, git: Call
) -> None:
    path = repository({b"docs/INDEX.md": b"old\n"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        shared = SharedEdit(path=INDEX, base=trunk.entry(INDEX), change=b"new\n", mode=EXECUTABLE)
        result: Any = trunk.land([landing(trunk, {}, shared=(shared,))], add_line)[0]
        assert result.shared[INDEX].how is How.TAKEN
    assert git(path, "ls-tree", "main", INDEX.decode()).startswith(b"100755 ")
    assert git(path, "cat-file", "blob", "main:docs/INDEX.md") == b"new\n"


def test_a_shared_edit_that_does_not_fit_its_base_is_refused(repository: Call, landing: Call) -> None:
    path = repository({b"docs/INDEX.md": b"old\n"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        tip = trunk.tip
        base = trunk.entry(INDEX)
        far = SharedEdit(path=INDEX, base=base, change=(Hunk(offset=50, text=b"x"),))
        twice = Edit(mode=REGULAR, content=b"x")
        for broken in (
            landing(trunk, {}, shared=(far,)),
            landing(trunk, {INDEX: twice}, shared=(line(base, 1),)),
            landing(trunk, {}, shared=(line(base, 1), line(base, 2))),
            landing(trunk, {}, shared=(SharedEdit(path=RepoPath(b".git/x"), base=None, change=b""),)),
        ):
            with pytest.raises(LandingRefused):
                trunk.land([broken], add_line)
        assert trunk.tip == tip


def test_an_error_in_a_rule_or_a_note_leaves_main_and_memory_as_they_were(
    repository: Call, landing: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"docs/INDEX.md": b"00001\n", b"a": b"x"})

    def broken(*arguments: object) -> bytes:
        raise ZeroDivisionError

    with Trunk.open(path, branch="main", run="run-1") as trunk:
        tip, tree = trunk.tip, trunk.tip_tree
        good = landing(trunk, {b"a": b"1"}, shared=(line(trunk.entry(INDEX), 2),))
        for bad in (
            landing(trunk, {b"b": b"1"}, shared=(line(None, 3),)),
            landing(trunk, {b"b": b"1"}, note=broken),
            landing(trunk, {b"b": b"1"}, sign=broken),
        ):
            with pytest.raises(ZeroDivisionError):
                trunk.land([good, bad], broken)
        assert (trunk.tip, trunk.tip_tree) == (tip, tree)
        land(trunk, {b"a": b"2"})
    assert git(path, "rev-list", "--count", "main").strip() == b"2"
    sound(path)


def test_a_later_landing_builds_on_an_earlier_one_of_its_batch(
    repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    from qodebase.trunk.objects import BLOB, hash_object

    path = repository({b"a": b"0"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        first = landing(trunk, {b"a": b"1"}, intent="1")
        entry = Entry(REGULAR, hash_object(BLOB, b"1").hex())  # type: ignore[arg-type]
        second = landing(trunk, {b"a": b"2"}, intent="2", expects={b"a": entry})
        stale = landing(trunk, {b"a": b"3"}, intent="3")
        copied = landing(trunk, {b"copy": Edit(mode=REGULAR, id=entry.id)}, intent="4")
        results: Any = trunk.land([first, second, stale, copied], add_line)
        assert [type(result) for result in results] == [Landed, Landed, Moved, Landed]
        assert results[2].paths == (b"a",)
        assert results[3].parent == results[1].commit
        assert trunk.moved(b"a", entry)
    assert git(path, "cat-file", "blob", "main:copy") == b"1"
    assert git(path, "rev-list", "--count", "main").strip() == b"4"
    sound(path)


def test_behind_a_landing_that_did_not_land_nothing_of_its_row_lands(
    repository: Call, landing: Call, ls_tree: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        batch = [
            landing(trunk, {b"first": b""}, shared=(line(None, 1),), behind="t"),
            landing(trunk, {b"declined": b""}, shared=(line(None, 1),), behind="t"),
            landing(trunk, {b"behind": b""}, behind="t"),
            landing(trunk, {b"other": b""}, behind="u"),
            landing(trunk, {b"alone": b""}),
        ]
        results = trunk.land(batch, add_line)
        assert [type(result) for result in results] == [Landed, Moved, Moved, Landed, Landed]
        assert results[2] == Moved(paths=(), why="one ahead of it has not landed")
        again: Any = trunk.land([landing(trunk, {b"behind": b""}, behind="t")], add_line)
        assert isinstance(again[0], Landed)
    assert set(ls_tree(path)) == {b"a", b"first", b"other", b"alone", b"behind", INDEX}
    sound(path)

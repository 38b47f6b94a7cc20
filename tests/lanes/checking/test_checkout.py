from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from checking_world import CheckingWorld
from hypothesis import given, settings
from hypothesis import strategies as st

from lanes.checking.checkout import Checkout, Laid
from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK
from qodebase.edits import Edit
from qodebase.paths import RepoPath

BASE = {b"a/one": b"1", b"a/two": b"2", b"b": b"b"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckingWorld]:
    with CheckingWorld(tmp_path_factory.mktemp("world") / "repo.git", BASE) as made:
        yield made


def held(folder: Path) -> dict[str, object]:
    """Return what a folder holds: text of files, ``->`` and the target of links, None for empty folders."""
    found: dict[str, object] = {}
    for place in sorted(folder.rglob("*")):
        name = str(place.relative_to(folder))
        if place.is_symlink():
            found[name] = f"-> {os.readlink(place)}"
        elif place.is_file():
            found[name] = place.read_bytes()
        elif not any(place.iterdir()):
            found[name] = None
    return found


def inodes(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(place.relative_to(folder)): (place.stat().st_ino, place.stat().st_mtime_ns)
        for place in folder.rglob("*")
        if place.is_file()
    }


def over(laid: Mapping[bytes, bytes | None]) -> dict[RepoPath, Laid | None]:
    return {RepoPath(path): None if text is None else Laid(REGULAR, text) for path, text in laid.items()}


def test_from_one_tree_to_the_next_only_what_differs_is_written(world: CheckingWorld, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "c")
    checkout.hold(world.code({}), {})
    before = inodes(checkout.root)
    checkout.hold(world.code({b"a/one": b"new", b"b": None, b"c/d": b"d"}), {})
    assert held(checkout.root) == {"a/one": b"new", "a/two": b"2", "c/d": b"d"}
    assert inodes(checkout.root)["a/two"] == before["a/two"]
    assert inodes(checkout.root)["a/one"][0] == before["a/one"][0]
    checkout.hold(world.code({}), {})
    assert held(checkout.root) == {"a/one": b"1", "a/two": b"2", "b": b"b"}


def test_what_is_laid_over_a_tree_is_gone_with_the_next(world: CheckingWorld, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "c")
    code = world.code({})
    checkout.hold(code, over({b"own/t": b"t", b"a/one": b"mine", b"b": None}))
    assert held(checkout.root) == {"a/one": b"mine", "a/two": b"2", "own/t": b"t"}
    checkout.hold(code, over({b"own/t": b"u"}))
    assert held(checkout.root) == {"a/one": b"1", "a/two": b"2", "b": b"b", "own/t": b"u"}
    checkout.hold(world.code({b"own/t": b"of the tree"}), {})
    assert held(checkout.root) == {"a/one": b"1", "a/two": b"2", "b": b"b", "own/t": b"of the tree"}


def test_a_file_that_was_laid_comes_back_as_it_was_and_another_content_with_a_time_of_its_own(
    world: CheckingWorld, tmp_path: Path
) -> None:
    checkout = Checkout(tmp_path / "c")
    code = world.code({})
    checkout.hold(code, over({b"own/t": b"t", b"own/u": b"u"}))
    before = inodes(checkout.root)
    checkout.hold(code, over({b"own/u": b"u"}))
    assert held(checkout.root) == {"a/one": b"1", "a/two": b"2", "b": b"b", "own/u": b"u"}
    checkout.hold(code, over({b"own/t": b"t", b"own/u": b"u"}))
    assert inodes(checkout.root) == before
    checkout.hold(code, {})
    checkout.hold(code, over({b"own/t": b"T", b"own/u": b"u"}))
    assert held(checkout.root)["own/t"] == b"T"
    after = inodes(checkout.root)
    assert after["own/t"][0] == before["own/t"][0]
    assert after["own/t"][1] != before["own/t"][1]


def test_what_was_parked_is_forgotten_where_something_may_have_been_written(
    world: CheckingWorld, tmp_path: Path
) -> None:
    checkout = Checkout(tmp_path / "c")
    code = world.code({})
    laid = over({b"own/t": b"t"})
    checkout.hold(code, laid)
    (checkout.root / "own/t").write_text("dirt")
    checkout.hold(code, {})
    checkout.spoil()
    checkout.hold(code, laid)
    assert held(checkout.root)["own/t"] == b"t"


def test_of_parked_files_so_many_are_kept_and_no_more(
    world: CheckingWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanes.checking.checkout._MOST_PARKED", 3)
    checkout = Checkout(tmp_path / "c")
    code = world.code({})
    laid = over({b"own/%d" % number: b"t" for number in range(5)})
    checkout.hold(code, laid)
    checkout.hold(code, {})
    assert len(list((tmp_path / "c.parked").iterdir())) == 3
    checkout.hold(code, laid)
    assert list((tmp_path / "c.parked").iterdir()) == []
    assert len(held(checkout.root)) == 3 + 5


def test_modes_links_and_submodules_are_laid_out_and_links_that_lead_out_are_files(
    world: CheckingWorld, tmp_path: Path
) -> None:
    checkout = Checkout(tmp_path / "c")
    files = {
        b"run": Edit(EXECUTABLE, b"#!/bin/sh\n"),
        b"a/in": Edit(SYMLINK, b"../b"),
        b"a/out": Edit(SYMLINK, b"../../etc"),
        b"abs": Edit(SYMLINK, b"/etc/passwd"),
    }
    checkout.hold(world.code(files), {RepoPath(b"sub"): Laid(SUBMODULE, b"")})
    found = held(checkout.root)
    assert found["a/in"] == "-> ../b"
    assert (found["a/out"], found["abs"], found["sub"]) == (b"../../etc", b"/etc/passwd", None)
    assert os.access(checkout.root / "run", os.X_OK)
    assert not os.access(checkout.root / "b", os.X_OK)
    checkout.hold(world.code({b"run": b"#!/bin/sh\n"}), {})
    assert (checkout.root / "run").stat().st_mode & 0o777 == 0o644


def test_a_link_is_never_written_through(world: CheckingWorld, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "c")
    linked = {b"a/one": None, b"a/two": None, b"a": Edit(SYMLINK, b"target"), b"target/x": b"x"}
    checkout.hold(world.code(linked), {})
    checkout.hold(world.code(linked), over({b"a/one": b"laid"}))
    assert not (checkout.root / "a").is_symlink()
    assert held(checkout.root) == {"a/one": b"laid", "b": b"b", "target/x": b"x"}
    checkout.hold(world.code(linked), {})
    assert held(checkout.root) == {"a": "-> target", "b": b"b", "target/x": b"x"}


def test_a_spoiled_folder_is_laid_out_from_nothing(world: CheckingWorld, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "c")
    code = world.code({})
    checkout.hold(code, {})
    (checkout.root / "a/one").write_text("dirt")
    (checkout.root / "more").write_text("dirt")
    checkout.spoil()
    checkout.hold(code, {})
    assert held(checkout.root) == {"a/one": b"1", "a/two": b"2", "b": b"b"}


def test_a_file_laid_in_a_folder_stays_when_the_tree_gets_a_file_there(world: CheckingWorld, tmp_path: Path) -> None:
    bare = {b"a/one": None, b"a/two": None}
    checkout = Checkout(tmp_path / "c")
    checkout.hold(world.code(bare), over({b"a/x": b"laid"}))
    checkout.hold(world.code({**bare, b"a": b"file"}), over({b"a/x": b"laid"}))
    assert held(checkout.root) == {"a/x": b"laid", "b": b"b"}
    checkout.hold(world.code({**bare, b"a": b"file"}), {})
    assert held(checkout.root) == {"a": b"file", "b": b"b"}


NAMES = st.sampled_from([b"a", b"a/x", b"a/x/y", b"a/one", b"b", b"b/z", b"c"])
FILES = st.dictionaries(NAMES, st.sampled_from([b"p", b"q"]), max_size=4)
LAID = st.dictionaries(NAMES, st.sampled_from([b"p", b"q", None]), max_size=4)
STATES = st.lists(st.tuples(FILES, LAID), min_size=2, max_size=5)


def without_clashes(files: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    names = sorted(files)
    return {name: files[name] for name in names if not any(name.startswith(one + b"/") for one in names)}


@given(states=STATES)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_after_any_way_the_folder_is_what_a_fresh_one_is(
    world: CheckingWorld,
    tmp_path_factory: pytest.TempPathFactory,
    states: list[tuple[dict[bytes, bytes], dict[bytes, bytes | None]]],
) -> None:
    space = tmp_path_factory.mktemp("ways")
    checkout = Checkout(space / "moved")
    for number, (files, own) in enumerate(states):
        code = world.code({b"a/one": None, b"a/two": None, b"b": None, b"keep": b"k", **without_clashes(files)})
        laid = over(own)
        checkout.hold(code, laid)
        fresh = Checkout(space / f"fresh-{number}")
        fresh.hold(code, laid)
        assert held(checkout.root) == held(fresh.root)

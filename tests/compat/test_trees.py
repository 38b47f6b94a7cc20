"""What the trunk leaves in trees, as C git sees it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK
from qodebase.collision import Entry
from qodebase.paths import RepoPath
from qodebase.trunk.batch import Edit, Landed, LandingRefused, Moved
from qodebase.trunk.landing import Trunk
from qodebase.trunk.tree import PathClash

Call = Callable[..., Any]

PARTS = st.sampled_from([b"a", b"a.b", b"a-b", b"a0", b"a b", b"b", b"\xff\n", b"Z", "ä".encode()])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(b"/".join)
MODES = st.sampled_from([REGULAR, EXECUTABLE, SYMLINK])
EDITS = st.dictionaries(PATHS, st.none() | st.tuples(MODES, st.binary(max_size=30)), min_size=1, max_size=5)
HISTORIES = st.lists(st.lists(EDITS, min_size=1, max_size=6), min_size=1, max_size=3)


def fits(files: dict[bytes, tuple[int, bytes]]) -> bool:
    """Say whether no path is a file and a folder at once."""
    return not any(path[:at] in files for path in files for at in range(len(path)) if path[at : at + 1] == b"/")


def play(folder: Path, history: list[list[dict[bytes, tuple[int, bytes] | None]]], helpers: dict[str, Call]) -> None:
    git = helpers["git"]
    files: dict[bytes, tuple[int, bytes]] = {b"a": (REGULAR, b"one"), b"b/a/a": (EXECUTABLE, b"two")}
    repository = helpers["build"](folder / "main.git", files)
    count = 1
    with Trunk.open(repository, branch="main", run="run-1") as trunk:
        for batch in history:
            landings = []
            expected: dict[bytes, Any] = {bytes(path): entry for path, entry in trunk.paths()}
            for edits in batch:
                after = files | {path: edit for path, edit in edits.items() if edit is not None}
                for path, edit in edits.items():
                    if edit is None:
                        after.pop(path, None)
                if not fits(after):
                    continue
                files = after
                landing = helpers["landing"](trunk, edits, expects={path: expected.get(path) for path in edits})
                landings.append(landing)
                wanted: dict[RepoPath, Edit | None] = {path: None for path, _ in trunk.paths()}
                for path, (mode, content) in files.items():
                    wanted[RepoPath(path)] = Edit(mode=mode, content=content)
                tree = trunk.tree_with(wanted)
                expected = {path: helpers["entry"](mode, content) for path, (mode, content) in files.items()}
            results: Any = trunk.land(landings, helpers["never"])
            assert all(isinstance(result, Landed) for result in results)
            if landings:
                assert results[-1].tree == tree == trunk.tip_tree
            count += len(landings)
        assert dict(trunk.paths()) == helpers["ls_tree"](repository)
    stream = b""
    for path, (mode, content) in files.items():
        blob = git(repository, "hash-object", "-w", "--stdin", input=content).strip()
        stream += b"%o %s\t%s\0" % (mode, blob, path)
    git(repository, "read-tree", "--empty")
    git(repository, "update-index", "-z", "--index-info", input=stream)
    assert git(repository, "write-tree") == git(repository, "rev-parse", "main^{tree}")
    assert len(git(repository, "rev-list", "main").split()) == count
    helpers["sound"](repository)


@pytest.fixture
def helpers(git: Call, landing: Call, ls_tree: Call, sound: Call) -> dict[str, Call]:
    from qodebase.trunk.batch import ObjectId
    from qodebase.trunk.objects import BLOB, hash_object

    def never(shared: object, content: object) -> bytes:
        raise AssertionError

    def build(path: Path, files: dict[bytes, tuple[int, bytes]]) -> Path:
        path.mkdir()
        git(path, "init", "-q", "--bare", "-b", "main", ".")
        stream = b"commit refs/heads/main\ncommitter P <p@example.org> 1700000000 +0000\ndata 4\nbase\n"
        for name, (mode, content) in files.items():
            stream += b"M %o inline %s\ndata %d\n%s\n" % (mode, name, len(content), content)
        git(path, "fast-import", "--quiet", input=stream)
        return path

    def entry(mode: int, content: bytes) -> Entry:
        return Entry(mode, ObjectId(hash_object(BLOB, content).hex()))

    return {
        "git": git,
        "landing": landing,
        "ls_tree": ls_tree,
        "sound": sound,
        "never": never,
        "build": build,
        "entry": entry,
    }


@given(history=HISTORIES)
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_histories_end_in_the_tree_that_plain_git_builds(
    history: list[list[dict[bytes, tuple[int, bytes] | None]]], helpers: dict[str, Call]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play(Path(folder), history, helpers)


@pytest.mark.full
@given(history=HISTORIES)
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_thousand_random_histories_end_in_the_tree_that_plain_git_builds(
    history: list[list[dict[bytes, tuple[int, bytes] | None]]], helpers: dict[str, Call]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play(Path(folder), history, helpers)


def test_a_file_becomes_a_folder_and_a_file_again(repository: Call, land: Call, ls_tree: Call, sound: Call) -> None:
    path = repository({b"a": b"one", b"z": b"z"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"a": None, b"a/b/c": b"deep", b"a/d": b"two"})
        assert set(ls_tree(path)) == {b"a/b/c", b"a/d", b"z"}
        land(trunk, {b"a/b/c": None, b"a/d": None, b"a": b"one"})
        assert set(ls_tree(path)) == {b"a", b"z"}
        assert dict(trunk.paths()) == ls_tree(path)
    sound(path)


def test_deleting_the_last_file_of_a_folder_removes_the_folder(
    repository: Call, land: Call, ls_tree: Call, sound: Call, git: Call
) -> None:
    path = repository({b"a/b/c/d": b"one", b"a/e": b"two"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"a/b/c/d": None})
        assert git(path, "ls-tree", "-r", "-t", "--name-only", "main").split() == [b"a", b"a/e"]
        land(trunk, {b"a/e": None})
        assert ls_tree(path) == {}
        land(trunk, {b"again": b"three"})
        assert set(ls_tree(path)) == {b"again"}
    sound(path)


def test_modes_links_submodules_and_odd_names_survive(repository: Call, land: Call, ls_tree: Call, sound: Call) -> None:
    submodule = b"1234567890123456789012345678901234567890"
    files = {
        b"run.sh": (EXECUTABLE, b"#!/bin/sh\n"),
        b"link": (SYMLINK, b"run.sh"),
        b"module": (SUBMODULE, submodule),
        b"with space\n and line": (REGULAR, b"odd"),
        b'\xff\xfe/\x01\t"quoted"\\': (REGULAR, b"bytes"),
        b"empty": (REGULAR, b""),
        b"/".join([b"d%d" % depth for depth in range(60)]): (REGULAR, b"deep"),
    }
    path = repository(files)
    before = ls_tree(path)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        assert dict(trunk.paths()) == before
        land(trunk, {b"/".join([b"d%d" % depth for depth in range(60)]): b"deeper"})
        land(trunk, {b"run.sh": Edit(mode=REGULAR, id=before[b"run.sh"].id)})
        land(trunk, {b"empty": None, b"moved": Edit(mode=REGULAR, id=before[b"empty"].id)})
        land(trunk, {b"link": (SYMLINK, b"moved"), b'\xff\xfe/\x01\t"quoted"\\': b"other"})
        land(trunk, {b"second": Edit(mode=SUBMODULE, id=submodule.decode())})  # type: ignore[arg-type]
        after = ls_tree(path)
        assert dict(trunk.paths()) == after
    assert after[b"run.sh"].mode == REGULAR
    assert after[b"run.sh"].id == before[b"run.sh"].id
    assert after[b"module"] == before[b"module"]
    assert after[b"second"].mode == SUBMODULE
    assert after[b"with space\n and line"] == before[b"with space\n and line"]
    assert after[b"moved"] == before[b"empty"]
    sound(path)


def test_names_that_share_a_beginning_are_sorted_as_git_sorts(
    repository: Call, land: Call, ls_tree: Call, sound: Call
) -> None:
    path = repository({b"a/x": b"1"})
    names = [b"a.b", b"a-b", b"a0", b"a b", b"a/y", b"ab/c", b"a\xff", b"a.b.c/d", b"A"]
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        for name in names:
            land(trunk, {name: name})
        assert list(ls_tree(path)) == [name for name, _ in trunk.paths()]
        assert set(ls_tree(path)) == {*names, b"a/x"}
    sound(path)


def test_a_folder_of_a_hundred_thousand_files_takes_edits_additions_and_deletions(
    repository: Call, land: Call, ls_tree: Call, sound: Call, git: Call
) -> None:
    path = repository({b"a": b"one"})
    empty = git(path, "hash-object", "-w", "--stdin", input=b"").strip()
    lines = b"".join(b"100644 blob %s\tf%06d\0" % (empty, number) for number in range(100_000))
    wide = git(path, "mktree", "-z", input=lines).strip()
    root = git(path, "mktree", "-z", input=b"040000 tree %s\twide\0" % wide).strip().decode()
    git(path, "update-ref", "refs/heads/main", git(path, "commit-tree", "-m", "wide", root).strip().decode())
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"wide/f050000": b"changed"})
        land(trunk, {b"wide/f050000x": b"new"})
        land(trunk, {b"wide/f000000": None, b"wide/f099999": None})
        found = ls_tree(path)
        assert dict(trunk.paths()) == found
    assert len(found) == 99_999
    sound(path)


def test_a_large_file_is_landed_and_edited(repository: Call, land: Call, sound: Call, git: Call) -> None:
    path = repository({b"a": b"one"})
    large = bytes(range(256)) * 4 * 8192
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"large": large})
        land(trunk, {b"large": large + b"end"})
    assert git(path, "cat-file", "blob", "main:large") == large + b"end"
    assert git(path, "cat-file", "blob", "main^:large") == large
    sound(path)


def test_many_versions_of_one_file_in_one_batch_stay_within_gits_delta_depth(
    repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    text = b"".join(b"line %05d of the file\n" % number for number in range(2000))
    path = repository({b"src/a/index": text, b"b": b"b"})
    versions = []
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        landings = []
        entry = trunk.entry(b"src/a/index")
        for number in range(700):
            at = text.index(b"line %05d" % (number * 997 % 2000))
            text = text[:at] + b"new %05d\n" % number + text[at:]
            made = landing(trunk, {b"src/a/index": text}, intent=str(number), expects={b"src/a/index": entry})
            landings.append(made)
            versions.append(text)
            entry = Entry(REGULAR, git_id(text))
        results: Any = trunk.land(landings, lambda shared, content: b"")
        assert all(isinstance(result, Landed) for result in results)
    (index,) = sorted((path / "objects" / "pack").glob("*.idx"), key=lambda file: file.stat().st_mtime)[-1:]
    lines = git(path, "verify-pack", "-v", str(index)).splitlines()
    depths = [int(line.split()[5]) for line in lines if len(line.split()) == 7]
    assert 40 <= max(depths) <= 50
    for number in (0, 1, 24, 25, 26, 333, 624, 649, 650, 699):
        commit = results[number].commit
        assert git(path, "cat-file", "blob", f"{commit}:src/a/index") == versions[number]
    sound(path)


def git_id(content: bytes) -> Any:
    from qodebase.trunk.objects import BLOB, hash_object

    return hash_object(BLOB, content).hex()


def test_a_path_that_stands_in_the_way_is_a_collision(repository: Call, landing: Call, ls_tree: Call) -> None:
    path = repository({b"a": b"one", b"folder/b": b"two"})
    before = ls_tree(path)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        below, above, fine = (
            landing(trunk, {b"a/b": b"x"}),
            landing(trunk, {b"folder": b"x", b"other": b"y"}),
            landing(trunk, {b"fine": b"z"}),
        )
        results: Any = trunk.land([below, above, fine], lambda shared, content: b"")
        assert [type(result) for result in results] == [Moved, Moved, Landed]
        assert results[0].paths == (b"a",)
        with pytest.raises(PathClash):
            trunk.tree_with({RepoPath(b"a/b"): Edit(mode=REGULAR, content=b"x")})
    assert set(ls_tree(path)) == {*before, b"fine"}


@pytest.mark.parametrize(
    "bad",
    [
        b"", b"/a", b"a/", b"a//b", b".", b"..", b"a/../b", b"./a", b"a\0b", b".git", b".git/config", b"a/.GIT/b",
        b".git ", b".git.", b".git . ./x", b"git~1", b"GIT~1/x", b".git::$INDEX_ALLOCATION/x", b".git:a",
        b"a\\.git\\b", ".g\u200cit".encode(), ".GI\u206bT/x".encode(), "\ufeff.git".encode(),
    ],
)  # fmt: skip
def test_a_path_that_git_would_refuse_is_refused_and_main_stays(
    bad: bytes, repository: Call, landing: Call, git: Call
) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        tip = trunk.tip
        good = landing(trunk, {b"good": b"x"})
        with pytest.raises(LandingRefused):
            trunk.land([good, landing(trunk, {bad: b"x"}, expects={bad: None})], lambda shared, content: b"")
        assert trunk.tip == tip == git(path, "rev-parse", "main").decode().strip()


def test_names_that_only_look_like_gits_folder_are_taken(
    repository: Call, land: Call, sound: Call, ls_tree: Call
) -> None:
    path = repository({b"a": b"one"})
    names = {
        b".gitignore",
        b".gitattributes",
        b".github/x",
        b"a.git",
        b"git",
        b"...",
        b"git~2",
        b".git-blame",
        b"..a/b",
    }
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, dict.fromkeys(names, b"x"))
    assert set(ls_tree(path)) == {*names, b"a"}
    sound(path)


def test_a_broken_batch_is_refused_whole(repository: Call, landing: Call, git: Call) -> None:
    path = repository({b"a": b"one"})
    missing = "12" * 20
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        tip = trunk.tip
        tree = str(trunk.tip_tree)
        broken = [
            landing(trunk, {b"x": b"1"}, expects={}),
            landing(trunk, {b"x": b"1", b"x/y": b"2"}),
            landing(trunk, {b"x": (0o100664, b"1")}),
            landing(trunk, {b"x": (0o040000, b"1")}),
            landing(trunk, {b".gitmodules": (SYMLINK, b"a")}),
            landing(trunk, {b"x": Edit(mode=REGULAR)}),
            landing(trunk, {b"x": Edit(mode=REGULAR, id=missing)}),  # type: ignore[arg-type]
            landing(trunk, {b"x": Edit(mode=REGULAR, id=tree)}),  # type: ignore[arg-type]
            landing(trunk, {b"x": (SUBMODULE, b"1")}),
            landing(trunk, {b"x": b"1"}, message="\n"),
            landing(trunk, {b"x": b"1"}, message="a\0b"),
            landing(trunk, {b"x": b"1"}, trailers=[("No Key", "x")]),
            landing(trunk, {b"x": b"1"}, trailers=[("Key", "two\nlines")]),
        ]
        for one in broken:
            with pytest.raises(LandingRefused):
                trunk.land([landing(trunk, {b"good": b"x"}), one], lambda shared, content: b"")
        assert trunk.tip == tip == git(path, "rev-parse", "main").decode().strip()


@pytest.mark.full
def test_a_file_of_a_hundred_megabytes_is_landed_and_edited(
    repository: Call, land: Call, sound: Call, git: Call
) -> None:
    path = repository({b"a": b"one"})
    large = bytes(range(256)) * 4096 * 100
    with Trunk.open(path, branch="main", run="run-1", level=1) as trunk:
        land(trunk, {b"large": large})
        land(trunk, {b"large": large + b"end"})
    assert git(path, "cat-file", "-s", "main:large").strip() == b"%d" % (len(large) + 3)
    assert git(path, "cat-file", "blob", "main^:large") == large
    sound(path)


def test_a_file_edited_in_batch_after_batch_stays_a_short_delta_on_what_it_began_as(
    repository: Call, land: Call, sound: Call, git: Call
) -> None:
    text = b"".join(b"line %05d of the file\n" % number for number in range(400))
    path = repository({b"src/f": text, b"src/g": text[::-1]})
    git(path, "repack", "-q", "-a", "-d")
    versions = []
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        for number in range(8):
            at = text.index(b"line %05d" % (200 + number))
            text = text[:at] + b"new %d\n" % number + text[at:]
            versions.append((land(trunk, {b"src/f": text}, intent=str(number)).commit, text))
    for commit, content in versions:
        assert git(path, "cat-file", "blob", f"{commit}:src/f") == content
    blob = git(path, "rev-parse", "main:src/f").decode().strip()
    listed = b"".join(
        git(path, "verify-pack", "-v", str(index)) for index in sorted((path / "objects" / "pack").glob("*.idx"))
    ).decode()
    (line,) = [line.split() for line in listed.splitlines() if line.startswith(blob)]
    assert len(line) == 7
    assert line[5] == "1"
    sound(path)

"""Every kind of repository that git makes is read rightly, or refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qodebase.trunk.files import Files
from qodebase.trunk.landing import NoSuchBranch, Trunk
from qodebase.trunk.objects import MissingObject
from qodebase.trunk.reader import Reader
from qodebase.trunk.refs import BadRef
from qodebase.trunk.repository import NotARepository, UnsupportedRepository

Call = Callable[..., Any]
FILES = {b"a": b"one", b"b/c": b"two"}


def test_refs_that_are_packed_are_read_and_moved(
    repository: Call, land: Call, git: Call, sound: Call, ls_tree: Call
) -> None:
    path = repository(FILES)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"a": b"1"}, intent="1")
        git(path, "pack-refs", "--all", "--prune")
        assert not (path / "refs/heads/main").exists()
        last = land(trunk, {b"a": b"2"}, intent="2")
    assert git(path, "rev-parse", "main").decode().strip() == last.commit
    git(path, "pack-refs", "--all", "--prune")
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        assert trunk.tip == last.commit
        assert dict(trunk.paths()) == ls_tree(path)
    sound(path)


def test_objects_of_an_alternate_are_read(repository: Call, land: Call, git: Call, sound: Call, tmp_path: Path) -> None:
    path = repository(FILES)
    git(tmp_path, "clone", "-q", "--bare", "--shared", str(path), "shared.git")
    shared = tmp_path / "shared.git"
    with Trunk.open(shared, branch="main", run="run-1") as trunk:
        land(trunk, {b"b/d": b"three"})
        entry = trunk.entry(b"b/c")
        assert entry is not None
        assert trunk.blob(entry.id) == b"two"
    assert git(shared, "ls-tree", "-r", "--name-only", "main").split() == [b"a", b"b/c", b"b/d"]
    sound(shared)


def test_a_shallow_clone_is_landed_on(repository: Call, land: Call, git: Call, sound: Call, tmp_path: Path) -> None:
    path = repository(FILES)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"a": b"1"}, intent="1")
        land(trunk, {b"a": b"2"}, intent="2")
    git(tmp_path, "clone", "-q", "--bare", "--depth=1", f"file://{path}", "shallow.git")
    shallow = tmp_path / "shallow.git"
    with Trunk.open(shallow, branch="main", run="run-2") as trunk:
        land(trunk, {b"a": b"3"}, intent="3", run="run-2")
        with Reader(shallow) as reader:
            assert [commit.message.split("\n")[0] for commit in reader.log(trunk.tip)] == ["Change 3", "Change 2"]
    Trunk.open(shallow, branch="main", run="run-2").close()
    sound(shallow)


def test_a_worktree_and_a_working_tree_lead_to_the_shared_repository(
    repository: Call, land: Call, git: Call, sound: Call, tmp_path: Path
) -> None:
    path = repository(FILES)
    git(tmp_path, "clone", "-q", str(path), "clone")
    git(tmp_path / "clone", "worktree", "add", "-q", "-b", "other", str(tmp_path / "side"))
    git(tmp_path / "clone", "branch", "side")
    for number, place in enumerate([tmp_path / "clone", tmp_path / "clone" / ".git", tmp_path / "side"]):
        with Trunk.open(place, branch="side", run="run-1") as trunk:
            assert trunk.entry(b"b/c") is not None
            last = land(trunk, {b"n": b"%d" % number}, intent=str(number))
    assert git(tmp_path / "clone", "rev-parse", "side").decode().strip() == last.commit
    sound(tmp_path / "clone")


def test_loose_objects_are_read(repository: Call, land: Call, git: Call, sound: Call) -> None:
    path = repository({b"a": b"one"})
    blob = git(path, "hash-object", "-w", "--stdin", input=b"loose").strip().decode()
    tree = git(path, "mktree", input=f"100644 blob {blob}\tfile\n".encode()).strip().decode()
    commit = git(path, "commit-tree", "-m", "loose", tree).strip().decode()
    git(path, "update-ref", "refs/heads/loose", commit)
    with Trunk.open(path, branch="loose", run="run-1") as trunk:
        assert trunk.blob(blob) == b"loose"
        land(trunk, {b"other": b"x"})
    assert git(path, "ls-tree", "--name-only", "loose").split() == [b"file", b"other"]
    sound(path)


def test_a_branch_with_slashes_and_a_symbolic_branch_are_landed_on(
    repository: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository(FILES)
    git(path, "branch", "team/one/x", "main")
    git(path, "symbolic-ref", "refs/heads/alias", "refs/heads/team/one/x")
    git(path, "pack-refs", "--all", "--prune")
    with Trunk.open(path, branch="alias", run="run-1") as trunk:
        landed = land(trunk, {b"a": b"1"})
    assert git(path, "rev-parse", "team/one/x").decode().strip() == landed.commit
    assert git(path, "symbolic-ref", "refs/heads/alias").strip() == b"refs/heads/team/one/x"
    sound(path)


def test_a_tree_with_padded_modes_keeps_them_where_nothing_is_edited(repository: Call, land: Call, git: Call) -> None:
    path = repository({b"a": b"one"})
    blob = git(path, "hash-object", "-w", "--stdin", input=b"x").strip().decode()
    inner = b"100644 file\0" + bytes.fromhex(blob)
    inner_id = git(path, "hash-object", "-w", "-t", "tree", "--stdin", input=inner).strip().decode()
    outer = b"040000 old\0" + bytes.fromhex(inner_id) + b"100644 top\0" + bytes.fromhex(blob)
    outer_id = git(path, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", input=outer).strip().decode()
    commit = git(path, "commit-tree", "-m", "old", outer_id).strip().decode()
    git(path, "update-ref", "refs/heads/main", commit)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        assert [name for name, _ in trunk.paths()] == [b"old/file", b"top"]
        land(trunk, {b"top": b"y"})
        assert b"040000 old\0" in git(path, "cat-file", "tree", "main^{tree}")
        land(trunk, {b"old/file": b"z"}, intent="2")
    assert git(path, "cat-file", "blob", "main:old/file") == b"z"


def test_what_cannot_be_landed_on_is_refused_with_a_reason(repository: Call, git: Call, tmp_path: Path) -> None:
    path = repository(FILES)
    with pytest.raises(NoSuchBranch, match="no branch other"):
        Trunk.open(path, branch="other", run="run-1")
    with pytest.raises(NotARepository, match="does not exist"):
        Trunk.open(tmp_path / "nothing", branch="main", run="run-1")
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotARepository, match="not a git repository"):
        Trunk.open(tmp_path / "folder", branch="main", run="run-1")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    with pytest.raises(NoSuchBranch):
        Trunk.open(tmp_path / "empty.git", branch="main", run="run-1")
    git(tmp_path, "init", "-q", "--bare", "--object-format=sha256", "sha256.git")
    with pytest.raises(UnsupportedRepository, match="SHA256"):
        Trunk.open(tmp_path / "sha256.git", branch="main", run="run-1")
    with pytest.raises(UnsupportedRepository, match="SHA256"):
        Reader(tmp_path / "sha256.git")
    git(path, "config", "core.repositoryformatversion", "1")
    git(path, "config", "extensions.refstorage", "reftable")
    with pytest.raises(UnsupportedRepository, match="reftable"):
        Trunk.open(path, branch="main", run="run-1")
    git(tmp_path, "config", "--file", str(path / "config"), "--unset", "extensions.refstorage")
    git(tmp_path, "config", "--file", str(path / "config"), "extensions.future", "true")
    with pytest.raises(UnsupportedRepository, match="future"):
        Trunk.open(path, branch="main", run="run-1")
    assert not (path / "qodebase").exists()


def test_compaction_leaves_what_git_gc_leaves_and_landing_goes_on(
    repository: Call, landing: Call, land: Call, git: Call, sound: Call, ls_tree: Call
) -> None:
    path = repository(FILES)
    with Trunk.open(path, branch="main", run="run-1") as trunk, Reader(path) as reader:
        first = trunk.tip
        for number in range(12):
            land(trunk, {b"d/f%d" % number: b"x" * number}, intent=str(number))
        assert reader.content(first, b"a") == b"one"
        assert len(list((path / "objects/pack").glob("*.pack"))) == 12
        trunk.compact()
        assert len(list((path / "objects/pack").glob("*.pack"))) == 1
        counts = git(path, "count-objects", "-v").decode()
        assert "count: 0\n" in counts
        assert "garbage: 0\n" in counts
        assert (path / "packed-refs").exists()
        assert (path / "objects/info/commit-graph").exists() or (path / "objects/info/commit-graphs").exists()
        land(trunk, {b"d/f3": b"again"}, intent="again")
        assert reader.content(first, b"b/c") == b"two"
        assert reader.content(trunk.tip, b"d/f3") == b"again"
        assert dict(trunk.paths()) == dict(reader.files(trunk.tip)) == ls_tree(path)
    sound(path)


def test_packs_that_pile_up_are_joined_while_landing_goes_on(
    repository: Call, land: Call, sound: Call, ls_tree: Call
) -> None:
    path = repository(FILES)
    with Trunk.open(path, branch="main", run="run-1", _files=Files(durable=False)) as trunk, Reader(path) as reader:
        base = trunk.tip
        for number in range(1000):
            land(trunk, {b"d%d/f" % (number % 7): b"%d" % number}, intent=str(number))
            packs = len(list((path / "objects/pack").glob("*.pack")))
            if packs < number / 2:
                break
        assert 50 <= number < 999
        trunk.blob(trunk.entry(b"b/c").id)  # type: ignore[union-attr]
        assert len(reader.landed_intents("run-1", trunk.tip, base)) == number + 1
        assert dict(trunk.paths()) == dict(reader.files(trunk.tip)) == ls_tree(path)
    sound(path)


def test_landed_intents_are_read_from_the_trailers_of_the_last_paragraph(
    repository: Call, land: Call, git: Call
) -> None:
    path = repository(FILES)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        base = trunk.tip
        one = land(trunk, {b"a": b"1"}, intent="one")
        land(trunk, {b"a": b"2"}, intent="two", run="run-2")
        land(trunk, {b"a": b"3"}, message="Say\n\nQodebase-Run: run-1\nQodebase-Intent: three", trailers=())
        tree = str(trunk.tip_tree)
        copy = git(path, "log", "-1", "--format=%B", one.commit)
        picked = git(path, "commit-tree", "-p", "main", tree, input=copy).decode().strip()
        git(path, "update-ref", "refs/heads/main", picked)
        spoof = land(trunk, {b"a": b"5"}, message="Say\n\nQodebase-Run: run-1\nQodebase-Intent: six", intent="five")
        with Reader(path) as reader:
            found = reader.landed_intents("run-1", trunk.tip, base)
            assert reader.commit(spoof.commit).trailers == (("Qodebase-Run", "run-1"), ("Qodebase-Intent", "five"))
            assert reader.landed_intents("run-1", base, None) == {}
    assert found == {"one": one.commit, "three": found["three"], "five": spoof.commit}


def test_a_signature_is_put_where_git_looks_for_it(repository: Call, land: Call, git: Call, sound: Call) -> None:
    path = repository(FILES)
    seen = []

    def sign(payload: bytes) -> bytes:
        seen.append(payload)
        return b"-----BEGIN SSH SIGNATURE-----\nabc\n\ndef\n-----END SSH SIGNATURE-----\n"

    with Trunk.open(path, branch="main", run="run-1") as trunk:
        landed = land(trunk, {b"a": b"1"}, sign=sign)
    assert git(path, "log", "-1", "--format=%B", landed.commit).startswith(b"Change one\n")
    raw = git(path, "cat-file", "commit", landed.commit)
    head = b"\ngpgsig -----BEGIN SSH SIGNATURE-----\n abc\n \n def\n -----END SSH SIGNATURE-----\n\n"
    assert head in raw
    assert seen == [raw.replace(head, b"\n\n")]
    sound(path)


def test_alternates_that_lead_in_a_circle_or_hold_blank_lines_and_quotes_are_read(repository: Call, git: Call) -> None:
    one, two = repository({b"a": b"one"}, name="o ne.git"), repository({b"b": b"two"}, name="two.git")
    (one / "objects/info/alternates").write_text(f"# other\n\n{two}/objects\n")
    (two / "objects/info/alternates").write_text(f'"{one}/objects"\n'.replace(" ", "\\040"))
    for reads, other in ((one, two), (two, one)):
        tip = git(other, "rev-parse", "main").decode().strip()
        assert git(reads, "cat-file", "-t", tip) == b"commit\n"
        with Reader(reads) as reader:
            assert reader.commit(tip).id == tip
            with pytest.raises(MissingObject):
                reader.commit("1" * 40)


def test_an_empty_folder_where_a_ref_goes_is_removed_and_refs_below_it_are_named(
    repository: Call, land: Call, landing: Call, git: Call, sound: Call
) -> None:
    path = repository(FILES)
    git(path, "pack-refs", "--all", "--prune")
    (path / "refs/heads/main/empty").mkdir(parents=True)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        last = land(trunk, {b"a": b"1"})
    assert git(path, "rev-parse", "main").decode().strip() == last.commit
    git(path, "update-ref", "-d", "refs/notes/qodebase")
    git(path, "update-ref", "refs/notes/qodebase/theirs", "main")
    with (
        Trunk.open(path, branch="main", run="run-1") as trunk,
        pytest.raises(BadRef, match="refs/notes/qodebase cannot be written: there are refs below it"),
    ):
        trunk.land([landing(trunk, {b"a": b"2"})], lambda shared, content: b"")
    assert git(path, "rev-parse", "main").decode().strip() == last.commit
    sound(path)


def test_a_file_that_is_no_repository_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(NotARepository):
        Reader(tmp_path / "file")

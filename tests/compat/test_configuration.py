from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qodebase.errors import QodebaseError
from qodebase.trunk.checkouts import CheckedOut
from qodebase.trunk.configuration import UnsupportedRepository
from qodebase.trunk.files import Files
from qodebase.trunk.landing import DiskTrouble, Trunk

Call = Callable[..., Any]
FILES = {b"a": (0o100644, b"one"), b"b/c": (0o100644, b"two")}


@pytest.fixture
def clone(repository: Call, git: Call, tmp_path: Path) -> Path:
    """Return a clone with a working tree on main, and a branch `side`."""
    git(tmp_path, "clone", "-q", str(repository(FILES)), "clone")
    git(tmp_path / "clone", "branch", "side")
    return tmp_path / "clone"


def refused(clone: Path, branch: str) -> str:
    with pytest.raises(CheckedOut) as error, Trunk.open(clone, branch=branch, run="run-1"):
        pass
    return f"{error.value.message} {error.value.hint}"


def test_a_branch_that_a_working_tree_stands_on_is_refused_by_name(clone: Path, git: Call, tmp_path: Path) -> None:
    assert f"main is checked out in {clone}" in refused(clone, "main")
    git(clone, "worktree", "add", "-q", str(tmp_path / "linked"), "side")
    assert f"side is checked out in {tmp_path / 'linked'}" in refused(clone, "side")
    assert "switch --detach" in refused(clone, "side")


def test_a_branch_that_is_being_rebased_is_refused(clone: Path, git: Call) -> None:
    git(clone, "switch", "-q", "--detach")
    (clone / ".git" / "rebase-merge").mkdir()
    (clone / ".git" / "rebase-merge" / "head-name").write_text("refs/heads/main\n")
    assert "main is checked out" in refused(clone, "main")


def test_a_branch_that_is_checked_out_under_another_name_is_refused(clone: Path, git: Call) -> None:
    git(clone, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(clone, "checkout", "-q", "alias")
    assert "main is checked out" in refused(clone, "main")


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_that_a_linked_head_stands_on_is_refused(packed: bool, clone: Path, git: Call) -> None:
    (clone / ".git" / "HEAD").unlink()
    (clone / ".git" / "HEAD").symlink_to("refs/heads/main")
    if packed:
        git(clone, "pack-refs", "--all", "--prune")
    assert git(clone, "symbolic-ref", "HEAD") == b"refs/heads/main\n"
    assert "main is checked out" in refused(clone, "main")


def test_a_git_folder_that_names_its_working_tree_is_not_bare(clone: Path, git: Call, tmp_path: Path) -> None:
    git(clone, "config", "--unset", "core.bare")
    away = (clone / ".git").rename(tmp_path / "away.git")
    with (away / "config").open("a") as config:
        config.write(f"[core]\n\tworktree = {clone}\n")
    assert git(away, "rev-parse", "--is-bare-repository") == b"false\n"
    assert "main is checked out" in refused(away, "main")


def test_a_branch_is_free_once_its_working_tree_is_gone_or_detached(
    clone: Path, git: Call, land: Call, sound: Call, tmp_path: Path
) -> None:
    git(clone, "worktree", "add", "-q", str(tmp_path / "linked"), "side")
    git(clone, "switch", "-q", "--detach")
    for path in sorted((tmp_path / "linked").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for branch in ("main", "side"):
        with Trunk.open(clone, branch=branch, run="run-1") as trunk:
            land(trunk, {b"n": b"new"}, intent=branch)
    sound(clone)


def test_a_bare_repository_whose_head_is_the_branch_is_landed_on(repository: Call, land: Call, sound: Call) -> None:
    path = repository(FILES)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"n": b"new"})
    assert not (path / "logs").exists()
    sound(path)


def test_a_clone_keeps_a_reflog_of_branch_and_notes_that_git_reads(
    clone: Path, git: Call, land: Call, sound: Call
) -> None:
    before = git(clone, "rev-parse", "side").decode().strip()
    with Trunk.open(clone, branch="side", run="run-1") as trunk:
        landed = [land(trunk, {b"n": b"%d" % number}, intent=str(number)).commit for number in range(2)]
    lines = git(clone, "reflog", "show", "--format=%H %gs", "side").decode().splitlines()
    assert lines[:2] == [f"{commit} qodebase: 1 landings of run run-1" for commit in reversed(landed)]
    assert git(clone, "rev-parse", "side@{2}").decode().strip() == before
    assert len(git(clone, "reflog", "show", "refs/notes/qodebase").splitlines()) == 2
    sound(clone)


def test_a_reflog_that_a_bare_repository_has_is_written_on(repository: Call, git: Call, land: Call) -> None:
    path = repository(FILES)
    git(path, "-c", "core.logAllRefUpdates=true", "branch", "side", "main")
    with Trunk.open(path, branch="side", run="run-1") as trunk:
        land(trunk, {b"n": b"new"})
    assert len(git(path, "reflog", "show", "side").splitlines()) == 2
    assert not (path / "logs" / "refs" / "notes").exists()


def test_head_of_a_repository_gets_its_line_too(repository: Call, git: Call, land: Call) -> None:
    path = repository(FILES)
    git(path, "config", "core.logAllRefUpdates", "always")
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        commit = land(trunk, {b"n": b"new"}).commit
    assert git(path, "reflog", "show", "--format=%H", "HEAD").decode().split() == [commit]


class NoReflog(Files):
    """A disk that is full when a reflog is written."""

    def append(self, path: Path, chunk: bytes) -> None:
        raise OSError(28, "No space left on device")


def test_a_reflog_that_cannot_be_written_stops_the_landing_before_main_moves(
    clone: Path, git: Call, land: Call
) -> None:
    before = git(clone, "rev-parse", "side")
    with Trunk.open(clone, branch="side", run="run-1", _files=NoReflog()) as trunk, pytest.raises(DiskTrouble):
        land(trunk, {b"n": b"new"})
    assert git(clone, "rev-parse", "side") == before


@pytest.fixture
def narrow_umask() -> Any:
    before = os.umask(0o077)
    yield
    os.umask(before)


def permissions(path: Path) -> set[int]:
    packs = [file for file in (path / "objects" / "pack").iterdir() if file.suffix in (".pack", ".idx")]
    return {stat.S_IMODE(file.stat().st_mode) for file in packs}


@pytest.mark.parametrize(
    ("word", "pack", "ref"),
    [
        ("umask", 0o400, 0o600),
        ("group", 0o440, 0o660),
        ("true", 0o440, 0o660),
        ("all", 0o444, 0o664),
        ("0640", 0o440, 0o640),
        ("660", 0o440, 0o660),
    ],
)
def test_what_is_written_into_a_shared_repository_has_the_permissions_that_it_asks_for(
    word: str, pack: int, ref: int, repository: Call, git: Call, land: Call, narrow_umask: None
) -> None:
    path = repository(FILES)
    for file in (path / "objects" / "pack").iterdir():
        file.chmod(pack)
    git(path, "config", "core.sharedRepository", word)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"n": b"new"})
    assert permissions(path) == {pack}
    assert stat.S_IMODE((path / "refs" / "heads" / "main").stat().st_mode) == ref
    folder = stat.S_IMODE((path / "refs" / "notes").stat().st_mode)
    assert folder & 0o777 == ref | (ref & 0o444) >> 2
    assert bool(folder & stat.S_ISGID) == (word != "umask")


def test_a_word_that_git_does_not_know_is_refused(repository: Call, git: Call) -> None:
    path = repository(FILES)
    git(path, "config", "core.sharedRepository", "0800")
    with pytest.raises(UnsupportedRepository, match="sharedRepository") as error:
        Trunk.open(path, branch="main", run="run-1")
    assert isinstance(error.value, QodebaseError)
    assert "0640" in error.value.hint


def test_the_lock_of_a_shared_repository_lets_another_of_the_group_land(repository: Call, git: Call) -> None:
    path = repository(FILES)
    git(path, "config", "core.sharedRepository", "group")
    Trunk.open(path, branch="main", run="run-1").close()
    assert stat.S_IMODE((path / "qodebase" / "trunk.lock").stat().st_mode) & 0o060 == 0o060

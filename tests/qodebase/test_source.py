from __future__ import annotations

import os
import shutil
import stat
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from fleet.given.scratch import Scratch
from qodebase.code import CommitTree
from qodebase.commands.bench.support.workload import git as bench_git
from qodebase.commands.support.archiving import git as archive_git
from qodebase.paths import RepoPath
from qodebase.source import BadSource, inspect
from qodebase.trunk.reader import Reader


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine's git settings out."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Person")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "person@example.org")


def git(path: Path, *words: str | Path) -> str:
    done = subprocess.run(["git", "-C", path, *words], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def commit(path: Path, name: str, text: str = "text\n") -> str:
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text(text)
    git(path, "add", name)
    git(path, "commit", "-q", "-m", f"Add {name}")
    return git(path, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "code"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, "a.py", "a = 1\n")
    commit(path, "sub/b.py", "b = 2\n")
    return path


def everything_of(path: Path) -> dict[str, tuple[int, int, int, str]]:
    """Return mode, size, time of change and content of every file and folder below a path."""
    found = {}
    for file in sorted([path, *path.rglob("*")]):
        is_file = stat.S_ISREG(file.lstat().st_mode)
        seen = file.lstat()
        digest = sha256(file.read_bytes()).hexdigest() if is_file else ""
        found[str(file)] = (seen.st_mode, seen.st_size if is_file else 0, seen.st_mtime_ns, digest)
    return found


def files_of_copy(copy: Path, tip: str) -> dict[bytes, bytes]:
    with Reader(copy) as reader:
        tree = CommitTree(reader, reader.tip("main") or tip)  # type: ignore[arg-type]
        return {bytes(path): tree.read(path) for path, _ in tree.walk()}


def test_a_branch_is_found_and_copied_with_its_notes(repository: Path, tmp_path: Path) -> None:
    tip = git(repository, "rev-parse", "main")
    git(repository, "notes", "--ref=qodebase", "add", "-m", "a record")
    git(repository, "notes", "--ref=other/people", "add", "-m", "theirs")
    git(repository, "branch", "another")
    git(repository, "tag", "v1")
    source = inspect(repository)
    assert (source.branch, source.commit, source.dirty) == ("main", tip, False)
    copy = tmp_path / "copy.git"
    source.copy_to(copy)
    assert git(copy, "for-each-ref", "--format=%(refname)").split() == [
        "refs/heads/main",
        "refs/notes/other/people",
        "refs/notes/qodebase",
    ]
    assert git(copy, "rev-parse", "main") == tip
    assert git(copy, "notes", "--ref=qodebase", "show", tip) == "a record"
    assert git(copy, "remote") == ""
    assert files_of_copy(copy, tip) == {b"a.py": b"a = 1\n", b"sub/b.py": b"b = 2\n"}
    git(copy, "fsck", "--strict")


def test_looking_and_copying_leave_the_users_repository_as_it_is_to_the_byte(repository: Path, tmp_path: Path) -> None:
    git(repository, "notes", "add", "-m", "a note")
    git(repository, "gc", "-q")
    commit(repository, "loose.py")
    (repository / "a.py").write_text("changed\n")
    os.utime(repository / "sub" / "b.py", (1, 1))
    before = everything_of(repository)
    source = inspect(repository)
    assert source.dirty
    source.copy_to(tmp_path / "copy.git")
    assert everything_of(repository) == before


def test_untracked_files_are_not_uncommitted_changes(repository: Path) -> None:
    (repository / "new.py").write_text("")
    assert not inspect(repository).dirty


def test_a_branch_can_be_named_in_short_and_in_full(repository: Path, tmp_path: Path) -> None:
    git(repository, "checkout", "-q", "-b", "feature/one/two")
    tip = commit(repository, "c.py")
    git(repository, "checkout", "-q", "main")
    for name in ("feature/one/two", "refs/heads/feature/one/two"):
        source = inspect(repository, name)
        assert (source.branch, source.commit) == ("feature/one/two", tip)
    source.copy_to(tmp_path / "copy.git")
    assert git(tmp_path / "copy.git", "rev-parse", "feature/one/two") == tip


def test_a_branch_and_a_tag_of_one_name_are_told_apart(repository: Path, tmp_path: Path) -> None:
    git(repository, "tag", "main", "HEAD~1")
    source = inspect(repository)
    source.copy_to(tmp_path / "copy.git")
    assert git(tmp_path / "copy.git", "rev-parse", "refs/heads/main") == source.commit
    assert source.commit == git(repository, "rev-parse", "refs/heads/main")


@pytest.mark.parametrize("name", ["gone", "main~1", "main^{tree}", "main@{0}", "HEAD", "-q", "a b", ".."])
def test_a_branch_that_is_not_there_is_an_error_that_lists_those_that_are(repository: Path, name: str) -> None:
    git(repository, "branch", "feature/x")
    with pytest.raises(BadSource, match="has no branch") as caught:
        inspect(repository, name)
    assert "feature/x, main" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_folder_that_is_no_repository_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadSource, match="is no git repository") as caught:
        inspect(tmp_path / "plain")
    assert "git init" in caught.value.hint
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "gone"):
        with pytest.raises(BadSource, match="is no folder"):
            inspect(path)


def test_a_repository_without_a_commit_is_an_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    for branch in (None, "main"):
        with pytest.raises(BadSource, match="holds no commit yet") as caught:
            inspect(tmp_path, branch)
    assert "git commit" in caught.value.hint


def test_a_detached_head_needs_a_branch_by_name(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach", "HEAD~1")
    with pytest.raises(BadSource, match="has no branch checked out") as caught:
        inspect(repository)
    assert "--branch" in caught.value.hint
    assert inspect(repository, "main").commit == git(repository, "rev-parse", "main")


def test_a_partial_clone_is_an_error(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repository}", partial)
    with pytest.raises(BadSource, match="is a partial clone") as caught:
        inspect(partial)
    assert "without --filter" in caught.value.hint


def test_a_repository_of_sha256_names_is_an_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256")
    commit(tmp_path, "a.py")
    with pytest.raises(BadSource, match="SHA-256"):
        inspect(tmp_path)


def test_a_repository_whose_refs_are_no_files_is_said_to_be_that_where_git_cannot_read_it(repository: Path) -> None:
    git(repository, "config", "extensions.refStorage", "reftable")
    git(repository, "config", "core.repositoryFormatVersion", "1")
    with pytest.raises(BadSource, match=r"git here does not know: .*refstorage") as caught:
        inspect(repository)
    assert "git refs migrate --ref-format=files" in caught.value.hint


def test_every_repository_that_is_made_keeps_its_refs_in_files_whatever_is_usual_here(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    real = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\necho "$GIT_DEFAULT_REF_FORMAT $GIT_DEFAULT_HASH $*" >> {told}\n'
        f'[ "$GIT_DEFAULT_REF_FORMAT" = reftable ] && unset GIT_DEFAULT_REF_FORMAT\nexec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DEFAULT_REF_FORMAT", "reftable")
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    inspect(repository).copy_to(tmp_path / "copy.git")
    (tmp_path / "scratch.git").mkdir()
    Scratch(tmp_path / "scratch.git", repository / ".git")
    archive_git(tmp_path, "init", "-q", "--bare", "archived.git")
    bench_git(tmp_path, "init", "-q", "--bare", "bench.git")
    made = [line for line in told.read_text().splitlines() if " clone " in line or " init " in line]
    assert len(made) == 4
    assert all(line.startswith("files sha1 ") for line in made), made


def test_a_shallow_clone_can_be_copied_and_read(repository: Path, tmp_path: Path) -> None:
    tip = commit(repository, "c.py")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", shallow)
    before = everything_of(shallow)
    source = inspect(shallow)
    source.copy_to(tmp_path / "copy.git")
    assert everything_of(shallow) == before
    assert git(tmp_path / "copy.git", "rev-parse", "main") == source.commit == tip
    assert set(files_of_copy(tmp_path / "copy.git", tip)) == {b"a.py", b"c.py", b"sub/b.py"}
    with Reader(tmp_path / "copy.git") as reader:
        assert [one.id for one in reader.log(tip)] == [tip]


def test_a_worktree_and_a_subfolder_and_a_bare_repository_can_be_copied(repository: Path, tmp_path: Path) -> None:
    worktree, bare = tmp_path / "worktree", tmp_path / "bare.git"
    git(repository, "worktree", "add", "-q", "-b", "side", worktree)
    tip = commit(worktree, "side.py")
    git(tmp_path, "clone", "-q", "--bare", repository, bare)
    for number, (path, branch) in enumerate(
        [(worktree, "side"), (repository / "sub", "main"), (repository / ".git", "main"), (bare, "main")]
    ):
        source = inspect(path)
        assert source.branch == branch
        assert not source.dirty
        copy = tmp_path / f"copy-{number}.git"
        source.copy_to(copy)
        assert git(copy, "rev-parse", branch) == source.commit
    assert inspect(worktree).commit == tip


def test_a_repository_that_borrows_objects_can_be_copied_and_read(repository: Path, tmp_path: Path) -> None:
    borrower = tmp_path / "borrower"
    git(tmp_path, "clone", "-q", "--shared", repository, borrower)
    tip = commit(borrower, "mine.py")
    source = inspect(borrower)
    source.copy_to(tmp_path / "copy.git")
    assert source.commit == tip
    assert set(files_of_copy(tmp_path / "copy.git", tip)) == {b"a.py", b"mine.py", b"sub/b.py"}


def test_the_repository_of_a_hook_is_not_taken_for_the_one_that_was_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "trunk")
    tip = commit(other, "other.py")
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repository))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository / ".git" / "index"))
    source = inspect(other)
    assert (source.branch, source.commit, source.git) == ("trunk", tip, other / ".git")
    source.copy_to(tmp_path / "copy.git")
    monkeypatch.undo()
    assert git(tmp_path / "copy.git", "rev-parse", "trunk") == tip


def test_a_branch_that_goes_away_before_the_copy_is_an_error(repository: Path, tmp_path: Path) -> None:
    git(repository, "branch", "side")
    source = inspect(repository, "side")
    git(repository, "branch", "-D", "side")
    with pytest.raises(BadSource, match=r"cannot be copied: .*side"):
        source.copy_to(tmp_path / "copy.git")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_says_what_git_wants_to_hear(repository: Path) -> None:
    for file in [repository, *repository.rglob("*")]:
        os.chown(file, 12345, 12345)
    with pytest.raises(BadSource, match="belongs to another user") as caught:
        inspect(repository)
    assert f"safe.directory {repository}" in caught.value.hint


def test_a_tree_is_read_by_path(repository: Path) -> None:
    os.symlink("a.py", repository / "link")
    git(repository, "add", "link")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(repository, "commit", "-q", "-m", "more")
    source = inspect(repository)
    with Reader(source.git) as reader:
        tree = CommitTree(reader, source.commit)
        assert tree.commit == source.commit
        assert tree.read(RepoPath(b"link")) == b"a.py"
        modes = {bytes(path): entry.mode for path, entry in tree.walk()}
        assert modes == {b"a.py": 0o100644, b"link": 0o120000, b"module": 0o160000, b"sub/b.py": 0o100644}
        for path in (b"sub", b"gone", b"a.py/b"):
            assert tree.entry(RepoPath(path)) is None
        for path in (b"sub", b"gone", b"module"):
            with pytest.raises(KeyError):
                tree.read(RepoPath(path))


def test_a_copy_does_not_change_when_the_users_repository_does(repository: Path, tmp_path: Path) -> None:
    source = inspect(repository)
    copy = tmp_path / "copy.git"
    source.copy_to(copy)
    shutil.rmtree(repository)
    assert git(copy, "rev-parse", "main") == source.commit
    git(copy, "fsck", "--strict")

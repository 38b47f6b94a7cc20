"""Repositories made by C git, and the questions that every test here asks C git about them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from qodebase.change import REGULAR
from qodebase.collision import Entry
from qodebase.paths import RepoPath
from qodebase.trunk.batch import Edit, Landed, Landing, Person
from qodebase.trunk.landing import Trunk

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Person",
    "GIT_AUTHOR_EMAIL": "person@example.org",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_NAME": "Person",
    "GIT_COMMITTER_EMAIL": "person@example.org",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
}


def run_git(repository: Path, *arguments: str, input: bytes | None = None) -> bytes:
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], env=ENVIRONMENT, input=input, capture_output=True, check=False
    )
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def build(path: Path, files: Mapping[bytes, tuple[int, bytes]]) -> Path:
    """Make a bare repository with one commit on main; a submodule's content is the id of its commit."""
    path.mkdir()
    run_git(path, "init", "-q", "--bare", "-b", "main", ".")
    stream = [b"commit refs/heads/main\ncommitter Person <person@example.org> 1700000000 +0000\ndata 4\nbase\n"]
    for name, (mode, content) in files.items():
        quoted = b'"' + b"".join(b"\\%03o" % byte for byte in name) + b'"'
        if mode == 0o160000:
            stream.append(b"M 160000 %s %s\n" % (content, quoted))
        else:
            stream.append(b"M %o inline %s\ndata %d\n%s\n" % (mode, quoted, len(content), content))
    run_git(path, "fast-import", "--quiet", "--force", input=b"".join(stream))
    return path


def make_landing(
    trunk: Trunk,
    edits: Mapping[bytes, tuple[int, bytes] | bytes | Edit | None],
    *,
    intent: str = "one",
    run: str = "run-1",
    time: int = 1_700_000_100,
    **more: object,
) -> Landing:
    """Make a landing that expects what main holds now."""
    person = Person(name="Agent", mail="agent@example.org", time=time)
    resolved: dict[RepoPath, Edit | None] = {}
    for path, edit in edits.items():
        if isinstance(edit, bytes):
            edit = Edit(mode=REGULAR, content=edit)
        elif isinstance(edit, tuple):
            edit = Edit(mode=edit[0], content=edit[1])
        resolved[RepoPath(path)] = edit
    words: dict[str, object] = {
        "message": f"Change {intent}",
        "author": person,
        "committer": person,
        "edits": resolved,
        "expects": {path: trunk.entry(path) for path in resolved},
        "trailers": (("Qodebase-Run", run), ("Qodebase-Intent", intent)),
        "note": lambda landed: f"note of {landed.commit}\n".encode(),
    }
    return Landing(**(words | more))  # type: ignore[arg-type]


def listing(repository: Path, commit: str = "refs/heads/main") -> dict[bytes, Entry]:
    """Return what `git ls-tree -r` says."""
    found = {}
    for line in run_git(repository, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        words, path = line.split(b"\t", 1)
        mode, _, id = words.split()
        found[path] = Entry(int(mode, 8), id.decode())  # type: ignore[arg-type]
    return found


def assert_sound(repository: Path) -> None:
    """Let C git check every object and the connection of every ref."""
    done = subprocess.run(
        ["git", "-C", str(repository), "fsck", "--strict", "--full", "--no-dangling"],
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr + done.stdout == b""


def never(shared: object, content: object) -> bytes:
    raise AssertionError("nothing moved, so nothing is to be redone")


def land_one(trunk: Trunk, edits: Mapping[bytes, tuple[int, bytes] | bytes | Edit | None], **more: object) -> Landed:
    (result,) = trunk.land([make_landing(trunk, edits, **more)], never)  # type: ignore[arg-type]
    assert isinstance(result, Landed), result
    return result


@pytest.fixture
def git() -> Callable[..., bytes]:
    return run_git


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """Return a builder of bare repositories: ``repository({path: content or (mode, content)}, name=...)``."""

    def make(files: Mapping[bytes, bytes | tuple[int, bytes]], name: str = "main.git") -> Path:
        pairs = {path: (REGULAR, what) if isinstance(what, bytes) else what for path, what in files.items()}
        return build(tmp_path / name, pairs)

    return make


@pytest.fixture
def landing() -> Callable[..., Landing]:
    return make_landing


@pytest.fixture
def land() -> Callable[..., Landed]:
    """Return a function that lands one change and fails the test when it does not land."""
    return land_one


@pytest.fixture
def ls_tree() -> Callable[..., dict[bytes, Entry]]:
    return listing


@pytest.fixture
def sound() -> Callable[[Path], None]:
    return assert_sound

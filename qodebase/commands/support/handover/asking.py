"""What git is asked about a repository here: names of commits, and what commits changed; nothing is written."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

from qodebase.collision import Entry
from qodebase.errors import QodebaseError
from qodebase.git_environment import git_environment
from qodebase.paths import CommitId, RepoPath
from results.tree_diff import Differs

Diff = dict[RepoPath, Differs]
_NONE = "0" * 40


class NoSuchCommit(QodebaseError):
    """A name that stands for no commit of a repository."""


class GitSays(QodebaseError):
    """Git could not answer; the message is its own."""


def ask(repository: Path, *words: str, stdin: bytes = b"") -> bytes:
    """Return what git prints.

    Raises:
        GitSays: it ends with another code than 0.
    """
    environment = {**git_environment(), "GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(
        ["git", "-C", os.fspath(repository), *words], input=stdin, capture_output=True, check=False, env=environment
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        trusting = f"git config --global --add safe.directory {shlex.quote(str(repository.resolve()))}"
        hint = "Look at the repository with `git fsck`."
        if "safe.directory" in said:
            hint = f"It belongs to another user; where you trust it: `{trusting}`."
        raise GitSays(f"{repository}: git {words[0]}: {said}", hint=hint)
    return done.stdout


def commit_named(repository: Path, name: str) -> CommitId:
    """Return the commit that a branch, tag or id stands for.

    Raises:
        NoSuchCommit: there is none, or no such repository.
    """
    if not repository.is_dir():
        raise NoSuchCommit(f"{repository} is no folder", hint="Name the repository with --repo.")
    try:
        said = ask(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except GitSays:
        raise NoSuchCommit(
            f"{repository} has no commit {name!r}", hint="Name a branch, tag or commit of it; see `git branch --all`."
        ) from None
    return CommitId(said.decode().strip())


def has(repository: Path, commit: CommitId) -> bool:
    """Return whether a repository has a commit."""
    try:
        ask(repository, "cat-file", "-e", f"{commit}^{{commit}}")
    except GitSays:
        return False
    return True


def commits_above(repository: Path, tip: CommitId, base: CommitId) -> list[CommitId]:
    """Return the commits that ``tip`` reaches and ``base`` does not, merges left out, the oldest first.

    Where the repository has no such base, all that ``tip`` reaches.
    """
    without = (f"^{base}",) if has(repository, base) else ()
    said = ask(repository, "rev-list", "--topo-order", "--reverse", "--no-merges", tip, *without)
    return [CommitId(line) for line in said.decode().split()]


def diffs_of(repository: Path, commits: Iterable[CommitId]) -> dict[CommitId, Diff]:
    """Return what each commit changed against its parent; of a merge nothing, of a root all that it has."""
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    words = ("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
    fields = iter(ask(repository, *words, stdin=asked).split(b"\0"))
    found: dict[CommitId, Diff] = {}
    diff: Diff = {}
    for field in fields:
        if field.startswith(b":"):
            old_mode, mode, old_id, id, _ = field[1:].decode().split(" ")
            diff[RepoPath(next(fields))] = Differs(_entry(old_mode, old_id), _entry(mode, id))
        elif field:
            diff = found[CommitId(field.decode().strip())] = {}
    return found


def _entry(mode: str, id: str) -> Entry | None:
    return None if id == _NONE and mode == "000000" else Entry(int(mode, 8), id)

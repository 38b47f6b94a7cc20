"""The user's repository: looked at, copied, never written."""

from __future__ import annotations

import errno
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.git_environment import FORMATS, users_environment
from qodebase.paths import CommitId

NOTES = "refs/notes/*:refs/notes/*"


class BadSource(QodebaseError):
    """A repository that a run cannot start on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A branch of the user's repository; ``dirty`` says that its working tree holds uncommitted changes."""

    path: Path
    git: Path
    branch: str
    commit: CommitId
    dirty: bool = False

    def copy_to(self, target: Path) -> None:
        """Make a bare copy with this branch and all notes, in a folder that only its owner can read.

        Objects are linked where the file system can, so they keep the modes that they have.
        """
        _git(
            "clone",
            "--quiet",
            "--bare",
            "--single-branch",
            "--no-tags",
            "--branch",
            self.branch,
            self.git,
            target,
            why="the repository cannot be copied",
        )
        _git("-C", target, "fetch", "--quiet", "origin", NOTES, why="the notes cannot be copied")
        _git("-C", target, "remote", "remove", "origin", why="the copy cannot be cut loose")


def inspect(path: Path, branch: str | None = None) -> Source:
    """Look at a repository and a branch of it (None: the one that is checked out).

    Raises:
        BadSource: it is no repository, or one of a kind that git does not know, holds no commit, has no such branch, is
            a partial clone, or uses SHA-256; the hint says what to do.
    """
    if not path.is_dir():
        raise BadSource(f"{path} is no folder", hint="Give a git repository with --repo.")
    found = _ask(path, "rev-parse", "--absolute-git-dir")
    if found is None:
        raise _no_repository(path)
    git = Path(found)
    if _ask(path, "rev-parse", "--show-object-format") not in ("sha1", None):
        raise BadSource(f"{path} uses SHA-256 object names, which are not supported", hint="Use a SHA-1 repository.")
    if _ask(path, "config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$"):
        raise BadSource(
            f"{path} is a partial clone: some of its files are not here",
            hint="Clone it again without --filter.",
        )
    name = branch or _ask(path, "symbolic-ref", "-q", "HEAD")
    if name is None:
        raise BadSource(f"{path} has no branch checked out", hint="Name one: --branch main.")
    name = name.removeprefix("refs/heads/")
    commit = _ask(path, "show-ref", "--verify", "--hash", f"refs/heads/{name}")
    if commit is None:
        branches = (_ask(path, "for-each-ref", "--format=%(refname:strip=2)", "refs/heads") or "").split()
        if not branches:
            raise BadSource(f"{path} holds no commit yet", hint="Commit something first: `git commit`.")
        raise BadSource(f"{path} has no branch {name!r}", hint=f"Branches there: {', '.join(branches[:20])}.")
    dirty = bool(_ask(path, "status", "--porcelain", "--untracked-files=no"))
    return Source(path=path.resolve(), git=git, branch=name, commit=CommitId(commit), dirty=dirty)


def _no_repository(path: Path) -> BadSource:
    done = _run("-C", path, "rev-parse", "--absolute-git-dir")
    said = done.stderr.decode(errors="replace").strip()
    if "safe.directory" in said:
        return BadSource(
            f"{path} belongs to another user, and git does not read it",
            hint=f"Say that you trust it: `git config --global --add safe.directory {path.resolve()}`.",
        )
    if "repository extension" in said:
        return BadSource(
            f"{path} is a repository of a kind that the git here does not know: {' '.join(said.split())}",
            hint="Use a newer git, or convert a copy of it: reftable by `git refs migrate --ref-format=files`.",
        )
    return BadSource(f"{path} is no git repository", hint="Make it one: `git init`, `git add`, `git commit`.")


def _ask(path: Path, *words: str) -> str | None:
    """Return what git says, or None where it fails or says nothing."""
    done = _run("-C", path, *words)
    said = done.stdout.decode(errors="surrogateescape").removesuffix("\n")
    return said or None if done.returncode == 0 else None


def _git(*words: str | Path, why: str) -> None:
    done = _run(*words)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        full = os.strerror(errno.ENOSPC) in said
        hint = "Make room on the disk." if full else "Look at the repository with `git fsck`."
        raise BadSource(f"{why}: {said}", hint=hint)


def _run(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run git on the folder that it is given, whatever repository this process was started in or for.

    Optional locks are off, so that looking writes nothing.
    """
    return subprocess.run(
        ["git", *words],
        capture_output=True,
        check=False,
        env={**users_environment(), **FORMATS, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        umask=0o077,
    )

"""Bring a repository to what ``git gc`` leaves, with git's own tools."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.git_environment import git_environment


class CompactionFailed(QodebaseError):
    """A ``git gc`` that did not end well; the repository is as whole as before."""


def compact(git: Path) -> None:
    """Pack refs and objects, with the deltas that they have; what nothing refers to is kept for git's two weeks.

    Raises:
        CompactionFailed: git is missing, or says why it stopped.
    """
    # The trunk's packs hold the deltas that it knew of; a search for better ones takes longer than the landing did.
    settings = ["-c", "gc.autoDetach=false", "-c", "pack.window=0"]
    command = ["git", f"--git-dir={git}", *settings, "gc", "--quiet"]
    before = _begun(git)
    try:
        done = subprocess.run(command, env=git_environment(), capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompactionFailed(f"git could not be started: {error}", hint="Install git.") from None
    if done.returncode:
        # Git removes it in two weeks, and where the disk is full it is what fills it.
        for left in _begun(git) - before:
            with contextlib.suppress(OSError):
                left.unlink()
        raise CompactionFailed(f"git gc of {git} failed: {done.stderr.strip()[-2000:]}", hint="See `git fsck`.")


def _begun(git: Path) -> set[Path]:
    """Return the files of packs that are not whole."""
    return set((git / "objects" / "pack").glob("tmp_*"))

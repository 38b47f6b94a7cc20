"""Bring a repository to what ``git gc`` leaves, with git's own tools."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from qodebase.errors import QodebaseError


class CompactionFailed(QodebaseError):
    """A ``git gc`` that did not end well; the repository is as whole as before."""


def git_environment() -> dict[str, str]:
    """Return an environment in which git finds the repository by its arguments only."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"LC_ALL": "C"}


def compact(git: Path) -> None:
    """Pack refs and objects, with the deltas that they have; what nothing refers to is kept for git's two weeks.

    Raises:
        CompactionFailed: git is missing, or says why it stopped.
    """
    # The trunk's packs hold the deltas that it knew of; a search for better ones takes longer than the landing did.
    settings = ["-c", "gc.autoDetach=false", "-c", "pack.window=0"]
    command = ["git", f"--git-dir={git}", *settings, "gc", "--quiet"]
    try:
        done = subprocess.run(command, env=git_environment(), capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompactionFailed(f"git could not be started: {error}", hint="Install git.") from None
    if done.returncode:
        raise CompactionFailed(f"git gc of {git} failed: {done.stderr.strip()[-2000:]}", hint="See `git fsck`.")


class Tidying:
    """Join the small packs that pile up, in a git process beside the landing.

    Only packs that are there when it starts are joined, each about twice as large as the next smaller one, with the
    deltas that they have; nothing is dropped. So it is safe at any time, and safe to stop.
    """

    def __init__(self, git: Path) -> None:
        self._command = ["git", f"--git-dir={git}", "-c", "pack.threads=1", "-c", "repack.writeBitmaps=false"]
        self._command += ["repack", "--quiet", "-d", "--geometric=2", "--window=0"]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> bool:
        """Begin unless the last one is still at work, and say whether one was begun."""
        if self._process is not None and self._process.poll() is None:
            return False
        null = subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(
                self._command, env=git_environment(), stdin=null, stdout=null, stderr=null, start_new_session=True
            )
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """End what is at work; git removes what it had not finished."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.terminate()
            self._process.wait()
            self._process = None

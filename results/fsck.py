"""Run ``git fsck --strict`` beside the rest of an audit, and tell the run's faults from those that it found there."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from qodebase.git_environment import git_in
from qodebase.paths import CommitId
from results.cat_file import asked_of_git, own_objects
from results.findings import Check, Notebook

_ID = re.compile(r"\b[0-9a-f]{40}\b")


class Fsck:
    """A check of all objects that was begun; it works in a process of its own until `check` is called."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        command = [*git_in(repository), "fsck", "--strict", "--no-dangling", "--no-progress"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=own_objects(),
        )

    def check(self, base: CommitId | None, intents: Mapping[CommitId, str]) -> Check:
        """Wait for git and return what it said.

        Args:
            base: faults of objects below it are older than the run: noted, and no findings.
            intents: which commit lands which intent.
        """
        book = Notebook("git fsck")
        said = self._process.communicate()[0].splitlines()
        lines = [line for line in said if self._process.returncode or not line.startswith("notice:")]
        older = self._objects_of(base) if base and lines else frozenset()
        for line in lines:
            ids = [CommitId(id) for id in _ID.findall(line)]
            concerned = [intents[id] for id in ids if id in intents]
            if ids and all(id in older for id in ids):
                book.note(f"older than the run: {line}")
            elif self._process.returncode == 0:
                book.note(line, intents=concerned)
            else:
                book.wrong(line, intents=concerned, commits=ids[:1])
        if self._process.returncode and not lines:
            book.wrong(f"git fsck ended with {self._process.returncode} and said nothing")
        return book.check(f"git fsck --strict ended with {self._process.returncode}")

    def stop(self) -> None:
        """End git where nobody will ask for its answer."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _objects_of(self, base: CommitId) -> frozenset[str]:
        done = asked_of_git(self._repository, "rev-list", "--objects", base)
        return frozenset(line[:40] for line in done.stdout.splitlines())

"""Read objects through C git, one process for all of them: an audit then leans on no reader of our own."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from qodebase.git_environment import git_environment, git_in
from qodebase.trunk.objects import MissingObject

_PIPE = 1 << 20


def own_objects() -> dict[str, str]:
    """Return an environment in which git reads the repository that it is given, and none of its objects replaced.

    It fetches none that is missing either: the repository may be another user's, and say what is run for that.
    """
    return git_environment() | {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_ALLOW_PROTOCOL": "none"}


def asked_of_git(git: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a git command on a repository to its end; return its exit code and what it said."""
    return subprocess.run(
        ["git", f"--git-dir={git}", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=own_objects(),
    )


class CatFile:
    """Trees and contents of a repository by id; close it when done."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._process = subprocess.Popen(
            [*git_in(repository), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=_PIPE,
            env=own_objects(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked, self._told = self._process.stdin, self._process.stdout

    def read(self, id: str, kind: str) -> bytes:
        """Return the content of an object of a kind (``tree`` or ``blob``), by its 40 hex digits.

        Raises:
            MissingObject: the repository does not hold it, holds something else there, or git gave up.
        """
        try:
            self._asked.write(id.encode() + b"\n")
            self._asked.flush()
        except BrokenPipeError:
            raise MissingObject(f"{self._repository}: git cat-file ended before object {id}") from None
        head = self._told.readline().split()
        if len(head) != 3:
            raise MissingObject(
                f"{self._repository}: object {id} is missing",
                hint="`git fsck` says what else is missing.",
            )
        size = int(head[2])
        content = self._told.read(size)
        if len(content) != size or self._told.read(1) != b"\n":
            raise MissingObject(f"{self._repository}: git cat-file ended in the middle of object {id}")
        if head[1] != kind.encode():
            raise MissingObject(f"{self._repository}: object {id} is a {head[1].decode()}, not a {kind}")
        return content

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._told.close()
        with contextlib.suppress(BrokenPipeError):
            self._asked.close()
        self._process.wait()

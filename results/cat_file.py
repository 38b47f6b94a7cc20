"""Read objects through C git, one process for all of them: an audit then leans on no reader of our own."""

from __future__ import annotations

import contextlib
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

from qodebase.git_environment import git_environment, git_in
from qodebase.trunk.objects import MissingObject

_PIPE = 1 << 20
_AT_ONCE = 256
"""So many objects git is asked for in one go: that many ids fit into a pipe that it does not read meanwhile."""


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
    """Trees and contents of a repository by id; close it when done.

    Args:
        repository: where they lie.
        keep: is given what was asked for ahead and came before what is read.
    """

    def __init__(self, repository: Path, keep: Callable[[str, bytes], None] = lambda id, content: None) -> None:
        self._repository = repository
        self._keep = keep
        self._coming: deque[str] = deque()
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

    def ask(self, ids: Iterable[str]) -> None:
        """Let git find contents (blobs) that will soon be read, while this process does something else."""
        some = list(islice(ids, _AT_ONCE - len(self._coming)))
        with contextlib.suppress(BrokenPipeError):
            self._ask(some)
            self._coming += some

    def read(self, id: str, kind: str) -> bytes:
        """Return the content of an object of a kind (``tree`` or ``blob``), by its 40 hex digits.

        Raises:
            MissingObject: the repository does not hold it, holds something else there, or git gave up.
        """
        came = self._take_in(id) if kind == "blob" else None
        return self.read_all([id], kind)[0] if came is None else came

    def read_all(self, ids: Sequence[str], kind: str) -> list[bytes]:
        """Return the contents of several objects of a kind.

        Raises:
            MissingObject: as in `read`, of the first that cannot be had.
        """
        self._take_in("")
        starts = range(0, len(ids), _AT_ONCE)
        return [content for start in starts for content in self._read_some(ids[start : start + _AT_ONCE], kind)]

    def _take_in(self, until: str) -> bytes | None:
        """Take in what was asked for ahead, up to an object, and return that; what is missing is told when it is read.

        Returns:
            None where it is not among them.
        """
        while self._coming:
            id = self._coming.popleft()
            with contextlib.suppress(MissingObject):
                content = self._take(id, "blob")
                if id == until:
                    return content
                self._keep(id, content)
        return None

    def _read_some(self, ids: Sequence[str], kind: str) -> list[bytes]:
        try:
            self._ask(ids)
        except BrokenPipeError:
            raise MissingObject(f"{self._repository}: git cat-file ended before object {ids[0]}") from None
        contents = []
        missing: MissingObject | None = None
        for id in ids:
            # What git was asked for is taken in to the end, else the next answer would be one of these.
            try:
                contents.append(self._take(id, kind))
            except MissingObject as error:
                missing = missing or error
        if missing is not None:
            raise missing
        return contents

    def _ask(self, ids: Iterable[str]) -> None:
        self._asked.write("".join([f"{id}\n" for id in ids]).encode())
        self._asked.flush()

    def _take(self, id: str, kind: str) -> bytes:
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

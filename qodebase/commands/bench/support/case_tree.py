"""A folder of a case as a tree, so that a change can follow a file that main moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from qodebase.collision import Entry
from qodebase.edits import blob_id
from qodebase.paths import CommitId, RepoPath


class CaseTree:
    """The files below a folder; it has no commit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def commit(self) -> CommitId:
        """Return the id that stands for none."""
        return CommitId("0" * 40)

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the folder holds at a path, or None."""
        file = self._folder / path.decode()
        if not file.is_file():
            return None
        return Entry(mode=0o100755 if file.stat().st_mode & 0o100 else 0o100644, id=blob_id(file.read_bytes()))

    def read(self, path: RepoPath) -> bytes:
        """Return the content of a file; raises `KeyError` where there is none."""
        file = self._folder / path.decode()
        if not file.is_file():
            raise KeyError(path)
        return file.read_bytes()

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every file, in the order of its path."""
        for file in sorted(self._folder.rglob("*")):
            path = RepoPath(file.relative_to(self._folder).as_posix().encode())
            entry = self.entry(path)
            if entry is not None:
                yield path, entry

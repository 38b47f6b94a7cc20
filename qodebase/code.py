"""The code at one commit of a repository, read without any lock."""

from __future__ import annotations

from collections.abc import Iterator

from qodebase.change import SUBMODULE
from qodebase.collision import Entry
from qodebase.paths import CommitId, RepoPath
from qodebase.trunk.reader import Reader


class CommitTree:
    """A `qodebase.ports.Tree` of one commit; the reader stays the caller's to close."""

    def __init__(self, reader: Reader, commit: CommitId) -> None:
        self._reader = reader
        self._commit = commit

    @property
    def commit(self) -> CommitId:
        """Return the commit."""
        return self._commit

    def at(self, commit: CommitId) -> CommitTree:
        """Return the code at another commit of the repository."""
        return CommitTree(self._reader, commit)

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the commit holds at a path; None for a folder and for nothing."""
        return self._reader.entry(self._commit, path)

    def read(self, path: RepoPath) -> bytes:
        """Return the content of a file or link; raises `KeyError` where there is none."""
        found = self._reader.entry(self._commit, path)
        if found is None or found.mode == SUBMODULE:
            raise KeyError(path)
        return self._reader.blob(found.id)

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every file, link and submodule, in git's order."""
        return self._reader.files(self._commit)

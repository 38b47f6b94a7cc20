"""A tree of contents in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qodebase.change import REGULAR
from qodebase.collision import Entry
from qodebase.edits import blob_id
from qodebase.paths import CommitId, RepoPath


class Files:
    """A tree of contents, or of contents with modes."""

    def __init__(self, files: Mapping[str, bytes | tuple[bytes, int]]) -> None:
        self._files = {
            RepoPath(path.encode()): content if isinstance(content, tuple) else (content, REGULAR)
            for path, content in files.items()
        }

    @property
    def commit(self) -> CommitId:
        return CommitId("0" * 40)

    def entry(self, path: RepoPath) -> Entry | None:
        if path not in self._files:
            return None
        content, mode = self._files[path]
        return Entry(mode, blob_id(content))

    def read(self, path: RepoPath) -> bytes:
        return self._files[path][0]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path, (content, mode) in sorted(self._files.items()):
            yield path, Entry(mode, blob_id(content))

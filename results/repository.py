"""The run's repository as an audit reads it: views of commits, differences, contents, each read once if it can be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from qodebase.change import SUBMODULE
from qodebase.collision import Entry
from qodebase.paths import CommitId, RepoPath
from qodebase.trunk.reader import Reader
from results.cat_file import CatFile
from results.tree_diff import Differs, Trees

_KEPT_BYTES = 64 << 20


class View:
    """The code at one commit (a `qodebase.ports.Tree`)."""

    def __init__(self, repository: Repository, commit: CommitId, tree: str) -> None:
        self._repository = repository
        self._commit = commit
        self.tree = tree

    @property
    def commit(self) -> CommitId:
        """Return the commit."""
        return self._commit

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the tree holds at a path, or None."""
        return self._repository.trees.entry(self.tree, path)

    def read(self, path: RepoPath) -> bytes:
        """Return the content of a file or link; raises `KeyError` where there is none."""
        entry = self.entry(path)
        if entry is None or entry.mode == SUBMODULE:
            raise KeyError(path)
        return self._repository.blob(entry.id)

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every file, link and submodule, in git's order."""
        return self._repository.trees.walk(self.tree)


class Repository:
    """A repository that is only read; close it when done.

    Raises:
        NotARepository, UnsupportedRepository: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reader = Reader(path)
        self._objects = CatFile(path, self._keep)
        self.trees = Trees(lambda ids: self._objects.read_all(ids, "tree"))
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._kept = 0

    def __enter__(self) -> Repository:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._objects.close()
        self.reader.close()

    def view(self, commit: CommitId, tree: str | None = None) -> View:
        """Return the code at a commit; ``tree`` saves reading the commit. Raises `MissingObject`."""
        return View(self, commit, tree or self.reader.commit(commit).tree)

    def blob(self, id: str) -> bytes:
        """Return the content that an id names; the newest ones are kept."""
        content = self._blobs.get(id)
        if content is not None:
            self._blobs.move_to_end(id)
            return content
        content = self._objects.read(id, "blob")
        self._keep(id, content)
        return content

    def ask_for(self, differences: Iterable[Mapping[RepoPath, Differs]]) -> None:
        """Let git find the contents on both sides of a few differences, beside what is done until they are read."""
        entries = (entry for differs in differences for sides in differs.values() for entry in sides if entry)
        ids = dict.fromkeys(entry.id for entry in entries if entry.mode != SUBMODULE)
        self._objects.ask(id for id in ids if id not in self._blobs)

    def _keep(self, id: str, content: bytes) -> None:
        self._kept += len(content) - len(self._blobs.pop(id, b""))
        self._blobs[id] = content
        while self._kept > _KEPT_BYTES and len(self._blobs) > 1:
            self._kept -= len(self._blobs.popitem(last=False)[1])

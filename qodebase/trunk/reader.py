"""Read a repository without any lock, from any thread or process, while the trunk lands."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from qodebase.collision import Entry
from qodebase.paths import CommitId, RepoPath
from qodebase.trailers import INTENT, RUN
from qodebase.trunk.batch import ObjectId
from qodebase.trunk.commits import CommitFacts
from qodebase.trunk.differing import differing
from qodebase.trunk.folder import entry_of
from qodebase.trunk.history import first_parents, read_commit
from qodebase.trunk.kept import Recent
from qodebase.trunk.notes import all_notes, find_note, notes_tree
from qodebase.trunk.objects import BLOB, Objects
from qodebase.trunk.refs import NOTES_REF, read_ref
from qodebase.trunk.repository import find_folders
from qodebase.trunk.tree import Tree

_TREES = 64


class Reader:
    """Commits, trees, contents and notes of one repository; close it when done.

    Args:
        repository: a bare repository, a ``.git`` folder or a working tree.

    Raises:
        NotARepository, UnsupportedRepository: it cannot be read.
    """

    def __init__(self, repository: Path) -> None:
        self._folders = find_folders(Path(repository))
        self._objects = Objects(self._folders.objects)
        self._recent = Recent()
        self._trees: dict[str, Tree] = {}
        self._lock = threading.Lock()
        self._notes: tuple[str | None, Tree] | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the packs."""
        self._objects.close()

    def tip(self, branch: str) -> CommitId | None:
        """Return the commit of a branch (or of a full ref name), or None when there is none."""
        found = read_ref(self._folders.git, branch if branch.startswith("refs/") else f"refs/heads/{branch}")
        return None if found is None else CommitId(found)

    def commit(self, id: str) -> CommitFacts:
        """Return what a commit says.

        Raises:
            MissingObject: the repository does not hold it.
        """
        return read_commit(self._objects, id)

    def entry(self, commit: str, path: bytes) -> Entry | None:
        """Return what a commit holds at a path; None for a folder and for nothing."""
        return entry_of(self._tree(commit).node(path))

    def blob(self, id: str) -> bytes:
        """Return the content that an id names."""
        name = bytes.fromhex(id)
        found = self._recent.get(name)
        if found is None:
            found = self._objects.content(name, BLOB)
            self._recent.put(name, found)
        return found

    def content(self, commit: str, path: bytes) -> bytes | None:
        """Return the content of a commit's file or link; None where it holds neither."""
        entry = self.entry(commit, path)
        return None if entry is None or entry.mode == 0o160000 else self.blob(entry.id)

    def files(self, commit: str, under: bytes = b"") -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every path of a commit below a folder with its entry, in git's order."""
        for path, node in self._tree(commit).walk(under):
            yield RepoPath(path), Entry(node.mode, ObjectId(node.id.hex()))

    def tree(self, id: str) -> Tree:
        """Return the tree with an id."""
        return Tree.read(bytes.fromhex(id), self._objects.tree)

    def differences(self, one: str, other: str) -> list[RepoPath]:
        """Return every path at which two commits differ; time grows with the folders that do."""
        return [RepoPath(path) for path in differing(self._tree(one), self._tree(other))]

    def log(self, tip: str, until: str | None = None) -> Iterator[CommitFacts]:
        """Yield the commits from ``tip`` down along first parents, without ``until`` and what is below it."""
        return first_parents(self._objects, self._folders.git, tip, until)

    def note(self, commit: str) -> bytes | None:
        """Return a commit's note, or None."""
        found = find_note(self._notes_tree(), commit)
        return None if found is None else self._objects.content(found[1].id, BLOB)

    def notes(self) -> Iterator[tuple[CommitId, bytes]]:
        """Yield every commit that has a note, with the note."""
        for commit, node in all_notes(self._notes_tree()):
            yield commit, self._objects.content(node.id, BLOB)

    def _notes_tree(self) -> Tree:
        tip = read_ref(self._folders.git, NOTES_REF)
        kept = self._notes
        if kept is None or kept[0] != tip:
            kept = self._notes = (tip, notes_tree(self._objects, tip))
        return kept[1]

    def landed_intents(self, run: str, tip: str, base: str | None) -> dict[str, CommitId]:
        """Return which commit landed each intent of a run, from the trailers between ``tip`` and ``base``.

        Where a later commit copies the trailers of an earlier one, the earlier counts.
        """
        landed = {}
        for commit in self.log(tip, base):
            words = dict(commit.trailers)
            if words.get(RUN) == run and INTENT in words:
                landed[words[INTENT]] = commit.id
        return landed

    def _tree(self, commit: str) -> Tree:
        with self._lock:
            found = self._trees.get(commit)
            if found is None:
                id = bytes.fromhex(read_commit(self._objects, commit).tree)
                newest = next(reversed(self._trees.values()), None)
                found = Tree.read(id, self._objects.tree) if newest is None else newest.moved_to(id)
                if len(self._trees) >= _TREES:
                    self._trees.pop(next(iter(self._trees)))
                self._trees[commit] = found
            return found

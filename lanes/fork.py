"""The event loop's view of main's tip, and the forks that agents take of it."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from qodebase.change import SUBMODULE
from qodebase.collision import Entry
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Tree

_KEPT_BYTES = 64 << 20


class Fork:
    """An agent's view of the code: main's tip at the moment when it took its intent."""

    def __init__(
        self,
        commit: CommitId,
        position: int,
        entries: Mapping[RepoPath, Entry | None],
        contents: Mapping[RepoPath, bytes],
        open_tree: Callable[[CommitId], Tree],
    ) -> None:
        self._commit = commit
        self.position = position
        self._entries = entries
        self._contents = contents
        self._open_tree = open_tree

    @property
    def commit(self) -> CommitId:
        """Return the base commit."""
        return self._commit

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the base holds at a path."""
        if path in self._entries:
            return self._entries[path]
        return self._open_tree(self._commit).entry(path)

    def read(self, path: RepoPath) -> bytes:
        """Return a file's content at the base; raises `KeyError` where there is none."""
        if path in self._contents:
            return self._contents[path]
        return self._open_tree(self._commit).read(path)

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every entry of the base."""
        return self._open_tree(self._commit).walk()


class Main:
    """Main's tip as the event loop knows it: a loaded tree, and what landed since.

    The trunk moves its own trees in its own thread; this view moves only when the landing desk reports what landed,
    so reading it needs no lock. ``position`` counts what it has seen land, other people's commits included.
    """

    def __init__(self, tree: Tree, open_tree: Callable[[CommitId], Tree]) -> None:
        self._tree = tree
        self._open_tree = open_tree
        self._entries: dict[RepoPath, Entry | None] = {}
        self._contents: OrderedDict[RepoPath, bytes] = OrderedDict()
        self._kept = 0
        self._movers: dict[RepoPath, list[tuple[int, str]]] = {}
        self._positions: dict[CommitId, int] = {}
        self._foreign: list[tuple[int, CommitId, CommitId]] = []
        self.tip = tree.commit
        self.position = 0

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the tip holds at a path."""
        if path in self._entries:
            return self._entries[path]
        return self._tree.entry(path)

    def read(self, path: RepoPath) -> bytes:
        """Return a file's content at the tip; raises `KeyError` where there is none."""
        if path in self._contents:
            return self._contents[path]
        if path in self._entries:
            return self._open_tree(self.tip).read(path)
        return self._tree.read(path)

    def fork(self, paths: Iterable[RepoPath], shared: Iterable[RepoPath] = ()) -> Fork:
        """Take a fork of the tip.

        The entries of ``paths`` are kept with it, and of ``shared`` the contents too, so that it stays cheap when
        main moves on and the trunk's thread can redo shared paths without reading anything.
        """
        entries = {path: self.entry(path) for path in (*paths, *shared)}
        contents = {path: self._contents[path] for path in entries if path in self._contents}
        for path in shared:
            if path not in contents and entries[path] is not None:
                contents[path] = self.read(path)
                self.keep(path, contents[path])
        return Fork(self.tip, self.position, entries, contents, self._open_tree)

    def fork_at(self, commit: CommitId, paths: Iterable[RepoPath]) -> Fork:
        """Take a fork of an earlier commit, with the entries and contents of ``paths``."""
        tree = self._open_tree(commit)
        entries = {path: tree.entry(path) for path in paths}
        contents = {
            path: tree.read(path) for path, entry in entries.items() if entry is not None and entry.mode != SUBMODULE
        }
        return Fork(commit, self._positions.get(commit, 0), entries, contents, self._open_tree)

    def remember(self, intent: str, commit: CommitId, paths: Iterable[RepoPath]) -> None:
        """Count a landing of an earlier sitting: whose it was, and what it moved; oldest first."""
        self.position += 1
        self._positions[commit] = self.position
        for path in paths:
            self._movers.setdefault(path, []).append((self.position, intent))

    def pass_by(self, commit: CommitId, before: CommitId) -> None:
        """Count someone else's commit, on top of ``before``; oldest first."""
        self.position += 1
        self._positions[commit] = self.position
        self._foreign.append((self.position, before, commit))

    def advance(self, intent: str, commit: CommitId, entries: Mapping[RepoPath, Entry | None]) -> None:
        """Take in one landing: what the tip holds now at the paths that it touched."""
        self.tip = commit
        self.position += 1
        for path, entry in entries.items():
            self._entries[path] = entry
            self._movers.setdefault(path, []).append((self.position, intent))
            self._kept -= len(self._contents.pop(path, b""))

    def keep(self, path: RepoPath, content: bytes) -> None:
        """Keep the content that the tip holds at a path, so that forks need not read it from disk."""
        self._kept += len(content) - len(self._contents.pop(path, b""))
        self._contents[path] = content
        while self._kept > _KEPT_BYTES and len(self._contents) > 1:
            self._kept -= len(self._contents.popitem(last=False)[1])

    def reset(self, tree: Tree, commits: Sequence[CommitId] = ()) -> None:
        """Begin again on a tip that someone else moved by ``commits``, newest first."""
        before = self.tip
        for commit in reversed(commits):
            self.pass_by(commit, before)
            before = commit
        self._tree = tree
        self.tip = tree.commit
        self._entries.clear()
        self._contents.clear()
        self._kept = 0

    def movers(self, path: RepoPath, since: int) -> list[str]:
        """Return the intents that moved a path after a position, oldest first."""
        moves = self._movers.get(path, [])
        return [intent for _, intent in moves[bisect_right(moves, since, key=lambda move: move[0]) :]]

    def foreign(self, path: RepoPath, since: int) -> list[CommitId]:
        """Return other people's commits after a position that changed a path, oldest first."""
        newer = self._foreign[bisect_right(self._foreign, since, key=lambda move: move[0]) :]
        return [
            commit
            for _, before, commit in newer
            if self._open_tree(before).entry(path) != self._open_tree(commit).entry(path)
        ]

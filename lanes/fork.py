"""The event loop's view of main's tip, and the forks that agents take of it."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from qodebase.change import SUBMODULE
from qodebase.collision import Declined, Entry
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Tree
from replay_rules.placing import follow
from replay_rules.renames import Moves, moves_between

Differ = Callable[[CommitId, CommitId], Iterable[RepoPath]]
"""Return the paths at which two commits differ, and maybe more."""

_KEPT_BYTES = 64 << 20
_KEPT_MOVES = 8


class _Move(NamedTuple):
    """A landing that touched a path; ``leaves`` says whether the path was there after it, None: look."""

    position: int
    intent: str
    leaves: bool | None


class Fork:
    """An agent's view of the code: main's tip at the moment when it took its intent."""

    def __init__(
        self,
        commit: CommitId,
        position: int,
        entries: Mapping[RepoPath, Entry | None],
        contents: dict[RepoPath, bytes],
        open_tree: Callable[[CommitId], Tree],
        blob: Callable[[str], bytes] | None = None,
    ) -> None:
        self._blob = blob
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
        if path not in self._contents:
            self._contents[path] = self._found(path)
        return self._contents[path]

    def _found(self, path: RepoPath) -> bytes:
        entry = self._entries.get(path)
        if entry is None or self._blob is None or entry.mode == SUBMODULE:
            return self._open_tree(self._commit).read(path)
        return self._blob(entry.id)

    def know(self, path: RepoPath, content: bytes) -> None:
        """Take a content of the base that somebody else has read."""
        self._contents.setdefault(path, content)

    def held(self, path: RepoPath) -> bytes | None:
        """Return the base's content where the fork has read it already."""
        return self._contents.get(path)

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every entry of the base."""
        return self._open_tree(self._commit).walk()


class Main:
    """Main's tip as the event loop knows it: a loaded tree, and what landed since.

    The trunk moves its own trees in its own thread; this view moves only when the landing desk reports what landed,
    so reading it needs no lock. ``position`` counts what it has seen land, other people's commits included.

    Args:
        tree: the tip.
        open_tree: gives the code at any commit.
        differ: finds what a commit changed; None: by looking at every path.
        shared: paths that are never a file's new place.
        blob: gives the content that an id names, without looking a path up; None: nothing does.
    """

    def __init__(
        self,
        tree: Tree,
        open_tree: Callable[[CommitId], Tree],
        differ: Differ | None = None,
        shared: Container[RepoPath] = frozenset(),
        blob: Callable[[str], bytes] | None = None,
    ) -> None:
        self._blob = blob
        self._tree = tree
        self._open_tree = open_tree
        self._entries: dict[RepoPath, Entry | None] = {}
        self._looked_up: dict[RepoPath, Entry | None] = {}
        self._contents: OrderedDict[RepoPath, bytes] = OrderedDict()
        self._kept = 0
        self._differ = differ
        self._shared = shared
        self._movers: dict[RepoPath, list[_Move]] = {}
        self._landings: dict[int, tuple[CommitId, CommitId]] = {}
        self._positions: dict[CommitId, int] = {}
        self._intents: dict[int, str] = {}
        self._older: dict[CommitId, int] = {}
        self._foreign: list[tuple[int, CommitId, CommitId]] = []
        self._moves = lru_cache(_KEPT_MOVES)(self._moves_of)
        self.tip = tree.commit
        self.position = 0

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the tip holds at a path."""
        if path in self._entries:
            return self._entries[path]
        if path not in self._looked_up:
            self._looked_up[path] = self._tree.entry(path)
        return self._looked_up[path]

    def look_up_all(self) -> None:
        """Learn what the tip holds everywhere: for thousands of paths one walk costs less than looking each up."""
        self._looked_up.update(self._tree.walk())

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
        return Fork(self.tip, self.position, entries, contents, self._open_tree, self._blob)

    def fork_at(self, commit: CommitId, paths: Iterable[RepoPath]) -> Fork:
        """Take a fork of an earlier commit, with the entries and contents of ``paths``.

        It may be older than what main began on, or lie beside it: what happened between the two counts as one step.
        """
        tree = self._open_tree(commit)
        entries = {path: tree.entry(path) for path in paths}
        contents = {
            path: tree.read(path) for path, entry in entries.items() if entry is not None and entry.mode != SUBMODULE
        }
        return Fork(commit, self._place_of(commit), entries, contents, self._open_tree)

    def remember(self, intent: str, commit: CommitId, paths: Iterable[RepoPath], *, before: CommitId) -> None:
        """Count a landing of an earlier sitting: whose it was, and what it moved from ``before`` on; oldest first."""
        self.position += 1
        self._positions[commit] = self.position
        self._intents[self.position] = intent
        self._landings[self.position] = before, commit
        for path in paths:
            self._movers.setdefault(path, []).append(_Move(self.position, intent, None))

    def pass_by(self, commit: CommitId, before: CommitId) -> None:
        """Count someone else's commit, on top of ``before``; oldest first."""
        self.position += 1
        self._positions[commit] = self.position
        self._landings[self.position] = before, commit
        self._foreign.append((self.position, before, commit))

    def advance(self, intent: str, commit: CommitId, entries: Mapping[RepoPath, Entry | None]) -> None:
        """Take in one landing: what the tip holds now at the paths that it touched."""
        self.position += 1
        self._positions[commit] = self.position
        self._intents[self.position] = intent
        self._landings[self.position] = self.tip, commit
        self.tip = commit
        for path, entry in entries.items():
            self._entries[path] = entry
            self._movers.setdefault(path, []).append(_Move(self.position, intent, entry is not None))
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
        self._looked_up.clear()
        self._contents.clear()
        self._kept = 0

    def landing_at(self, position: int) -> tuple[CommitId, str]:
        """Return the commit at a position, and the intent that landed there; 0 is what main began on."""
        if position == 0:
            return self._landings[1][0] if 1 in self._landings else self.tip, ""
        return self._landings[position][1], self._intents.get(position, "")

    def position_of(self, commit: CommitId) -> int:
        """Return the position of a commit of an earlier sitting; 0 for one that main has not seen land."""
        return self._positions.get(commit, 0)

    def moved_by_others(self, since: int) -> bool:
        """Return whether somebody else's commit came after a position."""
        return bool(self._foreign_after(since))

    def movers(self, path: RepoPath, since: int, *more: RepoPath) -> list[str]:
        """Return the intents that moved a path, or one of ``more``, after a position, oldest first."""
        moves = sorted(move for one in (path, *more) for move in self._moves_after(one, since))
        return list(dict.fromkeys(move.intent for move in moves)) if more else [move.intent for move in moves]

    def foreign(self, path: RepoPath, since: int, *more: RepoPath) -> list[CommitId]:
        """Return other people's commits after a position that changed a path, or one of ``more``, oldest first."""
        return [
            commit
            for _, before, commit in self._foreign_after(since)
            if any(self._open_tree(before).entry(one) != self._open_tree(commit).entry(one) for one in (path, *more))
        ]

    def removal(self, path: RepoPath, after: int) -> tuple[int, Moves] | None:
        """Return the first commit after a position that took a path away: its position, and what moved in it."""
        if after < 0:
            if self._takes(path, after):
                return 0, self._moves(after)
            after = 0
        positions = [move.position for move in self._moves_after(path, after) if not move.leaves]
        positions += [position for position, _, _ in self._foreign_after(after)]
        taken = next((position for position in sorted(positions) if self._takes(path, position)), None)
        return None if taken is None else (taken, self._moves(taken))

    def where(self, path: RepoPath, since: int) -> RepoPath | Declined | None:
        """Return where a file is that stood at ``path`` at a position.

        Returns:
            None where it was deleted; `Declined` where it may be at several places; the path itself where nothing took
            it away, or where it never was.
        """
        return follow(path, since, self)

    def placed(self, intent: Intent) -> Intent | Declined:
        """Return an intent with its scope where main holds it now; declined where main deleted a part of it."""
        if all(self.entry(path) is not None for path in intent.scope):
            return intent
        scope = []
        for path in intent.scope:
            where = path if self.entry(path) is not None else self.where(path, 0)
            if where is None:
                return Declined(why=f"{path.text} was deleted on main{self._by(path)}: author")
            if isinstance(where, Declined):
                return Declined(why=f"{path.text} is gone from main: {where.why}")
            scope.append(where)
        return intent.aimed(dict.fromkeys(scope))

    def _place_of(self, commit: CommitId) -> int:
        """Return a commit's position; one that is not between main's beginning and its tip gets one below 0."""
        if commit in self._positions:
            return self._positions[commit]
        began, _ = self.landing_at(0)
        if commit == began:
            return 0
        place = self._older.setdefault(commit, -1 - len(self._older))
        self._landings[place] = commit, began
        return place

    def _moves_after(self, path: RepoPath, since: int) -> list[_Move]:
        moves = self._movers.get(path, [])
        return moves[bisect_right(moves, since, key=lambda move: move.position) :]

    def _foreign_after(self, since: int) -> list[tuple[int, CommitId, CommitId]]:
        return self._foreign[bisect_right(self._foreign, since, key=lambda move: move[0]) :]

    def _takes(self, path: RepoPath, position: int) -> bool:
        before, commit = self._landings[position]
        return self._open_tree(commit).entry(path) is None and self._open_tree(before).entry(path) is not None

    def _moves_of(self, position: int) -> Moves:
        before, commit = self._landings[position]
        trees = self._open_tree(before), self._open_tree(commit)
        if self._differ is None:
            return moves_between(*trees, self._shared)
        return Moves(*trees, self._differ(before, commit), self._shared)

    def _by(self, path: RepoPath) -> str:
        by = [*self.movers(path, 0)[-1:], *(commit[:12] for commit in self.foreign(path, 0)[-1:])]
        return f" by {' or '.join(by)}" if by else ""

"""Main from a run's base on, as its commits changed it: what any of them holds is known without reading its trees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from operator import itemgetter

from qodebase.collision import Entry
from qodebase.paths import CommitId, RepoPath
from results.history import Commit
from results.repository import Repository, View
from results.tree_diff import Differs

_Held = tuple[int, Entry | None]
"""What a path holds from the commit at a position of main on."""


class MainLine:
    """Main along first parents from a run's base, which is at position 0; `add` takes every commit in order."""

    def __init__(self, repository: Repository, base: View) -> None:
        self._repository = repository
        self._base = base
        self._views: dict[CommitId, View] = {base.commit: _Stand(repository, base.commit, base.tree, 0, self)}
        self._held: dict[RepoPath, list[_Held]] = {}

    def add(self, commit: Commit, differs: Mapping[RepoPath, Differs]) -> View:
        """Take the next commit, and what differs between the one before and it; return the code at it."""
        position = len(self._views)
        for path, (before, after) in differs.items():
            self._held.setdefault(path, [(0, before)]).append((position, after))
        view = self._views[commit.id] = _Stand(self._repository, commit.id, commit.tree, position, self)
        return view

    def view(self, commit: CommitId) -> View:
        """Return the code at a commit, of main or any other. Raises `MissingObject`."""
        return self._views.get(commit) or self._repository.view(commit)

    def entry(self, path: RepoPath, position: int) -> Entry | None:
        """Return what main held at a path at a position."""
        held = self._held.get(path)
        if held is None:
            return self._base.entry(path)
        if held[-1][0] <= position:
            return held[-1][1]
        return held[bisect_right(held, position, key=itemgetter(0)) - 1][1]


class _Stand(View):
    """The code at a commit of main."""

    def __init__(self, repository: Repository, commit: CommitId, tree: str, position: int, line: MainLine) -> None:
        super().__init__(repository, commit, tree)
        self._position = position
        self._line = line

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the tree holds at a path, or None."""
        return self._line.entry(path, self._position)

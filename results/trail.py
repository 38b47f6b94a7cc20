"""Where main's commits moved files, found again from the commits themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable
from typing import NamedTuple

from qodebase.collision import Declined
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath
from replay_rules.placing import follow
from replay_rules.renames import Moves
from results.repository import View


class _Taking(NamedTuple):
    """A commit that took a path away: its position on main, the code before and after it, what it changed."""

    position: int
    before: View
    after: View
    changed: frozenset[RepoPath]


class Trail:
    """Main's renames along first parents from a run's base; `see` takes every commit in order.

    Args:
        base: the commit at position 0.
        apart: paths that are never a file's new place.
    """

    def __init__(self, base: CommitId, apart: Container[RepoPath]) -> None:
        self._base = base
        self._apart = apart
        self._positions = {base: 0}
        self._takings: defaultdict[RepoPath, list[_Taking]] = defaultdict(list)

    def see(self, before: View, after: View, gone: Iterable[RepoPath], changed: Iterable[RepoPath]) -> None:
        """Take the next commit: what it took away, and all that it changed."""
        self._positions[after.commit] = len(self._positions)
        paths = list(gone)
        if paths:
            taking = _Taking(self._positions[after.commit], before, after, frozenset(changed))
            for path in paths:
                self._takings[path].append(taking)

    def where(self, path: RepoPath, since: CommitId, until: CommitId | None = None) -> RepoPath | Declined | None:
        """Return where the file is that stood at ``path`` at a commit; see `replay_rules.placing.follow`.

        Args:
            since: a commit of main; of any other one nothing is known, and the file counts as deleted.
            until: follow it no further than this commit; None: as far as `see` was told.
        """
        if since not in self._positions:
            return None
        last = self._positions.get(until, 0) if until else len(self._positions)
        return follow(path, self._positions[since], _Stretch(self._takings, self._apart, last))

    def moved(self, intent: Intent, until: View) -> dict[RepoPath, RepoPath]:
        """Return where those files of an intent's scope are at a commit that moved since the base."""
        found = {}
        for path in intent.scope:
            where = path if until.entry(path) is not None else self.where(path, self._base, until.commit)
            if isinstance(where, RepoPath) and where != path:
                found[path] = where
        return found


class _Stretch(NamedTuple):
    takings: defaultdict[RepoPath, list[_Taking]]
    apart: Container[RepoPath]
    last: int

    def removal(self, path: RepoPath, after: int) -> tuple[int, Moves] | None:
        """See `replay_rules.placing.Past`."""
        for taking in self.takings.get(path, ()):
            if after < taking.position <= self.last:
                return taking.position, Moves(taking.before, taking.after, taking.changed, self.apart)
        return None

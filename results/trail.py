"""Where main's commits moved files, found again from the commits themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable
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
        self._beside: dict[CommitId, _Taking] = {}

    def beside(self, commit: View, base: View, changed: Callable[[], Iterable[RepoPath]]) -> None:
        """Take a commit that changes were made on and that is not above the base, if it is one.

        What the base has other than it counts as one step, the first of all.

        Args:
            changed: gives the paths at which the two differ.
        """
        if commit.commit not in self._positions and commit.commit not in self._beside:
            self._beside[commit.commit] = _Taking(0, commit, base, frozenset(changed()))

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
            since: a commit of main, or one that `beside` was told of; of any other one nothing is known, and the file
                counts as deleted.
            until: follow it no further than this commit; None: as far as `see` was told.
        """
        first = self._beside.get(since)
        if first is not None:
            if first.before.entry(path) is not None and first.after.entry(path) is None:
                target = Moves(first.before, first.after, first.changed, self._apart).target(path)
                if target is None or isinstance(target, Declined):
                    return target
                path = target
            since = self._base
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

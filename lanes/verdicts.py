"""Verdicts that hold on other trees too, because nothing that the check looked at is different there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from typing import NamedTuple

from lanes.checking.trees import Code, Trees
from lanes.reach.difference import named_changes
from lanes.read_sets import FILES, Looked, Touched, all_touched, kind_of, places_of
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict
from qodebase.trunk.differing import differing
from qodebase.trunk.objects import MissingObject
from qodebase.trunk.tree import Tree

_KEPT = 3
_MOST_TREES = 4
_MOST_PATHS = 1000


class _Green(NamedTuple):
    """A check was green on a tree, and looked at so much of it."""

    tree: str
    looked: Looked


class Verdicts:
    """Remember on which trees checks were green, whoever ran them, and say where that holds too.

    What a check is judged by is the tree, and main before the changes that are judged: it tells which tests must pass.
    So nothing that it looked at may be different in either.
    """

    def __init__(self, trees: Trees) -> None:
        self._trees = trees
        self._green: dict[str, deque[_Green]] = {}

    def take(self, judgement: Judgement, same: Mapping[str, Iterable[str]] | None = None) -> None:
        """Keep which checks were green; ``same``: other names of the same check."""
        if judgement.verdict is Verdict.HOLD or (judgement.verdict is Verdict.RED and not judgement.failed):
            return
        for name in set(judgement.checks).difference(judgement.failed):
            looked = Looked.of(judgement, name)
            if looked.read is not None:
                for one in (name, *(same or {}).get(name, ())):
                    self._keep(one, _Green(judgement.tree, looked))

    def _keep(self, name: str, green: _Green) -> None:
        self._green.setdefault(name, deque(maxlen=_KEPT)).appendleft(green)

    def holding(self, tree: str, names: Iterable[str]) -> dict[str, Looked]:
        """Return which checks are green on a tree because they were on another, and what they looked at there."""
        known = {name: tuple(self._green[name]) for name in names if name in self._green}
        read = frozenset[RepoPath]().union(*(one.looked.read or () for greens in known.values() for one in greens))
        moved: dict[str, Touched | None] = {}
        found: dict[str, Looked] = {}
        for name, greens in known.items():
            for green in greens:
                if green.tree not in moved and len(moved) < _MOST_TREES:
                    moved[green.tree] = self._between(green.tree, tree, read)
                between = moved.get(green.tree)
                if between is not None and not green.looked.meets(between):
                    found[name] = green.looked
                    self._keep(name, _Green(tree, green.looked))
                    break
        return found

    def _between(self, one: str, other: str, read: frozenset[RepoPath]) -> Touched | None:
        """Return what is different, told by names only where that is ``read``; None where that is not known."""
        if one == other:
            return all_touched(())
        try:
            was, now = self._trees.code(one), self._trees.code(other)
            trees = _touched(was, was.tree, now, now.tree, read)
            mains = _touched(was, was.base, now, now.base, read)
        except MissingObject:
            return None
        return None if trees is None or mains is None else all_touched((trees, mains))


def _touched(was: Code, old: Tree, now: Code, new: Tree, read: frozenset[RepoPath]) -> Touched | None:
    paths = [RepoPath(path) for path in islice(differing(old, new), _MOST_PATHS + 1)]
    if len(paths) > _MOST_PATHS:
        return None
    moved = (path for path in paths if kind_of(old.node(path)) != kind_of(new.node(path)))
    named = named_changes(read.intersection(paths), partial(_file_at, was, old), partial(_file_at, now, new))
    return Touched(places_of(paths, moved), named)


def _file_at(code: Code, tree: Tree, path: RepoPath) -> Edit | None:
    node = tree.node(path)
    return None if node is None or node.mode not in FILES else Edit(node.mode, code.content(node.id))

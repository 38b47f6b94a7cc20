"""Where main moved a file to, so that a change to it can follow.

A file is gone from its path and another is new: the move is believed where the two are equal, or at least 60% alike
(the bytes of their common lines, as git's rename detection counts), and where nothing else claims either of them. Where
two fit, no one is taken.
"""

from __future__ import annotations

from collections import Counter
from stat import S_IFMT
from typing import NamedTuple

from qodebase.change import SUBMODULE, SYMLINK
from qodebase.collision import Collision, Declined, Entry, Side
from qodebase.paths import RepoPath
from qodebase.ports import Tree
from replay_rules.hunks import lines_of

LEAST_ALIKE = 0.6
CLEAR_BY = 0.1
"""How much better the best of several like files must be."""

_MOST_COMPARED = 400
_MOST_BYTES = 1 << 20


def followed(
    path: RepoPath, change: Side, before: Tree, now: Tree, *, idempotent: bool = False
) -> Collision | Declined:
    """Return the collision of a change with the file that main made of its path.

    Args:
        path: what the change edits; gone from ``now``.
        change: what it makes of it.
        before: the code that the change was made on.
        now: main's newest tip.
    """
    if change.content is None:
        return Declined(why="deleted here, moved on main: author")
    target = moved_to(path, before, now)
    if isinstance(target, Declined):
        return target
    return Collision(
        path=target, base=_side(before, path), main=_side(now, target), change=change, idempotent=idempotent
    )


def moved_to(path: RepoPath, before: Tree, now: Tree) -> RepoPath | Declined:
    """Return the path that main moved a file to, or why none is certain; time grows with the size of both trees."""
    own = before.entry(path)
    if own is None or now.entry(path) is not None:
        return Declined(why="the path is not one that main took away")
    old, new = dict(before.walk()), dict(now.walk())
    gone = {other: entry for other, entry in old.items() if other not in new and _kind(entry) == _kind(own)}
    came = {other: entry for other, entry in new.items() if other not in old and _kind(entry) == _kind(own)}
    same = [other for other, entry in came.items() if entry.id == own.id]
    if same:
        twins = sum(1 for entry in gone.values() if entry.id == own.id)
        if len(same) == twins == 1:
            return same[0]
        return Declined(why=f"{len(same)} new files equal it: author")
    if own.mode in (SUBMODULE, SYMLINK):
        return Declined(why="deleted on main, edited here: author")
    return _most_alike(path, before, now, gone, came)


class _Fit(NamedTuple):
    alike: float
    path: RepoPath


def _most_alike(
    path: RepoPath, before: Tree, now: Tree, gone: dict[RepoPath, Entry], came: dict[RepoPath, Entry]
) -> RepoPath | Declined:
    taken = {entry.id for entry in gone.values()}
    open_ones = [other for other, entry in came.items() if entry.id not in taken]
    if len(open_ones) > _MOST_COMPARED or len(gone) > _MOST_COMPARED:
        return Declined(why="too many files came and went to tell where it went: author")
    content = before.read(path)
    fits = sorted((_Fit(_alike(content, now.read(other)), other) for other in open_ones), reverse=True)
    if not fits or fits[0].alike < LEAST_ALIKE:
        return Declined(why="deleted on main, edited here: author")
    best = fits[0]
    if len(fits) > 1 and fits[1].alike > best.alike - CLEAR_BY:
        return Declined(why=f"it may have moved to {best.path.text} or to {fits[1].path.text}: author")
    there = now.read(best.path)
    for other in gone:
        if other != path and _alike(before.read(other), there) > best.alike - CLEAR_BY:
            return Declined(why=f"{best.path.text} may come from {other.text} as well: author")
    return best.path


def _alike(left: bytes, right: bytes) -> float:
    """Return the share of the larger content that stands in common lines, 0 to 1."""
    larger = max(len(left), len(right))
    if not larger or larger > _MOST_BYTES or min(len(left), len(right)) < larger * LEAST_ALIKE:
        return 0.0
    common = Counter(lines_of(left)) & Counter(lines_of(right))
    return sum(len(line) * count for line, count in common.items()) / larger


def _kind(entry: Entry) -> int:
    return S_IFMT(entry.mode)


def _side(tree: Tree, path: RepoPath) -> Side:
    entry = tree.entry(path)
    return Side(content=None) if entry is None else Side(content=tree.read(path), mode=entry.mode)

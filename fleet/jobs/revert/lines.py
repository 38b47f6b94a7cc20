"""What a landing did to a shared path, in lines: those that it added and that go when it is undone, and the reverse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from qodebase.paths import RepoPath
from qodebase.ports import Tree
from replay_rules.sorted_index import first_entry


class Lines(NamedTuple):
    """Lines that an undoing takes away, and lines that it brings back."""

    away: Counter[bytes]
    back: Counter[bytes]

    def of(self, content: bytes) -> Counter[bytes]:
        """Return the lines of a content after the undoing; what is gone, or there, already is so once."""
        lines = Counter(content.splitlines(keepends=True))
        return (lines - self.away) | self.back


def undone_lines(landed: Tree, before: Tree, paths: Iterable[RepoPath]) -> Lines:
    """Return the lines of some paths that only one side of a landing has.

    Args:
        landed, before: the code at the landing's commit and at its parent.
    """
    now: Counter[bytes] = Counter()
    then: Counter[bytes] = Counter()
    for path in paths:
        content = _read(landed, path)
        now.update(content.splitlines(keepends=True))
        then.update(kept_of(content, _read(before, path)).splitlines(keepends=True))
    return Lines(now - then, then - now)


def kept_of(landed: bytes, before: bytes) -> bytes:
    """Return what is left of a shared path when its landing is undone: its heading where the landing made the file."""
    return before or landed[: first_entry(landed)]


def _read(tree: Tree, path: RepoPath) -> bytes:
    return tree.read(path) if tree.entry(path) is not None else b""

"""Routing paths to lanes: by patterns, or by the modules that the tree itself shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from qodebase.paths import RepoPath, path_text
from qodebase.patterns import matcher

DEFAULT = "main"
"""The lane of what nothing else takes."""

_MOST_LANES = 64
_SMALLEST = 4
_TRUNK_SHARE = 0.8


class Router:
    """Choose lanes by patterns in gitignore syntax; the first lane that matches takes a path."""

    def __init__(self, lanes: Mapping[str, Sequence[str]]) -> None:
        self.names = (*lanes, *(() if DEFAULT in lanes else (DEFAULT,)))
        self._matchers = [(name, matcher(patterns)) for name, patterns in lanes.items()]
        self._known: dict[RepoPath, str] = {}

    def lane(self, path: RepoPath) -> str:
        """Return the lane of one path."""
        known = self._known.get(path)
        if known is None:
            known = next((name for name, matches in self._matchers if matches(path)), DEFAULT)
            self._known[path] = known
        return known

    def lanes(self, paths: Iterable[RepoPath]) -> tuple[str, ...]:
        """Return the lanes of a change in their fixed order; a change without paths goes to the default lane."""
        return tuple(sorted({self.lane(path) for path in paths})) or (DEFAULT,)


def lanes_from_tree(paths: Iterable[RepoPath]) -> dict[str, tuple[str, ...]]:
    """Choose lanes by looking at the paths that work aims at: one for each top-level module of the code.

    Folders that hold nearly everything (``src``, ``lib/python``) are passed through; a module of fewer than four
    files stays in the default lane, and so do the smallest where there would be more than 64.
    """
    paths = list(paths)
    root: tuple[bytes, ...] = ()
    while True:
        children = Counter(
            parts[: len(root) + 1]
            for path in paths
            if (parts := tuple(path.split(b"/")))[: len(root)] == root and len(parts) > len(root) + 1
        )
        largest = children.most_common(1)
        if not largest or largest[0][1] < _TRUNK_SHARE * len(paths):
            break
        root = largest[0][0]
    modules = [module for module, count in children.most_common(_MOST_LANES - 1) if count >= _SMALLEST]
    return {path_text(b"/".join(module)): (f"/{_literal(b'/'.join(module))}/**",) for module in sorted(modules)}


def _literal(path: bytes) -> str:
    """Return a pattern for one path; a byte that is no UTF-8 is any character, for settings hold only text."""
    text = path.decode(errors="surrogateescape")
    escaped = ("\\" + char if char in "*?[]\\! #" else char for char in text)
    return "".join("?" if "\udc80" <= char <= "\udcff" else char for char in escaped)

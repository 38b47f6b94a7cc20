"""Routing paths to lanes: by patterns, or by the modules that the tree itself shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from qodebase.paths import RepoPath, path_text
from qodebase.patterns import matcher
from qodebase.ports import SharedPath

DEFAULT = "main"
"""The lane of what nothing else takes."""

_MOST_LANES = 64
_SMALLEST = 4
_MANY = 5000
_TRUNK_SHARE = 0.8


class Router:
    """Choose lanes by patterns in gitignore syntax; the first lane that matches takes a path."""

    def __init__(self, lanes: Mapping[str, Sequence[str]]) -> None:
        self.names = (*lanes, *(() if DEFAULT in lanes else (DEFAULT,)))
        self._folders: dict[bytes, tuple[int, str]] = {}
        self._matchers: list[tuple[int, str, Callable[[RepoPath], bool]]] = []
        for order, (name, patterns) in enumerate(lanes.items()):
            folders = [_folder(pattern) for pattern in patterns]
            if all(folders):
                for folder in folders:
                    self._folders.setdefault(folder, (order, name))
            else:
                self._matchers.append((order, name, matcher(patterns)))
        self._known: dict[RepoPath, str] = {}

    def lane(self, path: RepoPath) -> str:
        """Return the lane of one path."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._find(path)
        return known

    def _find(self, path: RepoPath) -> str:
        first, found = len(self.names), DEFAULT
        at = path.find(b"/")
        while at >= 0:
            order, name = self._folders.get(path[:at], (first, found))
            if order < first:
                first, found = order, name
            at = path.find(b"/", at + 1)
        return next((name for order, name, matches in self._matchers if order < first and matches(path)), found)

    def lanes(self, paths: Iterable[RepoPath]) -> tuple[str, ...]:
        """Return the lanes of a change in their fixed order; a change without paths goes to the default lane."""
        return tuple(sorted({self.lane(path) for path in paths})) or (DEFAULT,)


class SharedByLane:
    """Which shared paths an agent's work may touch."""

    def __init__(self, router: Router, shared: Iterable[SharedPath]) -> None:
        self._router = router
        self._shared = tuple(shared)
        self._any = tuple(one.path for one in self._shared if not one.lane)
        self._known: dict[tuple[str, ...], tuple[RepoPath, ...]] = {}

    def of(self, scope: Iterable[RepoPath]) -> tuple[RepoPath, ...]:
        """Return the shared paths of every lane, and of the lanes of these paths."""
        if len(self._any) == len(self._shared):
            return self._any
        lanes = self._router.lanes(scope)
        known = self._known.get(lanes)
        if known is None:
            known = tuple(one.path for one in self._shared if not one.lane or one.lane in lanes)
            self._known[lanes] = known
        return known


def lanes_from_tree(paths: Iterable[RepoPath]) -> dict[str, tuple[str, ...]]:
    """Choose lanes by looking at the paths that work aims at: one for each top-level module of the code.

    Folders that hold nearly everything (``src``, ``lib/python``) are passed through; a module of fewer than four
    files stays in the default lane, and so do the smallest where there would be more than 64. Where more than 5,000
    paths have fewer lanes, the largest modules are split into theirs, as far as there are any.
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
    modules = Counter({module: count for module, count in children.most_common(_MOST_LANES - 1) if count >= _SMALLEST})
    if len(paths) > _MANY:
        _split(modules, paths)
    ordered = sorted(modules, key=lambda module: (-len(module), module))
    return {path_text(b"/".join(module)): (f"/{_literal(b'/'.join(module))}/**",) for module in ordered}


def _split(modules: Counter[tuple[bytes, ...]], paths: Sequence[RepoPath]) -> None:
    """Take modules out of the largest ones until there are 64 lanes or no lane has more than its share."""
    whole: set[tuple[bytes, ...]] = set()
    while len(modules) < _MOST_LANES - 1:
        largest = next((module for module, _ in modules.most_common() if module not in whole), None)
        if largest is None or modules[largest] <= len(paths) // _MOST_LANES:
            return
        whole.add(largest)
        inside = b"/".join(largest) + b"/"
        children = Counter(
            (*largest, below[0])
            for path in paths
            if path.startswith(inside) and len(below := path[len(inside) :].split(b"/")) > 1
        )
        unsplit = sum(count for module, count in modules.items() if module not in whole)
        room = (_MOST_LANES - 1 - len(modules)) * modules[largest] // (modules[largest] + unsplit)
        for child, count in children.most_common(max(1, room)):
            if count >= _SMALLEST and child not in modules:
                modules[child] = count
                modules[largest] -= count


def _folder(pattern: str) -> bytes:
    """Return the folder of a pattern that means all that lies in one and nothing else; empty for any other."""
    inside = pattern[1:-3]
    plain = pattern.startswith("/") and pattern.endswith("/**") and not set(inside) & set("*?[]\\!# ")
    return inside.encode(errors="surrogateescape") if plain else b""


def _literal(path: bytes) -> str:
    """Return a pattern for one path; a byte that is no UTF-8 is any character, for settings hold only text."""
    text = path.decode(errors="surrogateescape")
    escaped = ("\\" + char if char in "*?[]\\! #" else char for char in text)
    return "".join("?" if "\udc80" <= char <= "\udcff" else char for char in escaped)

"""What differs between two trees of a repository, read only where they differ."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from qodebase.collision import Entry
from qodebase.paths import RepoPath
from qodebase.trunk.objects import MissingObject

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_FOLDER = 0o40000
_KEPT_ENTRIES = 300_000
_TOGETHER = 16
"""So many steps of a line are compared together: more asks git less often, and holds more trees."""

_Node = tuple[bytes, bytes, bytes]
"""An entry as a tree has it: mode, name, id."""


class Differs(NamedTuple):
    """A path that differs; None where a side has no file, link or submodule there."""

    before: Entry | None
    after: Entry | None


class _Pair(NamedTuple):
    """Two folders to compare; None where a side has none. What differs goes into ``found``."""

    found: dict[RepoPath, Differs]
    folder: bytes
    before: bytes | None
    after: bytes | None


class Trees:
    """Compare trees by id, and look up paths in them; parsed trees are kept, the newest used longest.

    Args:
        read: gives trees as git stores them, by their 40 hex digits.
    """

    def __init__(self, read: Callable[[Sequence[str]], Sequence[bytes]]) -> None:
        self._read = read
        self._parsed: OrderedDict[bytes, dict[bytes, _Node]] = OrderedDict()
        self._kept = 0

    def diff(self, before: str | None, after: str | None) -> dict[RepoPath, Differs]:
        """Return every path whose mode or object differs; None stands for the empty tree."""
        return self._diff_together([(before, after)])[0]

    def diffs(self, line: Iterable[str]) -> Iterator[list[dict[RepoPath, Differs]]]:
        """Yield, of each tree and the next one, every path whose mode or object differs: some steps, then the next.

        Raises:
            MissingObject: there is a tree that the repository does not hold; every step before it was yielded.
        """
        steps = pairwise(line)
        while some := list(islice(steps, _TOGETHER)):
            try:
                found = self._diff_together(some)
            except MissingObject:
                yield from ([self.diff(*step)] for step in some)
            else:
                yield found

    def entry(self, root: str, path: RepoPath) -> Entry | None:
        """Return what the tree ``root`` holds at a path, or None where there is no file, link or submodule."""
        *folders, name = path.split(b"/")
        id: bytes | None = bytes.fromhex(root)
        for folder in folders:
            id = _folder(self._nodes(id).get(folder))
            if id is None:
                return None
        return _entry(self._nodes(id).get(name))

    def walk(self, root: str) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every file, link and submodule below ``root``, in git's order."""
        levels = [(b"", iter(self._nodes(bytes.fromhex(root)).items()))]
        while levels:
            folder, nodes = levels[-1]
            for name, node in nodes:
                inner = _folder(node)
                if inner is not None:
                    levels.append((folder + name + b"/", iter(self._nodes(inner).items())))
                    break
                entry = _entry(node)
                assert entry is not None
                yield RepoPath(folder + name), entry
            else:
                levels.pop()

    def _diff_together(self, steps: Sequence[tuple[str | None, str | None]]) -> list[dict[RepoPath, Differs]]:
        """Compare several pairs of trees level by level, so that git is asked for all of a level at once."""
        found: list[dict[RepoPath, Differs]] = [{} for _ in steps]
        pairs = [
            _Pair(differs, b"", *(bytes.fromhex(root) if root else None for root in step))
            for differs, step in zip(found, steps, strict=True)
        ]
        while pairs:
            pairs = [pair for pair in pairs if pair.before != pair.after]
            ids = {id for pair in pairs for id in (pair.before, pair.after) if id}
            self._keep(id for id in ids if id not in self._parsed)
            pairs = [below for pair in pairs for below in self._compare(pair)]
        return found

    def _compare(self, pair: _Pair) -> Iterator[_Pair]:
        """Write down what differs in a folder itself, and yield the folders below that may."""
        old, new = self._nodes(pair.before), self._nodes(pair.after)
        names = [name for name, node in new.items() if old.get(name) != node]
        names += [name for name in old if name not in new]
        for name in names:
            path = pair.folder + name
            was, now = old.get(name), new.get(name)
            folders = (_folder(was), _folder(now))
            if any(folders):
                yield _Pair(pair.found, path + b"/", *folders)
            entries = Differs(_entry(was), _entry(now))
            if entries.before != entries.after:
                pair.found[RepoPath(path)] = entries

    def _nodes(self, id: bytes | None) -> dict[bytes, _Node]:
        if id is None:
            return {}
        nodes = self._parsed.get(id)
        if nodes is None:
            return self._keep([id])[-1]
        self._parsed.move_to_end(id)
        return nodes

    def _keep(self, ids: Iterable[bytes]) -> list[dict[bytes, _Node]]:
        """Read trees and keep them; return them in the order of their ids."""
        wanted = list(ids)
        read = [{node[1]: node for node in _ENTRY.findall(raw)} for raw in self._read([id.hex() for id in wanted])]
        for id, nodes in zip(wanted, read, strict=True):
            self._parsed[id] = nodes
            self._kept += len(nodes)
        while self._kept > _KEPT_ENTRIES and len(self._parsed) > 1:
            self._kept -= len(self._parsed.popitem(last=False)[1])
        return read


def _folder(node: _Node | None) -> bytes | None:
    return node[2] if node is not None and int(node[0], 8) == _FOLDER else None


def _entry(node: _Node | None) -> Entry | None:
    if node is None:
        return None
    mode = int(node[0], 8)
    return None if mode == _FOLDER else Entry(mode, node[2].hex())

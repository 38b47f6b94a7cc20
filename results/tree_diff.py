"""What differs between two trees of a repository, read only where they differ."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from qodebase.collision import Entry
from qodebase.paths import RepoPath

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_FOLDER = 0o40000
_KEPT_ENTRIES = 300_000


class Differs(NamedTuple):
    """A path that differs; None where a side has no file, link or submodule there."""

    before: Entry | None
    after: Entry | None


class _Node(NamedTuple):
    mode: int
    id: bytes


class Trees:
    """Compare trees by id, and look up paths in them; parsed trees are kept, the newest used longest.

    Args:
        read: gives a tree as git stores it, by its 40 hex digits.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._parsed: OrderedDict[bytes, dict[bytes, _Node]] = OrderedDict()
        self._kept = 0

    def diff(self, before: str | None, after: str | None) -> dict[RepoPath, Differs]:
        """Return every path whose mode or object differs; None stands for the empty tree."""
        found: dict[RepoPath, Differs] = {}
        pairs = [(b"", before and bytes.fromhex(before), after and bytes.fromhex(after))]
        while pairs:
            folder, old_id, new_id = pairs.pop()
            if old_id == new_id:
                continue
            old, new = self._nodes(old_id or None), self._nodes(new_id or None)
            for name in {name for name, _ in old.items() ^ new.items()}:
                path = folder + name
                was, now = old.get(name), new.get(name)
                folders = (_folder(was), _folder(now))
                if any(folders):
                    pairs.append((path + b"/", *folders))
                entries = Differs(_entry(was), _entry(now))
                if entries.before != entries.after:
                    found[RepoPath(path)] = entries
        return found

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
                yield RepoPath(folder + name), Entry(node.mode, node.id.hex())
            else:
                levels.pop()

    def _nodes(self, id: bytes | None) -> dict[bytes, _Node]:
        if id is None:
            return {}
        nodes = self._parsed.get(id)
        if nodes is not None:
            self._parsed.move_to_end(id)
            return nodes
        nodes = {name: _Node(int(mode, 8), node) for mode, name, node in _ENTRY.findall(self._read(id.hex()))}
        self._parsed[id] = nodes
        self._kept += len(nodes)
        while self._kept > _KEPT_ENTRIES and len(self._parsed) > 1:
            self._kept -= len(self._parsed.popitem(last=False)[1])
        return nodes


def _folder(node: _Node | None) -> bytes | None:
    return node.id if node is not None and node.mode == _FOLDER else None


def _entry(node: _Node | None) -> Entry | None:
    return None if node is None or node.mode == _FOLDER else Entry(node.mode, node.id.hex())

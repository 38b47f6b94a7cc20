"""Folders while they are edited: the edits of one change, laid on a tree all at once."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from qodebase.paths import path_text
from qodebase.trunk.deltas import Splice
from qodebase.trunk.folder import Folder, Load, Node
from qodebase.trunk.objects import TREE, hash_object


class PathClash(Exception):
    """An edit that does not fit the tree: a file stands where a folder is needed, or the other way round."""

    def __init__(self, path: bytes, why: str) -> None:
        super().__init__(f"{path_text(path)}: {why}")
        self.path = path
        self.why = why


class Written(NamedTuple):
    """A folder that an edit made, and how its bytes follow from those of the folder that it replaces."""

    id: bytes
    raw: bytes
    base: bytes | None
    splices: list[Splice]


class _Draft:
    """A folder while it is edited."""

    __slots__ = ("base", "children", "keys", "raw", "shared", "sizes", "splices")

    def __init__(self, base: Folder | None) -> None:
        self.base = base
        self.splices: list[Splice] = []
        self.shared = True
        if base is None:
            self.raw = b""
            self.keys: list[bytes] = []
            self.sizes: list[int] = []
            self.children: dict[bytes, Folder] = {}
        else:
            self.raw = base.raw
            self.keys, self.sizes = base.index()
            self.children = base.children.copy()

    def has(self, key: bytes) -> bool:
        place = bisect_left(self.keys, key)
        return place < len(self.keys) and self.keys[place] == key

    def put(self, key: bytes, mode: bytes, name: bytes, id: bytes) -> None:
        place = bisect_left(self.keys, key)
        start = end = sum(self.sizes[:place])
        if place < len(self.keys) and self.keys[place] == key:
            end += self.sizes[place]
            if self.raw.startswith(mode + b" ", start):
                self._splice(end - 20, end, id)
                return
            self._own()
            self.sizes[place] = len(mode) + len(name) + 22
        else:
            self._own()
            self.keys.insert(place, key)
            self.sizes.insert(place, len(mode) + len(name) + 22)
        self._splice(start, end, b"%s %s\0%s" % (mode, name, id))

    def remove(self, key: bytes) -> None:
        place = bisect_left(self.keys, key)
        start = sum(self.sizes[:place])
        end = start + self.sizes[place]
        self._own()
        del self.keys[place], self.sizes[place]
        self._splice(start, end, b"")

    def _own(self) -> None:
        if self.shared:
            self.keys = self.keys.copy()
            self.sizes = self.sizes.copy()
            self.shared = False

    def _splice(self, start: int, end: int, text: bytes) -> None:
        self.raw = b"".join((self.raw[:start], text, self.raw[end:]))
        self.splices.append((start, end, text))


class Drafts:
    """Every folder that one set of edits touches, by path."""

    def __init__(self, root: Folder, load: Load) -> None:
        self.load = load
        self.root = _Draft(root)
        self.by_path: dict[bytes, _Draft] = {b"": self.root}

    def remove(self, path: bytes) -> None:
        above, _, name = path.rpartition(b"/")
        draft = self._existing(above)
        if draft is not None and draft.has(name):
            draft.remove(name)

    def put(self, path: bytes, node: Node) -> None:
        above, _, name = path.rpartition(b"/")
        draft = self._made(above)
        if draft.has(name + b"/") and path not in self.by_path:
            raise PathClash(path, "a folder stands where a file shall be")
        draft.put(name, b"%o" % node.mode, name, node.id)

    def _existing(self, path: bytes) -> _Draft | None:
        """Return the draft of a folder that the tree has."""
        return self.by_path.get(path) or self._walk(path, make=False)

    def _made(self, path: bytes) -> _Draft:
        """Return the draft of a folder, made if the tree has none."""
        found = self.by_path.get(path) or self._walk(path, make=True)
        assert found is not None
        return found

    def _walk(self, path: bytes, *, make: bool) -> _Draft | None:
        draft = self.root
        end = 0
        while end < len(path):
            start, end = end, path.find(b"/", end + 1)
            if end < 0:
                end = len(path)
            prefix = path[:end]
            found = self.by_path.get(prefix)
            if found is None:
                name = prefix[start + 1 :] if start else prefix
                base = None if draft.base is None else draft.base.child(name, self.load)
                if base is None and not make:
                    return None
                if draft.has(name):
                    raise PathClash(prefix, "a file stands where a folder is needed")
                found = self.by_path[prefix] = _Draft(base)
            draft = found
        return draft

    def finish(self) -> tuple[Folder, list[Written]]:
        """Make the folders from the deepest up; an empty one vanishes, for git keeps none."""
        written: list[Written] = []
        for path in sorted(self.by_path, key=_depth, reverse=True):
            draft = self.by_path[path]
            if path:
                self._settle(path, draft, written)
        return _folder(self.root, written), written

    def _settle(self, path: bytes, draft: _Draft, written: list[Written]) -> None:
        above, _, name = path.rpartition(b"/")
        parent = self.by_path[above]
        if not draft.raw:
            parent.children.pop(name, None)
            if parent.has(name + b"/"):
                parent.remove(name + b"/")
            return
        if parent.has(name):
            raise PathClash(path, "a file and a folder of the same name")
        folder = _folder(draft, written)
        if folder is not draft.base:
            parent.children[name] = folder
            parent.put(name + b"/", b"40000", name, folder.id)


def _depth(path: bytes) -> int:
    return path.count(b"/") + 1 if path else 0


def _folder(draft: _Draft, written: list[Written]) -> Folder:
    base = draft.base
    if base is not None and draft.raw == base.raw:
        return base
    folder = Folder(hash_object(TREE, draft.raw), draft.raw, draft.keys, draft.sizes)
    folder.children = draft.children
    written.append(Written(folder.id, folder.raw, None if base is None else base.id, draft.splices))
    return folder

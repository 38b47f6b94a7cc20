"""Folders while they are edited: the edits of one change, laid on a tree all at once."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from qodebase.paths import path_text
from qodebase.trunk.deltas import Splice
from qodebase.trunk.folder import EMPTY_TREE, Folder, Load, Node
from qodebase.trunk.objects import TREE, hash_object

_FEW = 8
"""Up to so many entries a folder is spliced once for each of them."""


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


class _Laid(NamedTuple):
    """What became of a folder: its bytes, sort keys and lengths of the entries, and how it follows from its base."""

    raw: bytes
    keys: list[bytes]
    sizes: list[int]
    splices: list[Splice]


class _Draft:
    """A folder while it is edited: for each sort key the entry that it gets; None where it goes."""

    __slots__ = ("base", "children", "entries", "keys")

    def __init__(self, base: Folder | None) -> None:
        self.base = base
        self.entries: dict[bytes, bytes | None] = {}
        self.keys: list[bytes] = []
        self.children: dict[bytes, Folder] = {}
        if base is not None:
            self.keys, _ = base.index()
            self.children = base.children.copy()

    def has(self, key: bytes) -> bool:
        if key in self.entries:
            return self.entries[key] is not None
        place = bisect_left(self.keys, key)
        return place < len(self.keys) and self.keys[place] == key

    def put(self, key: bytes, mode: bytes, name: bytes, id: bytes) -> None:
        self.entries[key] = b"%s %s\0%s" % (mode, name, id)

    def remove(self, key: bytes) -> None:
        self.entries[key] = None

    def laid(self) -> _Laid:
        """Lay all entries on the folder in one pass."""
        if self.base is not None and len(self.entries) <= _FEW:
            replaced = self._replaced(self.base)
            if replaced is not None:
                return replaced
        base = self.base or Folder(EMPTY_TREE, b"")
        old, (old_keys, old_sizes), ends = base.raw, base.index(), base.borders()
        raw: list[bytes] = []
        keys: list[bytes] = []
        sizes: list[int] = []
        splices: list[Splice] = []
        at = grown = done = 0
        for key in sorted(self.entries):
            entry = self.entries[key] or b""
            place = bisect_left(old_keys, key, done)
            there = place < len(old_keys) and old_keys[place] == key
            start = ends[place - 1] if place else 0
            end = ends[place] if there else start
            raw += (old[at:start], entry)
            keys += old_keys[done:place]
            sizes += old_sizes[done:place]
            if entry:
                keys.append(key)
                sizes.append(len(entry))
            if there and entry and old.startswith(entry[:-20], start):
                splices.append((end - 20 + grown, end + grown, entry[-20:]))
            else:
                splices.append((start + grown, end + grown, entry))
            at, done = end, place + there
            grown += len(entry) - (end - start)
        raw.append(old[at:])
        return _Laid(b"".join(raw), keys + old_keys[done:], sizes + old_sizes[done:], splices)

    def _replaced(self, base: Folder) -> _Laid | None:
        """Return what `laid` does where every entry only gets another id, which is nearly always so."""
        raw = base.raw
        splices: list[Splice] = []
        for key, entry in self.entries.items():
            start, end = base.span(key)
            if entry is None or not end or not raw.startswith(entry[:-20], start):
                return None
            splices.append((end - 20, end, entry[-20:]))
            raw = b"".join((raw[: end - 20], entry[-20:], raw[end:]))
        return _Laid(raw, *base.index(), splices)


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
        return _folder(self.root, self.root.laid(), written), written

    def _settle(self, path: bytes, draft: _Draft, written: list[Written]) -> None:
        above, _, name = path.rpartition(b"/")
        parent = self.by_path[above]
        laid = draft.laid()
        if not laid.raw:
            parent.children.pop(name, None)
            if parent.has(name + b"/"):
                parent.remove(name + b"/")
            return
        if parent.has(name):
            raise PathClash(path, "a file and a folder of the same name")
        folder = _folder(draft, laid, written)
        if folder is not draft.base:
            parent.children[name] = folder
            parent.put(name + b"/", b"40000", name, folder.id)


def _depth(path: bytes) -> int:
    return path.count(b"/") + 1 if path else 0


def _folder(draft: _Draft, laid: _Laid, written: list[Written]) -> Folder:
    base = draft.base
    if base is not None and laid.raw == base.raw:
        return base
    folder = Folder(hash_object(TREE, laid.raw), laid.raw, laid.keys, laid.sizes)
    folder.children = draft.children
    if base is not None and laid.keys is base.keys:
        folder.ends = base.ends
    written.append(Written(folder.id, folder.raw, None if base is None else base.id, laid.splices))
    return folder

"""Trees in memory as git serializes them; an edit makes new folders along its path and shares all others.

A folder is read when it is first needed. Folders never change once made, so a tree is a snapshot: what an edit left
behind is still the tree that it was.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from qodebase.errors import QodebaseError
from qodebase.paths import path_text
from qodebase.trunk.deltas import Splice
from qodebase.trunk.objects import TREE, hash_object

Load = Callable[[bytes], bytes]
"""Return the serialized tree that 20 bytes name."""

EMPTY_TREE = hash_object(TREE, b"")
FOLDER = 0o040000

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0.{20}", re.DOTALL)


class Node(NamedTuple):
    """An entry as the tree holds it: the id is 20 bytes."""

    mode: int
    id: bytes


class BrokenTree(QodebaseError):
    """A tree that is not what git writes."""


class PathClash(Exception):
    """An edit that does not fit the tree: a file stands where a folder is needed, or the other way round."""

    def __init__(self, path: bytes, why: str) -> None:
        super().__init__(f"{path_text(path)}: {why}")
        self.path = path
        self.why = why


class Folder:
    """One serialized tree, with the sort keys of its entries once they were needed."""

    __slots__ = ("children", "id", "keys", "raw", "sizes")

    def __init__(self, id: bytes, raw: bytes, keys: list[bytes] | None = None, sizes: list[int] | None = None) -> None:
        self.id = id
        self.raw = raw
        self.keys = keys
        self.sizes = sizes
        self.children: dict[bytes, Folder] = {}

    def index(self) -> tuple[list[bytes], list[int]]:
        """Return the sort keys (a folder's ends with a slash) and the length in bytes of each entry."""
        if self.keys is None or self.sizes is None:
            self.keys, self.sizes = self._parsed()
        return self.keys, self.sizes

    def _parsed(self) -> tuple[list[bytes], list[int]]:
        keys, sizes = [], []
        for match in _ENTRY.finditer(self.raw):
            mode, name = match.groups()
            keys.append(name + b"/" if int(mode, 8) == FOLDER else name)
            sizes.append(len(mode) + len(name) + 22)
        if sum(sizes) != len(self.raw) or sorted(keys) != keys:
            raise BrokenTree(f"tree {self.id.hex()} is not sorted as git sorts", hint="See what `git fsck` says.")
        return keys, sizes

    def node(self, key: bytes) -> Node | None:
        """Return the entry with this sort key."""
        keys, sizes = self.index()
        place = bisect_left(keys, key)
        if place == len(keys) or keys[place] != key:
            return None
        start = sum(sizes[:place])
        end = start + sizes[place]
        return Node(int(self.raw[start : self.raw.index(b" ", start)], 8), self.raw[end - 20 : end])

    def child(self, name: bytes, load: Load) -> Folder | None:
        """Return the folder of this name within this one."""
        found = self.children.get(name)
        if found is None:
            node = self.node(name + b"/")
            if node is None:
                return None
            found = self.children[name] = Folder(node.id, load(node.id))
        return found

    def nodes(self) -> Iterator[tuple[bytes, Node]]:
        """Yield name and entry of everything in the folder, in its order."""
        keys, sizes = self.index()
        start = 0
        for key, size in zip(keys, sizes, strict=True):
            end = start + size
            mode = int(self.raw[start : self.raw.index(b" ", start)], 8)
            yield key.removesuffix(b"/"), Node(mode, self.raw[end - 20 : end])
            start = end


class Written(NamedTuple):
    """A folder that an edit made, and how its bytes follow from those of the folder that it replaces."""

    id: bytes
    raw: bytes
    base: bytes | None
    splices: list[Splice]


class Tree:
    """A whole tree, from its root."""

    __slots__ = ("load", "root")

    def __init__(self, root: Folder, load: Load) -> None:
        self.root = root
        self.load = load

    @classmethod
    def read(cls, id: bytes, load: Load) -> Tree:
        """Return the tree that 20 bytes name; the empty one need not be stored."""
        return cls(Folder(id, b"" if id == EMPTY_TREE else load(id)), load)

    @property
    def id(self) -> bytes:
        """Return the 20 bytes that name the tree."""
        return self.root.id

    def folder(self, path: bytes) -> Folder | None:
        """Return the folder at a path; the empty path is the root."""
        folder: Folder | None = self.root
        for name in path.split(b"/") if path else ():
            if folder is None:
                return None
            folder = folder.child(name, self.load)
        return folder

    def node(self, path: bytes) -> Node | None:
        """Return the file, link or submodule at a path; None for a folder and for nothing."""
        above, _, name = path.rpartition(b"/")
        folder = self.folder(above)
        return None if folder is None else folder.node(name)

    def walk(self, under: bytes = b"") -> Iterator[tuple[bytes, Node]]:
        """Yield path and entry of every file, link and submodule below a folder, in git's order."""
        start = self.folder(under)
        if start is None:
            return
        stack = [(under + b"/" if under else b"", start, start.nodes())]
        while stack:
            prefix, folder, nodes = stack[-1]
            for name, node in nodes:
                if node.mode == FOLDER:
                    below = folder.children.get(name) or Folder(node.id, self.load(node.id))
                    stack.append((prefix + name + b"/", below, below.nodes()))
                    break
                yield prefix + name, node
            else:
                stack.pop()

    def edited(self, edits: Mapping[bytes, Node | None]) -> tuple[Tree, list[Written]]:
        """Return the tree with these entries in place (None: gone), and every folder that had to be made for it.

        Raises:
            PathClash: an edit needs a folder where a file stands, or puts a file where a folder stands.
        """
        drafts = _Drafts(self)
        for path, node in edits.items():
            if node is None:
                drafts.remove(path)
        for path, node in edits.items():
            if node is not None:
                drafts.put(path, node)
        return drafts.finish()

    def moved_to(self, id: bytes) -> Tree:
        """Return another tree that keeps in memory what it has in common with this one."""
        return Tree(_follow(self.root, id, self.load), self.load)


def _follow(root: Folder, id: bytes, load: Load) -> Folder:
    if root.id == id:
        return root
    new_root = Folder(id, b"" if id == EMPTY_TREE else load(id))
    stack = [(root, new_root)]
    while stack:
        old, new = stack.pop()
        for name, child in old.children.items():
            node = new.node(name + b"/")
            if node is None:
                continue
            if node.id == child.id:
                new.children[name] = child
            else:
                below = new.children[name] = Folder(node.id, load(node.id))
                stack.append((child, below))
    return new_root


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


class _Drafts:
    """Every folder that one set of edits touches, by path."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.root = _Draft(tree.root)
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
                base = None if draft.base is None else draft.base.child(name, self.tree.load)
                if base is None and not make:
                    return None
                if draft.has(name):
                    raise PathClash(prefix, "a file stands where a folder is needed")
                found = self.by_path[prefix] = _Draft(base)
            draft = found
        return draft

    def finish(self) -> tuple[Tree, list[Written]]:
        """Make the folders from the deepest up; an empty one vanishes, for git keeps none."""
        written: list[Written] = []
        for path in sorted(self.by_path, key=_depth, reverse=True):
            draft = self.by_path[path]
            if path:
                self._settle(path, draft, written)
        return Tree(_folder(self.root, written), self.tree.load), written

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

"""Trees in memory as git serializes them; an edit makes new folders along its path and shares all others.

A folder is read when it is first needed. Folders never change once made, so a tree is a snapshot: what an edit left
behind is still the tree that it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from qodebase.trunk.drafts import Drafts, PathClash, Written
from qodebase.trunk.folder import EMPTY_TREE, FOLDER, Folder, Load, Node

__all__ = ["PathClash", "Tree"]


class _Place(NamedTuple):
    """Where a path leads: the folders above with the place of the next one's id, the last folder, the entry's span.

    The folder is None where the path's folders are not all there; the span is ``(0, 0)`` where it holds no such entry.
    """

    path: bytes
    way: list[tuple[Folder, bytes, int]]
    folder: Folder | None
    start: int
    end: int


class Tree:
    """A whole tree, from its root."""

    __slots__ = ("_looked_up", "load", "root")

    def __init__(self, root: Folder, load: Load) -> None:
        self.root = root
        self.load = load
        self._looked_up: _Place | None = None

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
        return self._place(path + b"/").folder if path else self.root

    def node(self, path: bytes) -> Node | None:
        """Return the file, link or submodule at a path; None for a folder and for nothing."""
        place = self._place(path)
        if place.folder is None or not place.end:
            return None
        raw = place.folder.raw
        return Node(int(raw[place.start : raw.index(b" ", place.start)], 8), raw[place.end - 20 : place.end])

    def _place(self, path: bytes) -> _Place:
        """Walk to a path; the last walk is kept, for what is looked at is often edited next."""
        place = self._looked_up
        if place is not None and place.path == path:
            return place
        *above, name = path.split(b"/")
        way: list[tuple[Folder, bytes, int]] = []
        folder = self.root
        for part in above:
            found = folder.way(part, self.load)
            if found is None:
                return _Place(path, way, None, 0, 0)
            way.append((folder, part, found[1]))
            folder = found[0]
        place = self._looked_up = _Place(path, way, folder, *folder.span(name))
        return place

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
        if len(edits) == 1:
            replaced = self._replaced(*next(iter(edits.items())))
            if replaced is not None:
                return replaced
        drafts = Drafts(self.root, self.load)
        for path, node in edits.items():
            if node is None:
                drafts.remove(path)
        for path, node in edits.items():
            if node is not None:
                drafts.put(path, node)
        root, written = drafts.finish()
        return Tree(root, self.load), written

    def _replaced(self, path: bytes, node: Node | None) -> tuple[Tree, list[Written]] | None:
        """Return what `edited` does for the commonest edit: an entry that is there gets another id of the same mode."""
        _, way, folder, start, end = self._place(path)
        if node is None or folder is None or not end:
            return None
        if not folder.raw.startswith(b"%o " % node.mode, start) or folder.raw.startswith(node.id, end - 20):
            return None
        made = folder.with_id(end - 20, node.id)
        written = [Written(made.id, made.raw, folder.id, [(end - 20, end, node.id)])]
        for folder, part, place in reversed(way):
            below, made = made, folder.with_id(place, made.id)
            made.children = made.children.copy()
            made.children[part] = below
            written.append(Written(made.id, made.raw, folder.id, [(place, place + 20, below.id)]))
        return Tree(made, self.load), written

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

"""Trees in memory as git serializes them; an edit makes new folders along its path and shares all others.

A folder is read when it is first needed. Folders never change once made, so a tree is a snapshot: what an edit left
behind is still the tree that it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qodebase.trunk.drafts import Drafts, PathClash, Written
from qodebase.trunk.folder import EMPTY_TREE, FOLDER, Folder, Load, Node
from qodebase.trunk.front import Front

__all__ = ["PathClash", "Tree"]


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
        return self._walked(path.split(b"/") if path else [])

    def node(self, path: bytes) -> Node | None:
        """Return the file, link or submodule at a path; None for a folder and for nothing."""
        *above, name = path.split(b"/")
        folder = self._walked(above)
        return None if folder is None else folder.node(name)

    def _walked(self, names: list[bytes]) -> Folder | None:
        folder = self.root
        for name in names:
            below = folder.child(name, self.load)
            if below is None:
                return None
            folder = below
        return folder

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
            ((path, node),) = edits.items()
            front = Front(self.root, self.load)
            patched = None if node is None else front.replace(path, node)
            if patched is not None:
                return Tree(front.root(), self.load), [
                    Written(level.id, level.raw(), base, [(at, at + 20, patch)]) for level, base, at, patch in patched
                ]
        drafts = Drafts(self.root, self.load)
        for path, node in edits.items():
            if node is None:
                drafts.remove(path)
        for path, node in edits.items():
            if node is not None:
                drafts.put(path, node)
        root, written = drafts.finish()
        return Tree(root, self.load), written

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

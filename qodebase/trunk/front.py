"""The newest state of a tree that one edit after the other moves on.

Folders never change once made, so each edit of a tree makes those along its path anew. Here a folder is copied when it
is first needed, and its bytes change in place from then on: nearly every edit touches the same few large folders.
"""

from __future__ import annotations

from struct import Struct

from qodebase.trunk.folder import Folder, Load, Node
from qodebase.trunk.objects import TREE, head_of, sha1

_put = Struct("20s").pack_into

Patched = tuple["Level", bytes, int, bytes]
"""A folder that has another id now, the one that it had, and the 20 bytes that were put at a place for it."""


class Level:
    """A folder as it is now: the bytes that git hashes, which begin with a head, and where the one above has its id.

    ``folder`` is what it was at first or when `Front.root` was last asked for; entries, their modes and names are still
    the same. ``below`` holds what is newer than that folder's children.
    """

    __slots__ = ("above", "at", "below", "folder", "hashed", "head", "id", "name", "size")

    def __init__(self, folder: Folder, name: bytes, above: Level | None, at: int) -> None:
        head = head_of(TREE, len(folder.raw))
        self.folder = folder
        self.name = name
        self.above = above
        self.at = at
        self.id = folder.id
        self.head = len(head)
        self.size = len(folder.raw)
        self.hashed = bytearray(head + folder.raw)
        self.below: dict[bytes, Folder] = {}

    def raw(self) -> bytes:
        """Return the serialized tree."""
        with memoryview(self.hashed) as view:
            return bytes(view[self.head :])

    def settle(self) -> None:
        """Make a folder of what changed since the last one; levels below come first."""
        if self.id != self.folder.id:
            self.folder = self.folder.like(self.id, self.raw(), self.below)
            self.below = {}
            if self.above is not None:
                self.above.below[self.name] = self.folder


class Front:
    """A tree that single edits move on, each of which gives an entry that is there another id."""

    def __init__(self, root: Folder, load: Load) -> None:
        self._load = load
        self._root = Level(root, b"", None, 0)
        self._levels = {b"": self._root}
        self._found: tuple[bytes, Level, int, Node] | None = None
        self._moved = False

    @property
    def id(self) -> bytes:
        """Return the 20 bytes that name the tree."""
        return self._root.id

    def root(self) -> Folder:
        """Return the tree as a folder, which stays what it is whatever comes later."""
        if self._moved:
            self._moved = False
            for level in reversed(self._levels.values()):
                level.settle()
        return self._root.folder

    def node(self, path: bytes) -> Node | None:
        """Return the file, link or submodule at a path; None for a folder and for nothing."""
        cut = path.rfind(b"/") + 1
        level = self._levels.get(path[:cut]) or self._level(path[:cut])
        if level is None:
            return None
        folder = level.folder
        start, end = folder.span(path[cut:])
        if not end:
            return None
        at = level.head + end - 20
        raw = folder.raw
        node = Node(int(raw[start : raw.index(b" ", start)], 8), bytes(level.hashed[at : at + 20]))
        # What is looked at is often edited next.
        self._found = path, level, at, node
        return node

    def _level(self, path: bytes) -> Level | None:
        """Return the folder at a path that ends with a slash, from where it is first needed."""
        cut = path.rfind(b"/", 0, -1) + 1
        above = self._levels.get(path[:cut]) or self._level(path[:cut])
        if above is None:
            return None
        name = path[cut:-1]
        _, end = above.folder.span(path[cut:])
        below = above.folder.child(name, self._load) if end else None
        if below is None:
            return None
        level = self._levels[path] = Level(below, name, above, above.head + end - 20)
        return level

    def replace(self, path: bytes, node: Node) -> list[Patched] | None:
        """Give the entry at a path another id and return the folders that this changed, from the lowest up.

        None: nothing is done, for there is no entry of the same mode with another id. What is returned tells of the
        folders only until the next edit.
        """
        if (self._found is None or self._found[0] != path) and self.node(path) is None:
            return None
        assert self._found is not None
        _, found, at, was = self._found
        if was.mode != node.mode or was.id == node.id:
            return None
        self._found = None
        self._moved = True
        patched: list[Patched] = []
        level: Level | None = found
        id = node.id
        while level is not None:
            hashed = level.hashed
            _put(hashed, at, id)
            patched.append((level, level.id, at - level.head, id))
            id = level.id = sha1(hashed).digest()
            at, level = level.at, level.above
        return patched

"""One tree in memory, as git serializes it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from qodebase.collision import Entry
from qodebase.errors import QodebaseError
from qodebase.trunk.batch import ObjectId
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


class Folder:
    """One serialized tree, with the sort keys of its entries once they were needed."""

    __slots__ = ("children", "ends", "id", "keys", "raw", "sizes")

    def __init__(self, id: bytes, raw: bytes, keys: list[bytes] | None = None, sizes: list[int] | None = None) -> None:
        self.id = id
        self.raw = raw
        self.keys = keys
        self.sizes = sizes
        self.ends: list[int] | None = None
        self.children: dict[bytes, Folder] = {}

    def index(self) -> tuple[list[bytes], list[int]]:
        """Return the sort keys (a folder's ends with a slash) and the length in bytes of each entry."""
        if self.keys is None or self.sizes is None:
            self.keys, self.sizes = self._parsed()
        return self.keys, self.sizes

    def _parsed(self) -> tuple[list[bytes], list[int]]:
        entries = _ENTRY.findall(self.raw)
        keys = [name + b"/" if mode.lstrip(b"0") == b"40000" else name for mode, name in entries]
        sizes = [len(mode) + len(name) + 22 for mode, name in entries]
        if sum(sizes) != len(self.raw) or sorted(keys) != keys:
            raise BrokenTree(f"tree {self.id.hex()} is not sorted as git sorts", hint="See what `git fsck` says.")
        return keys, sizes

    def span(self, key: bytes) -> tuple[int, int]:
        """Return where in the bytes the entry with this sort key stands; ``(0, 0)`` for none."""
        keys, sizes = self.index()
        place = bisect_left(keys, key)
        if place == len(keys) or keys[place] != key:
            return 0, 0
        end = self.borders()[place]
        return end - sizes[place], end

    def borders(self) -> list[int]:
        """Return where in the bytes each entry ends."""
        if self.ends is None:
            self.ends = list(accumulate(self.index()[1]))
        return self.ends

    def node(self, key: bytes) -> Node | None:
        """Return the entry with this sort key."""
        start, end = self.span(key)
        if not end:
            return None
        return Node(int(self.raw[start : self.raw.index(b" ", start)], 8), self.raw[end - 20 : end])

    def like(self, id: bytes, raw: bytes, children: Mapping[bytes, Folder]) -> Folder:
        """Return a folder of the same entries with other ids; ``children`` are those that it does not share."""
        made = Folder(id, raw, self.keys, self.sizes)
        made.ends = self.ends
        made.children = {**self.children, **children}
        return made

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


def entry_of(node: Node | None) -> Entry | None:
    """Return a tree's entry as the words of a landing have it."""
    return None if node is None else Entry(node.mode, ObjectId(node.id.hex()))


def is_entry(node: Node | None, entry: Entry | None) -> bool:
    """Return whether a tree holds what a landing expects; None is nothing."""
    if node is None or entry is None:
        return node is None and entry is None
    return node.mode == entry.mode and node.id.hex() == entry.id

"""The trees that are judged: those that only exist as edits on main, and those that the repository holds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from qodebase.edits import Edit, blob_id
from qodebase.paths import RepoPath
from qodebase.trunk.folder import Node
from qodebase.trunk.reader import Reader
from qodebase.trunk.tree import Tree

_KEPT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A tree that can be laid out in a folder.

    Attributes:
        tree: what is judged.
        base: main before the changes that are judged; the tree itself where nothing is judged.
        contents: what the repository does not hold, by the blob's 20 bytes.
    """

    tree: Tree
    base: Tree
    reader: Reader
    contents: Mapping[bytes, bytes]

    def content(self, id: bytes) -> bytes:
        """Return the content of a blob."""
        found = self.contents.get(id)
        return self.reader.blob(id.hex()) if found is None else found

    @property
    def before(self) -> Code:
        """Return main before the changes."""
        return Code(tree=self.base, base=self.base, reader=self.reader, contents={})


class Trees:
    """Find trees by their ids; any thread may ask. The newest that were told are kept."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._told: OrderedDict[str, tuple[str, Mapping[RepoPath, Edit | None]]] = OrderedDict()
        self._lock = threading.Lock()

    def tell(self, tree: str, base: str, edits: Mapping[RepoPath, Edit | None]) -> None:
        """Take in what a tree is made of: main's tree, and edits on it."""
        with self._lock:
            self._told[tree] = (base, edits)
            self._told.move_to_end(tree)
            while len(self._told) > _KEPT:
                self._told.popitem(last=False)

    def code(self, tree: str) -> Code:
        """Return a tree with its contents.

        Raises:
            MissingObject: nobody told of it, and the repository does not hold it.
        """
        with self._lock:
            told = self._told.get(tree)
        if told is None:
            whole = self._reader.tree(tree)
            return Code(tree=whole, base=whole, reader=self._reader, contents={})
        base = self._reader.tree(told[0])
        nodes: dict[bytes, Node | None] = {}
        contents = {}
        for path, edit in told[1].items():
            nodes[path] = None
            if edit is not None:
                id = bytes.fromhex(blob_id(edit.content))
                nodes[path] = Node(edit.mode, id)
                contents[id] = edit.content
        return Code(tree=base.edited(nodes)[0], base=base, reader=self._reader, contents=contents)

"""Where two trees differ, read only where they do."""

from __future__ import annotations

from collections.abc import Iterator

from qodebase.trunk.folder import FOLDER, Folder, Node
from qodebase.trunk.tree import Tree


def differing(one: Tree, other: Tree) -> Iterator[bytes]:
    """Yield every path at which two trees hold another file, link or submodule; equal folders are not looked into."""
    pairs: list[tuple[bytes, Folder | None, Folder | None]] = [(b"", one.root, other.root)]
    while pairs:
        above, left, right = pairs.pop()
        for name, nodes in _unlike(left, right).items():
            below = [_below(*side, name) for side in zip((one, other), (left, right), nodes, strict=True)]
            if any(below):
                pairs.append((above + name + b"/", below[0], below[1]))
            if any(node is not None and node.mode != FOLDER for node in nodes):
                yield above + name


def _unlike(left: Folder | None, right: Folder | None) -> dict[bytes, tuple[Node | None, Node | None]]:
    """Return the names whose entries differ in two folders, with the entries."""
    if left is not None and right is not None and left.id == right.id:
        return {}
    was, now = (dict(folder.nodes()) if folder is not None else {} for folder in (left, right))
    names = {name for name, _ in was.items() ^ now.items()}
    return {name: (was.get(name), now.get(name)) for name in names}


def _below(tree: Tree, folder: Folder | None, node: Node | None, name: bytes) -> Folder | None:
    return folder.child(name, tree.load) if folder and node and node.mode == FOLDER else None

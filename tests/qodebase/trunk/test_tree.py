from __future__ import annotations

import pytest

from qodebase.change import REGULAR
from qodebase.trunk.folder import EMPTY_TREE, BrokenTree, Folder, Node
from qodebase.trunk.objects import TREE, hash_object
from qodebase.trunk.tree import PathClash, Tree

BLOB = Node(REGULAR, b"\x01" * 20)
OTHER = Node(REGULAR, (b"\0 100644 a\0" * 2)[:20])


class Store:
    """Trees by id; it counts what is read."""

    def __init__(self) -> None:
        self.trees: dict[bytes, bytes] = {}
        self.reads = 0

    def __call__(self, id: bytes) -> bytes:
        self.reads += 1
        return self.trees[id]

    def make(self, files: dict[bytes, Node]) -> Tree:
        tree, written = Tree.read(EMPTY_TREE, self).edited(dict(files))
        self.trees.update((folder.id, folder.raw) for folder in written)
        return Tree.read(tree.id, self)


def test_an_edit_leaves_the_tree_that_it_was_made_on_as_it_was() -> None:
    store = Store()
    tree = store.make({b"a/b/c": BLOB, b"a/d": BLOB, b"e": OTHER})
    before = dict(tree.walk())
    edited, written = tree.edited({b"a/b/c": OTHER, b"a/x/y": BLOB, b"e": None})
    assert dict(tree.walk()) == before
    assert edited.node(b"a/b/c") == OTHER
    assert edited.node(b"a/x/y") == BLOB
    assert edited.node(b"e") is None
    assert edited.node(b"a/d") == BLOB
    assert edited.node(b"a") is None
    assert [folder.id for folder in written if hash_object(TREE, folder.raw) != folder.id] == []


def test_the_splices_of_an_edit_lead_from_the_old_folder_to_the_new_one() -> None:
    store = Store()
    tree = store.make({b"a/%d" % number: BLOB for number in range(40)})
    _, written = tree.edited({b"a/3": OTHER, b"a/35": None, b"a/30x": BLOB, b"a/z": OTHER, b"new": BLOB})
    for folder in written:
        assert folder.base is not None
        raw = store.trees[folder.base]
        for start, end, text in folder.splices:
            raw = raw[:start] + text + raw[end:]
        assert raw == folder.raw


def test_only_folders_on_the_way_are_read() -> None:
    store = Store()
    tree = store.make({b"%d/%d/f" % (one, two): BLOB for one in range(9) for two in range(9)})
    store.reads = 0
    tree.node(b"3/4/f")
    assert store.reads == 2
    edited, _ = tree.edited({b"3/4/f": OTHER})
    assert store.reads == 2
    edited.node(b"3/4/f")
    assert store.reads == 2
    store.trees.update((folder.id, folder.raw) for folder in tree.edited({b"7/7/f": OTHER})[1])
    other = tree.edited({b"7/7/f": OTHER})[0]
    store.reads = 0
    moved = edited.moved_to(other.id)
    assert moved.node(b"7/7/f") == OTHER
    assert moved.node(b"3/4/f") == BLOB


def test_an_edit_that_changes_nothing_makes_nothing() -> None:
    tree = Store().make({b"a/b": BLOB})
    edited, written = tree.edited({b"a/b": BLOB, b"not/there": None})
    assert edited.id == tree.id
    assert written == []


@pytest.mark.parametrize(
    "edits",
    [
        {b"a/b/c": BLOB},
        {b"a": BLOB},
        {b"a/b": None, b"a/b/c": BLOB, b"a": BLOB},
        {b"a/b": None, b"a": BLOB},
        {b"f/x/y": BLOB},
    ],
)
def test_a_file_where_a_folder_is_needed_or_the_other_way_round_is_a_clash(edits: dict[bytes, Node | None]) -> None:
    tree = Store().make({b"a/b": BLOB, b"a/z": BLOB, b"f": BLOB})
    with pytest.raises(PathClash):
        tree.edited(edits)


def test_a_tree_that_is_not_sorted_is_refused() -> None:
    raw = b"100644 b\0" + b"\x01" * 20 + b"100644 a\0" + b"\x01" * 20
    with pytest.raises(BrokenTree, match="not sorted"):
        Folder(hash_object(TREE, raw), raw).node(b"a")
    with pytest.raises(BrokenTree):
        Folder(b"\0" * 20, b"100644 a\0short").node(b"a")

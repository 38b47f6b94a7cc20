from __future__ import annotations

import random

import pytest

from qodebase.change import EXECUTABLE, REGULAR
from qodebase.trunk.drafts import Drafts
from qodebase.trunk.folder import EMPTY_TREE, Folder, Load, Node
from qodebase.trunk.front import Front
from qodebase.trunk.objects import TREE, hash_object
from qodebase.trunk.tree import Tree

PATHS = [b"%d/%d/%d" % (one, two, three) for one in range(4) for two in range(4) for three in range(3)] + [b"a", b"b"]


def drafted(root: Folder, load: Load, path: bytes, node: Node) -> Folder:
    drafts = Drafts(root, load)
    drafts.put(path, node)
    return drafts.finish()[0]


@pytest.fixture
def stored() -> dict[bytes, bytes]:
    """Trees by id; the root is the last one."""
    nodes = {path: Node(REGULAR, hash_object(TREE, path)) for path in PATHS}
    _, written = Tree.read(EMPTY_TREE, lambda id: b"").edited({**nodes, b"run": Node(EXECUTABLE, b"\1" * 20)})
    return {folder.id: folder.raw for folder in written}


def test_a_tree_that_edits_move_on_is_what_each_edit_would_have_made_of_the_one_before(
    stored: dict[bytes, bytes],
) -> None:
    chance = random.Random(7)
    loaded: list[bytes] = []

    def load(id: bytes) -> bytes:
        loaded.append(id)
        return stored[id]

    root = Tree.read(list(stored)[-1], load).root
    front = Front(root, load)
    for number in range(400):
        path, node = chance.choice(PATHS), Node(REGULAR, bytes([chance.randrange(3)]) * 20)
        before = front.node(path)
        expected = drafted(root, stored.__getitem__, path, node)
        patched = front.replace(path, node)
        assert (patched is None) == (before == node)
        assert front.id == expected.id
        assert front.node(path) == node
        for level, base, place, patch in patched or ():
            raw = level.raw()
            assert hash_object(TREE, raw) == level.id
            assert level.size == len(raw)
            assert stored[base] == raw[:place] + stored[base][place : place + 20] + raw[place + 20 :]
            assert raw[place : place + 20] == patch
            stored[level.id] = raw
        if number % 17 == 0:
            # Asked for now and then, so that most edits lie between two looks at the whole.
            snapshot = front.root()
            assert dict(Tree(snapshot, stored.__getitem__).walk()) == dict(Tree(expected, stored.__getitem__).walk())
            assert snapshot.id == expected.id == hash_object(TREE, snapshot.raw)
        root = expected
    assert len(loaded) == len(set(loaded))


def test_what_was_asked_for_stays_what_it_was(stored: dict[bytes, bytes]) -> None:
    root = Tree.read(list(stored)[-1], stored.__getitem__).root
    front = Front(root, stored.__getitem__)
    before = dict(Tree(root, stored.__getitem__).walk())
    front.replace(b"1/1/1", Node(REGULAR, b"\2" * 20))
    between = front.root()
    front.replace(b"1/1/2", Node(REGULAR, b"\3" * 20))
    assert dict(Tree(root, stored.__getitem__).walk()) == before
    assert dict(Tree(between, stored.__getitem__).walk()) == before | {b"1/1/1": Node(REGULAR, b"\2" * 20)}
    assert Tree(front.root(), stored.__getitem__).node(b"1/1/2") == Node(REGULAR, b"\3" * 20)
    assert front.root() is front.root()


@pytest.mark.parametrize("path", [b"1/1", b"1/1/", b"1/1/9", b"9/1/1", b"/1/1/1", b"1//1/1", b"/a", b"a/", b"a/b", b""])
def test_a_path_without_an_entry_is_nothing_and_is_not_edited(path: bytes, stored: dict[bytes, bytes]) -> None:
    root = Tree.read(list(stored)[-1], stored.__getitem__).root
    front = Front(root, stored.__getitem__)
    assert front.node(path) is None
    assert Tree(root, stored.__getitem__).node(path) is None
    assert front.replace(path, Node(REGULAR, b"\2" * 20)) is None
    assert front.id == root.id


def test_another_mode_or_the_same_entry_is_left_to_whoever_can_do_it(stored: dict[bytes, bytes]) -> None:
    root = Tree.read(list(stored)[-1], stored.__getitem__).root
    front = Front(root, stored.__getitem__)
    assert front.replace(b"run", Node(REGULAR, b"\2" * 20)) is None
    assert front.replace(b"run", Node(EXECUTABLE, b"\1" * 20)) is None
    assert front.replace(b"run", Node(EXECUTABLE, b"\2" * 20)) is not None
    assert front.node(b"run") == Node(EXECUTABLE, b"\2" * 20)

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from qodebase.trunk.drafts import Written
from qodebase.trunk.files import Files
from qodebase.trunk.folder import EMPTY_TREE
from qodebase.trunk.gathering import Gathered
from qodebase.trunk.grown import Grown
from qodebase.trunk.kept import Roots
from qodebase.trunk.notes import with_notes
from qodebase.trunk.objects import TREE, Objects, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.tree import Tree
from qodebase.trunk.wholes import Wholes

BATCHES = 14


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "r")], check=True)
    return tmp_path / "r/objects"


def noted(objects: Path, grown: Grown | None, *, dropped: frozenset[int] = frozenset()) -> list[Tree]:
    """Add 300 made-up notes in each of some packs, and return the trees; of a dropped pack nothing is kept."""
    chance = random.Random(3)
    trees = [Tree.read(EMPTY_TREE, lambda id: b"")]
    for number in range(BATCHES):
        pack = Gathered(wholes=Wholes(objects), roots=Roots(), grown=grown)
        add = pack.add if grown is None else pack.add_growing
        made = with_notes(trees[-1], {chance.randbytes(20): chance.randbytes(20) for _ in range(300)}, add)
        if number in dropped:
            continue
        pack.write(Files(durable=False), objects / "pack")
        pack.remember()
        trees.append(made)
    return trees[1:]


def entries(objects: Path) -> list[tuple[int, int]]:
    """Return size in the pack and depth of every tree, as C git sees them, in one joined pack."""
    git = ["git", "-C", str(objects.parent)]
    (index,) = (objects / "pack").glob("*.idx")
    said = subprocess.run([*git, "verify-pack", "-v", str(index)], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return [(int(row[3]), int(row[5]) if len(row) > 5 else 0) for row in rows if row[1:2] == ["tree"]]


def joined(objects: Path) -> list[tuple[int, int]]:
    names = "\n".join(path.name for path in (objects / "pack").glob("*.pack"))
    command = ["git", "-C", str(objects.parent), "pack-objects", "-q", "--stdin-packs", "--window=0"]
    subprocess.run([*command, str(objects / "pack/pack")], input=names.encode(), capture_output=True, check=True)
    for name in names.split():
        for end in (".pack", ".idx"):
            (objects / "pack" / name).with_suffix(end).unlink()
    return entries(objects)


def test_every_pack_holds_what_its_deltas_stand_on_and_git_reads_every_tree(objects: Path) -> None:
    trees = noted(objects, Grown())
    for index in (objects / "pack").glob("*.idx"):
        subprocess.run(["git", "verify-pack", str(index)], check=True)
    store = Objects(objects)
    for tree in trees:
        assert store.tree(tree.id) == tree.root.raw
        for child in tree.root.children.values():
            assert store.tree(child.id) == child.raw
    store.close()


def test_of_trees_that_grow_only_what_was_added_is_kept_once_packs_are_joined(tmp_path: Path, objects: Path) -> None:
    noted(objects, Grown())
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "whole")], check=True)
    noted(tmp_path / "whole/objects", None)
    grown, whole = joined(objects), joined(tmp_path / "whole/objects")
    assert len(grown) == len(whole)
    assert 2 * sum(size for size, _ in grown) < sum(size for size, _ in whole)
    assert 1 < max(depth for _, depth in grown) <= 8


def test_trees_of_a_pack_that_was_not_kept_are_no_base_of_later_ones(objects: Path) -> None:
    trees = noted(objects, Grown(), dropped=frozenset({4, 9}))
    store = Objects(objects)
    assert [store.tree(tree.id) for tree in trees] == [tree.root.raw for tree in trees]
    store.close()
    joined(objects)
    subprocess.run(["git", "-C", str(objects.parent), "fsck", "--strict", "--full"], check=True, capture_output=True)


def test_a_tree_that_comes_back_is_not_written_twice_into_one_pack(objects: Path) -> None:
    grown = Grown()
    contents = [b"\1" * 160 + bytes([number]) * 20 for number in (1, 2)]
    ids = [hash_object(TREE, content) for content in contents]
    counts = []
    for number in range(5):
        now, base = number % 2, (number + 1) % 2
        pack = PackWriter()
        grown.begin()
        grown.add(pack, Written(ids[now], contents[now], ids[base], [(160, 180, contents[now][160:])]))
        grown.remember()
        path = pack.write(Files(durable=False), objects / "pack")
        subprocess.run(["git", "verify-pack", str(path.with_suffix(".idx"))], check=True)
        counts.append(len(pack))
    assert counts == [1, 2, 1, 2, 1]

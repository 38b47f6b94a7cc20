from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from qodebase.trunk.files import Files
from qodebase.trunk.objects import BLOB, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.placing import let_go
from qodebase.trunk.repository import Folders, find_folders
from qodebase.trunk.tidying import Tidying, remove_unfinished

FILES = Files(durable=False)


def git(path: Path, *words: str, given: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(path), *words], input=given, capture_output=True, check=True).stdout


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A repository of which one pack holds a commit with 40 files."""
    path = tmp_path / "main.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "--template=", str(path))
    files = b"".join(b"M 100644 inline f%d\ndata 8\ncontent%d\n" % (number, number % 10) for number in range(10))
    files += b"".join(b"M 100644 inline g%d\ndata 9\ncontent%d\n" % (number, number) for number in range(10, 40))
    given = b"commit refs/heads/main\ncommitter P <p@example.org> 1700000000 +0000\ndata 1\n.\n" + files
    git(path, "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", given=given)
    return find_folders(path)


def add(folders: Folders, *contents: bytes, kept: bool = False) -> Path:
    """Write a pack of blobs."""
    writer = PackWriter()
    for content in contents:
        writer.add(BLOB, hash_object(BLOB, content), content)
    pack = writer.write(FILES, folders.packs)
    if not kept:
        let_go(FILES, pack)
    return pack


def packs(folders: Folders) -> set[Path]:
    return set(folders.packs.glob("*.pack"))


def begun(folders: Folders) -> Tidying:
    """Return a joining of which git's part is done."""
    tidying = Tidying(FILES, folders)
    assert tidying.start()
    assert tidying._process is not None
    assert tidying._process.wait() == 0
    return tidying


def objects_of(pack: Path) -> set[bytes]:
    lines = git(pack.parent, "show-index", given=pack.with_suffix(".idx").read_bytes()).splitlines()
    return {line.split()[1] for line in lines}


def sound(folders: Folders) -> None:
    git(folders.git, "fsck", "--strict", "--no-dangling")


def test_small_packs_become_one_that_holds_all_that_they_held(folders: Folders) -> None:
    (large,) = packs(folders)
    small = [add(folders, b"content1", b"own%d" % number) for number in range(3)]
    held = set().union(*map(objects_of, small))
    tidying = begun(folders)
    assert not tidying.start()
    assert tidying.finish()
    (made,) = packs(folders) - {large}
    assert objects_of(made) == held
    assert not (folders.objects / "qodebase-joining").exists()
    assert not any(pack.with_suffix(".idx").exists() for pack in small)
    assert not tidying.finish()
    assert not tidying.start()
    sound(folders)


@pytest.mark.parametrize(
    ("sizes", "left"),
    [((1, 2, 4), [1, 2, 4]), ((1, 1, 4), [2, 4]), ((1, 2, 3, 12), [6, 12]), ((1, 2, 3, 11), [17]), ((5,), [5])],
)
def test_each_pack_that_is_left_is_twice_as_large_as_all_smaller_ones(
    sizes: Sequence[int], left: list[int], folders: Folders
) -> None:
    for pack in packs(folders):
        pack.with_suffix(".keep").touch()
    for number, size in enumerate(sizes):
        add(folders, *(b"%d %d" % (number, at) for at in range(size)))
    tidying = Tidying(FILES, folders)
    if tidying.start():
        assert tidying._process is not None
        tidying._process.wait()
        assert tidying.finish()
    kept = {pack for pack in packs(folders) if pack.with_suffix(".keep").exists()}
    assert sorted(len(objects_of(pack)) for pack in packs(folders) - kept) == left


def test_what_is_kept_or_comes_meanwhile_stays_and_an_index_over_packs_goes(folders: Folders) -> None:
    kept = add(folders, b"kept", kept=True)
    small = [add(folders, b"own%d" % number) for number in range(3)]
    git(folders.git, "multi-pack-index", "write")
    tidying = begun(folders)
    late = add(folders, b"late")
    small[0].with_suffix(".keep").touch()
    assert tidying.finish()
    assert {kept, late, small[0]} <= packs(folders)
    assert not packs(folders).intersection(small[1:])
    assert not (folders.packs / "multi-pack-index").exists()
    sound(folders)


def test_a_repack_of_everything_beside_it_finds_what_it_counts_on(folders: Folders) -> None:
    shared = b"content12"
    held = add(folders, shared, b"own", kept=True)
    let_go(FILES, held)
    for number in range(3):
        add(folders, b"own%d" % number)
    tidying = begun(folders)
    held.with_suffix(".keep").touch()
    git(folders.git, "repack", "-adq")
    held.with_suffix(".keep").unlink()
    assert tidying.finish()
    assert git(folders.git, "cat-file", "blob", hash_object(BLOB, shared).hex()) == shared
    sound(folders)


def test_what_is_stopped_or_killed_leaves_nothing_and_loses_nothing(folders: Folders) -> None:
    for number in range(3):
        add(folders, b"own%d" % number)
    held = set().union(*map(objects_of, packs(folders)))
    tidying = Tidying(FILES, folders)
    assert tidying.start()
    tidying.stop()
    assert not (folders.objects / "qodebase-joining").exists()
    assert set().union(*map(objects_of, packs(folders))) == held
    add(folders, b"one")
    add(folders, b"more")
    begun(folders)
    remove_unfinished(folders)
    assert not (folders.objects / "qodebase-joining").exists()


@pytest.mark.parametrize("part", ["*.pack", "*.idx"])
def test_nothing_goes_where_the_joined_pack_is_not_there(part: str, folders: Folders) -> None:
    for number in range(3):
        add(folders, b"own%d" % number)
    before = packs(folders)
    tidying = begun(folders)
    (lost,) = (folders.objects / "qodebase-joining/pack").glob(part)
    lost.unlink()
    tidying.finish()
    assert packs(folders) >= before
    sound(folders)


def test_what_cannot_be_joined_stays_as_it_is(folders: Folders) -> None:
    packs_of = [add(folders, b"own%d" % number) for number in range(3)]
    packs_of[0].chmod(0o644)
    packs_of[0].write_bytes(b"damaged")
    before = packs(folders)
    tidying = Tidying(FILES, folders)
    assert tidying.start()
    tidying._process.wait()  # type: ignore[union-attr]
    assert not tidying.finish()
    assert packs(folders) == before

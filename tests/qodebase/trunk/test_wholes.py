from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from qodebase.trunk.files import Files
from qodebase.trunk.objects import BLOB, TREE, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.wholes import Wholes

TEXT = b"".join(b"line %d of a file\n" % number for number in range(300))
NOISE = random.Random(5).randbytes(40_000)


def packed(folder: Path, contents: list[bytes], *, kind: int = BLOB) -> list[bytes]:
    (folder / "pack").mkdir(parents=True, exist_ok=True)
    pack = PackWriter()
    ids = [hash_object(kind, content) for content in contents]
    for id, content in zip(ids, contents, strict=True):
        pack.add(kind, id, content)
    pack.write(Files(durable=False), folder / "pack")
    return ids


def test_what_a_pack_holds_whole_is_found_with_the_bytes_of_its_entry(tmp_path: Path) -> None:
    contents = [TEXT, NOISE, b"", b"short"]
    ids = packed(tmp_path, contents)
    wholes = Wholes(tmp_path)
    found = [wholes.find(id, BLOB) for id in ids]
    assert [whole and whole.content for whole in found] == contents
    (file,) = (tmp_path / "pack").glob("*.pack")
    assert file.read_bytes()[12:-20] == b"".join(whole.copied.entry for whole in found if whole)
    assert wholes.find(ids[0], TREE) is None
    assert wholes.find(b"\1" * 20, BLOB) is None
    wholes.close()


def test_a_copied_entry_is_an_object_of_the_new_pack_for_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "r")], check=True)
    (root,) = packed(tmp_path / "old", [TEXT])
    wholes = Wholes(tmp_path / "old")
    whole = wholes.find(root, BLOB)
    assert whole is not None
    wholes.close()
    pack = PackWriter()
    pack.add_copy(root, len(whole.content), whole.copied.entry, whole.copied.crc)
    new = TEXT[:500] + b"new\n" + TEXT[600:]
    pack.add(BLOB, hash_object(BLOB, new), new, root, [(500, 600, b"new\n")])
    path = pack.write(Files(durable=False), tmp_path / "r/objects/pack")
    subprocess.run(["git", "verify-pack", str(path.with_suffix(".idx"))], check=True)
    show = ["git", "-C", str(tmp_path / "r"), "cat-file", "blob"]
    assert subprocess.run([*show, hash_object(BLOB, new).hex()], capture_output=True, check=True).stdout == new
    assert subprocess.run([*show, root.hex()], capture_output=True, check=True).stdout == TEXT


def test_an_entry_is_taken_over_unread_where_kind_and_size_are_those_of_the_content(tmp_path: Path) -> None:
    contents = [TEXT, NOISE, b"", b"short"]
    ids = packed(tmp_path, contents)
    wholes = Wholes(tmp_path)
    for id, content in zip(ids, contents, strict=True):
        whole = wholes.find(id, BLOB)
        assert whole is not None
        assert wholes.copied(id, BLOB, len(content)) == whole.copied
        assert wholes.copied(id, TREE, len(content)) is None
    assert wholes.copied(b"\1" * 20, BLOB, 3) is None
    wholes.close()


def test_a_pack_that_is_removed_while_packs_are_listed_is_passed_over(tmp_path: Path) -> None:
    (id,) = packed(tmp_path, [TEXT])
    (tmp_path / "pack/pack-joined.pack").symlink_to("removed")
    wholes = Wholes(tmp_path)
    found = wholes.find(id, BLOB)
    assert found is not None
    assert found.content == TEXT
    wholes.close()


def test_a_delta_a_damaged_entry_and_a_pack_without_its_index_are_not_taken(tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    pack = PackWriter()
    ids = [hash_object(BLOB, content) for content in (TEXT, TEXT + b"more")]
    pack.add(BLOB, ids[0], TEXT)
    pack.add(BLOB, ids[1], TEXT + b"more", ids[0], [(len(TEXT), len(TEXT), b"more")])
    path = pack.write(Files(durable=False), folder)
    wholes = Wholes(tmp_path)
    assert wholes.find(ids[0], BLOB) is not None
    assert wholes.find(ids[1], BLOB) is None
    assert wholes.copied(ids[1], BLOB, len(TEXT) + 4) is None
    wholes.close()
    damaged = bytearray(path.read_bytes())
    damaged[40] ^= 1
    path.chmod(0o644)
    path.write_bytes(damaged)
    assert wholes.find(ids[0], BLOB) is None
    assert wholes.copied(ids[0], BLOB, len(TEXT)) is None
    wholes.close()
    path.with_suffix(".idx").unlink()
    assert wholes.find(ids[0], BLOB) is None
    wholes.close()


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 200_000])
def test_a_tree_of_any_size_is_stored_so_that_git_reads_it(size: int, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)
    names = sorted({b"f%06d" % number for number in range(size // 40)})
    raw = b"".join(b"100644 %s\0%s" % (name, b"\1" * 20) for name in names)
    (id,) = packed(tmp_path / "objects", [raw], kind=TREE)
    show = ["git", "-C", str(tmp_path), "cat-file", "tree", id.hex()]
    assert subprocess.run(show, capture_output=True, check=True).stdout == raw


def test_objects_of_an_alternate_are_found(tmp_path: Path) -> None:
    (id,) = packed(tmp_path / "other", [TEXT])
    (tmp_path / "objects/info").mkdir(parents=True)
    (tmp_path / "objects/info/alternates").write_text("../other\n")
    wholes = Wholes(tmp_path / "objects")
    assert wholes.find(id, BLOB) is not None
    wholes.close()

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

from qodebase.trunk.files import Files
from qodebase.trunk.objects import BLOB, hash_object
from qodebase.trunk.pack import PackWriter


def test_the_index_is_the_one_that_git_makes_of_the_pack(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "r")], check=True)
    chance = random.Random(1)
    pack = PackWriter()
    for content in [chance.randbytes(chance.randrange(3000)) for _ in range(700)]:
        pack.add(BLOB, hash_object(BLOB, content), content)
    path = pack.write(Files(durable=False), tmp_path)
    command = ["git", "-C", str(tmp_path / "r"), "index-pack", "-o", str(tmp_path / "theirs.idx"), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    assert path.with_suffix(".idx").read_bytes() == (tmp_path / "theirs.idx").read_bytes()


def test_an_empty_pack_has_an_empty_index(tmp_path: Path) -> None:
    path = PackWriter().write(Files(durable=False), tmp_path)
    index = path.with_suffix(".idx").read_bytes()
    assert index[: 8 + 1024] == b"\xfftOc\0\0\0\2" + bytes(1024)
    assert len(index) == 8 + 1024 + 40


def test_offsets_from_two_gigabytes_on_stand_in_a_table_of_their_own() -> None:
    pack = PackWriter()
    near, far, farther = b"\1" * 20, b"\2" * 20, b"\0" * 20
    pack.add_copy(near, 3, b"near", 11)
    pack._at = 0x80000000
    pack.add_copy(far, 3, b"far", 22)
    pack._at = 0x123456789A
    pack.add_copy(farther, 3, b"farther", 33)
    index = pack.index(bytes(20))
    names = 8 + 1024
    assert index[names : names + 60] == farther + near + far
    assert struct.unpack(">3L", index[names + 60 : names + 72]) == (33, 11, 22)
    assert struct.unpack(">3L", index[names + 72 : names + 84]) == (0x80000000, 12, 0x80000001)
    assert struct.unpack(">2Q", index[names + 84 : names + 100]) == (0x123456789A, 0x80000000)

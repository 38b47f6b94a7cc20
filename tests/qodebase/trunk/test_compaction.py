from __future__ import annotations

import resource
import subprocess
from pathlib import Path
from random import Random

import pytest

from qodebase.trunk.compaction import CompactionFailed, compact


def git(path: Path, *words: str, given: bytes = b"") -> None:
    subprocess.run(["git", "-C", str(path), *words], input=given, capture_output=True, check=True)


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """A repository of which no pack holds anything, that takes some 90,000 bytes."""
    path = tmp_path / "main.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "--template=", str(path))
    files = b"".join(
        b"M 100644 inline f%d\ndata 30000\n%s\n" % (number, Random(number).randbytes(30_000)) for number in range(3)
    )
    given = b"commit refs/heads/main\ncommitter P <p@example.org> 1700000000 +0000\ndata 1\n.\n" + files
    git(path, "fast-import", "--quiet", given=given)
    return path


def test_a_compaction_for_which_there_is_no_room_leaves_nothing_of_it(loose: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, limits[1]))
    try:
        with pytest.raises(CompactionFailed):
            compact(loose)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((loose / "objects/pack").iterdir()) == []
    compact(loose)
    git(loose, "fsck", "--strict")

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from fleet.attempts import Attempts
from qodebase.change import Change, Delete, Write
from qodebase.codec import PACK
from qodebase.paths import CommitId, RepoPath
from qodebase.segments import BadSegment, SegmentReader, SegmentWriter

CHANGE = Change(
    base=CommitId("0" * 40),
    operations=(Write(path=RepoPath(b"\xff"), content=b"\x00\xff", mode=0o100755), Delete(path=RepoPath(b"b"))),
    symbols=("a#b",),
)


def test_a_change_comes_back_in_this_sitting_and_in_the_next(tmp_path: Path) -> None:
    store, reader = SegmentWriter(tmp_path), SegmentReader(tmp_path)
    attempts = Attempts(store, reader)
    kept = attempts.keep(CHANGE)
    assert attempts.change(kept.ref, kept.digest) == CHANGE
    store.close()
    reader.close()
    store, reader = SegmentWriter(tmp_path), SegmentReader(tmp_path)
    attempts = Attempts(store, reader)
    assert attempts.change(kept.ref, kept.digest) == CHANGE
    again = attempts.keep(CHANGE)
    assert again.ref != kept.ref
    assert again.digest == kept.digest == hashlib.sha256(PACK.encode(CHANGE)).hexdigest()
    store.close()
    reader.close()


def test_a_change_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    store, reader = SegmentWriter(tmp_path), SegmentReader(tmp_path)
    attempts = Attempts(store, reader)
    kept = attempts.keep(CHANGE)
    with pytest.raises(BadSegment):
        attempts.change("9:0", kept.digest)
    with pytest.raises(BadSegment, match="are not the change"):
        attempts.change(kept.ref, "0" * 64)
    store.close()
    reader.close()

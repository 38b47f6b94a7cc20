from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from qodebase.private_files import make_private, private


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    """Let the process's umask take nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    with open(tmp_path / "one", "xb", opener=private):
        pass
    assert mode(tmp_path / "one") == 0o600


def test_a_new_folder_is_its_owners_alone_and_one_that_is_there_becomes_so(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b")
    (tmp_path / "open").mkdir(mode=0o777)
    make_private(tmp_path / "open")
    assert (mode(tmp_path / "a" / "b"), mode(tmp_path / "open")) == (0o700, 0o700)

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lanes.checking.sandbox import available
from lanes.checking.space import Space


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def grown_old(path: Path) -> Path:
    os.utime(path, (1, 1))
    return path


def test_what_a_killed_process_left_is_swept_up_by_the_next(folder: Path) -> None:
    lines = [
        "import os",
        "from lanes.checking.space import Space",
        "space = Space()",
        "os.kill(os.getpid(), 9)",
    ]
    code = "\n".join(lines)
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(folder)}, check=False)
    (left,) = folder.iterdir()
    grown_old(left)
    space = Space()
    assert list(folder.iterdir()) == [space.path]
    space.remove()
    assert list(folder.iterdir()) == []


def test_what_somebody_holds_or_has_just_made_and_what_is_no_folder_stays(folder: Path) -> None:
    held = Space()
    grown_old(held.path)
    young = folder / "qodebase-checker-young"
    young.mkdir()
    target = folder / "other"
    target.mkdir()
    (folder / "qodebase-checker-link").symlink_to(target)
    grown_old(target)
    Space().remove()
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["other", "qodebase-checker-link", young.name, held.path.name]
    )
    held.remove()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no /dev/shm")
def test_a_temporary_folder_that_the_sandbox_covers_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
    space = Space()
    assert not space.path.is_relative_to("/dev")
    space.remove()
    assert "No such file" not in available()

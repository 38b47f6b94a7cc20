from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from qodebase.scratch import ScratchFolder


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
        "from qodebase.scratch import ScratchFolder",
        "space = ScratchFolder('one')",
        "os.kill(os.getpid(), 9)",
    ]
    code = "\n".join(lines)
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(folder)}, check=False)
    (left,) = folder.iterdir()
    grown_old(left)
    space = ScratchFolder("two")
    assert list(folder.iterdir()) == [space.path]
    space.remove()
    assert list(folder.iterdir()) == []


def test_what_somebody_holds_or_has_just_made_and_what_is_no_folder_stays(folder: Path) -> None:
    held = ScratchFolder("held")
    grown_old(held.path)
    young = folder / "qodebase-held-one-young"
    young.mkdir()
    target = folder / "other"
    target.mkdir()
    (folder / "qodebase-held-one-link").symlink_to(target)
    grown_old(target)
    ScratchFolder("one").remove()
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["other", "qodebase-held-one-link", young.name, held.path.name]
    )
    held.remove()

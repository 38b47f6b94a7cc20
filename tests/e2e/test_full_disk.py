"""A disk that fills up stops a run with a message, and a resume goes on once there is room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from world import Shell, call, expect_clean, expect_each_once, ledger_of, make_small, of_kind

FILES = 24


@pytest.fixture
def disk(here: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    path = here / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", path], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield path
    subprocess.run(["umount", "--lazy", path], check=True)


def leave(disk: Path, free: int) -> Path:
    """Fill a file system up to so many bytes and return the file that fills it."""
    filler = disk / "filler"
    status = os.statvfs(disk)
    filler.write_bytes(bytes(max(0, status.f_bavail * status.f_frsize - free)))
    return filler


@pytest.mark.parametrize("free", [0, 24_000, pytest.param(8_000, marks=pytest.mark.full)])
def test_a_run_that_a_full_disk_stopped_says_so_and_goes_on_once_there_is_room(
    free: int, disk: Path, here: Path
) -> None:
    make_small(here / "code", FILES)
    run = disk / "one"
    words = ("--model", "scripted:latency=0.01", "-w", "4")
    assert call("run", "document", "--repo", "code", "-o", run, "--sample", "2", *words).code == 0
    filler = leave(disk, free)
    done = Shell(here)("resume", run, code=None)
    assert done.code not in (0, 1)
    assert "No space left on device" in done.err
    assert "resume" in done.err
    assert call("status", run, "--json").data["ledger"]["pending"] > 0
    filler.unlink()
    assert call("resume", run).code == 0
    assert ledger_of(run) == {"landed": FILES}
    expect_each_once(run)
    expect_clean(run)


def test_a_disk_that_is_full_before_the_run_begins_keeps_no_half_of_it(disk: Path, here: Path) -> None:
    make_small(here / "code", 3)
    leave(disk, 4096)
    done = call("run", "document", "--repo", "code", "-o", disk / "one")
    assert done.code == 2
    assert "No space left on device" in done.err
    assert not (disk / "one").exists()


def test_a_repository_that_cannot_be_tidied_is_a_note_and_the_run_has_ended(here: Path) -> None:
    make_small(here / "code", 3)
    assert call("run", "document", "--repo", "code", "-o", "one", "--sample", "1").code == 0
    (here / "one" / "repo.git" / "gc.pid.lock").touch()
    done = call("resume", "one", "--json")
    assert done.code == 0, done.err
    assert done.data["stopped"] == "ended"
    assert "was not tidied" in done.err
    assert len(of_kind(here / "one", "landed")) == 3

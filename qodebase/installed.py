"""What other packages that are installed add to this one: their entry points."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any


def added(group: str) -> EntryPoints:
    """Return the entry points of a group; they are read again when a folder of packages has changed."""
    found: EntryPoints = _read(tuple((folder, _changed(folder)) for folder in sys.path)).select(group=group)
    return found


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _read(folders: tuple[tuple[str, int], ...]) -> Any:
    # Of another type in Python 3.11 than since.
    return entry_points()

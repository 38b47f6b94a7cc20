"""What others add to this product: entry points of packages that are installed, and files of a user's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any

from qodebase.errors import QodebaseError

JOB_MODULE = "qodebase_job_"
"""How the modules of job files begin."""
_GROUPS = ("qodebase.jobs", "qodebase.models", "qodebase.rules")
_PACKAGES = ("qodebase", "fleet", "lanes", "replay_rules", "results")


class CannotImport(QodebaseError):
    """Somebody else's module that fails while it is imported."""


@contextmanager
def importing(what: str) -> Iterator[None]:
    """Tell what fails while a module of somebody else is imported, and in which line.

    Raises:
        CannotImport: it cannot be imported, compiled or carried out.
    """
    try:
        yield
    except QodebaseError:
        raise
    except Exception as error:
        where = _line_of(error)
        lacks = isinstance(error, ImportError)
        raise CannotImport(
            f"{what} cannot be imported: {type(error).__name__}: {error}{f' ({where})' if where else ''}",
            hint=f"qodebase runs with {sys.executable}: install there what it needs." if lacks else "",
        ) from error


def _line_of(error: Exception) -> str:
    """Return file and line in which a module failed; empty where none of it was carried out, or the error says it."""
    from itertools import dropwhile
    from traceback import extract_tb

    if isinstance(error, SyntaxError):
        return ""
    importer = "<frozen importlib"
    inside = dropwhile(lambda frame: not frame.filename.startswith(importer), extract_tb(error.__traceback__))
    lines = [f"{frame.filename}, line {frame.lineno}" for frame in inside if not frame.filename.startswith("<")]
    return lines[-1] if lines else ""


def somebodys_line(error: BaseException) -> str:
    """Return file and line of a job file, or an installed addition, that raised an error; empty where it is our own."""
    from pathlib import Path
    from traceback import extract_tb

    ours = [str(Path(__file__).parents[1] / name) + os.sep for name in _PACKAGES]
    also = _added_modules()
    theirs = {file for name, file in _files_of_modules() if name.startswith(JOB_MODULE) or name in also}
    found = ""
    for frame in extract_tb(error.__traceback__):
        if frame.filename in theirs:
            found = f"{frame.filename}, line {frame.lineno}"
        elif any(map(frame.filename.startswith, ours)):
            found = ""
    return found


def _files_of_modules() -> Iterator[tuple[str, str]]:
    for name, module in list(sys.modules.items()):
        if file := getattr(module, "__file__", None):
            yield name, file


def _added_modules() -> frozenset[str]:
    points = [point for group in _GROUPS for point in added(group)]
    return frozenset(point.value.partition(":")[0] for point in points)


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

"""Where a bench works."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.scratch import ScratchFolder


class NoSpace(QodebaseError):
    """A folder that a bench cannot work in."""


@contextmanager
def space_in(folder: Path | None) -> Iterator[Path]:
    """Give a bench a folder of its own, in the user's or among the temporary ones, and remove what was made.

    Raises:
        NoSpace: nothing can be made there.
    """
    made: list[Path] = []
    try:
        if folder is not None:
            made = [path for path in (folder, *folder.parents) if not path.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        own = ScratchFolder("bench", within=folder)
    except OSError as error:
        raise NoSpace(f"{folder or tempfile.gettempdir()}: {error.strerror}", hint="Give --folder PATH.") from None
    try:
        with own as space:
            yield space
    finally:
        for path in made:
            with suppress(OSError):  # Somebody put something into it.
                path.rmdir()

"""Temporary folders that do not stay where their process was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType

_PREFIX = "qodebase-held-"
_FRESH_S = 60.0
"""A folder so young may not be locked yet."""


class ScratchFolder:
    """A temporary folder that is locked as long as its process lives; a new one sweeps up those that nobody holds.

    Args:
        purpose: a word for its name.
        within: where it is made; None: among the temporary folders.
    """

    def __init__(self, purpose: str, within: str | Path | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix=f"{_PREFIX}{purpose}-", dir=within, ignore_cleanup_errors=True
        )
        self.path = Path(self._folder.name).resolve()
        self._held = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for other in self.path.parent.glob(f"{_PREFIX}*"):
            if other != self.path:
                _sweep(other)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with all that is in it; once."""
        self._folder.cleanup()
        os.close(self._held)


def _sweep(folder: Path) -> None:
    """Remove a folder of this user that no living process holds."""
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        facts = os.fstat(held)
        if facts.st_uid == os.geteuid() and time.time() - facts.st_mtime > _FRESH_S:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(held)

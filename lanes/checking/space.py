"""The folder that a checker works in, and what checkers that were killed left of theirs."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

_PREFIX = "qodebase-checker-"
_FRESH_S = 60.0
"""A folder so young may not be locked yet."""
_COVERED = ("/dev/", "/proc/")
"""Where checks see other file systems than those who start them: ``TMPDIR=/dev/shm`` is not followed."""


def temporary() -> str:
    """Return a folder for temporary files that a sandbox can see into."""
    chosen = os.path.realpath(tempfile.gettempdir()) + "/"
    others = (path for path in ("/tmp", "/var/tmp") if os.access(path, os.W_OK | os.X_OK))
    return next(others, chosen) if chosen.startswith(_COVERED) else chosen


class Space:
    """A temporary folder that is locked as long as its process lives; a new one sweeps up those that nobody holds."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=temporary(), ignore_cleanup_errors=True)
        self.path = Path(self._folder.name).resolve()
        self._held = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for other in self.path.parent.glob(f"{_PREFIX}*"):
            if other != self.path:
                _sweep(other)

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

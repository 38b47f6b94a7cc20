"""Files and folders that only their owner can read, whatever the process's umask says."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def private(path: str, flags: int) -> int:
    """Open a file that nobody else can read: an ``opener`` for `open`."""
    return os.open(path, flags, 0o600)


def make_private(folder: Path) -> None:
    """Make a folder of mode 0700, or take an existing one from others; parents get the modes that are usual here."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(0o700)

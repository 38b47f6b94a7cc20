"""Where checks are run."""

from __future__ import annotations

import os
import tempfile

from qodebase.scratch import ScratchFolder

_COVERED = ("/dev/", "/proc/")
"""Where checks see other file systems than those who start them: ``TMPDIR=/dev/shm`` is not followed."""


def space_for_checks() -> ScratchFolder:
    """Make a temporary folder that a sandbox can see into, and that the user that checks run as can read.

    The sandbox shows it also where folders above are private.
    """
    space = ScratchFolder("checks", within=_temporary())
    space.path.chmod(0o755)
    return space


def _temporary() -> str:
    chosen = os.path.realpath(tempfile.gettempdir()) + "/"
    others = (path for path in ("/tmp", "/var/tmp") if os.access(path, os.W_OK | os.X_OK))
    return next(others, chosen) if chosen.startswith(_COVERED) else chosen

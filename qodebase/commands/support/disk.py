"""A disk that is full or gone, and what else a machine refuses, told as failures that a person can act on."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qodebase.errors import QodebaseError

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


_ODD_PATH = (errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)
_REFUSED = (*_DISK, *_ODD_PATH, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE)


class MachineRefused(QodebaseError):
    """What the machine did not let a command do."""


class DiskFailed(QodebaseError):
    """A disk that a sitting could not go on with."""

    exit_code = 3


@contextmanager
def disk_of(run: Path) -> Iterator[None]:
    """Turn a failure of the disk within into one with a hint; any other `OSError` stays what it is.

    Raises:
        DiskFailed: the disk is full, gone or read-only.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK:
            raise
        again = f"qodebase resume {shlex.quote(str(run))}"
        raise DiskFailed(
            f"the run cannot be written: {error.strerror}",
            hint=f"Make room on the disk, then `{again}`: nothing that was journalled is lost.",
        ) from None


def refusal_of(error: OSError) -> MachineRefused | None:
    """Return an error of the system as one that a person can act on; None: it says that something else is wrong."""
    if isinstance(error, FileNotFoundError) and error.filename in ("git", b"git"):
        return MachineRefused("git is not here", hint="Install git, or add its folder to PATH.")
    if error.errno not in _REFUSED:
        return None
    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    hint = f"See what is there, and whose it is: `ls -ld {shlex.quote(where)}`." if os.path.lexists(where) else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "Make room there, then run the command again."
    return MachineRefused(f"{where or 'a file cannot be written'}: {error.strerror}", hint=hint)

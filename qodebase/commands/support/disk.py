"""A disk that is full or gone, told as a failure that a person can act on."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qodebase.errors import QodebaseError

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


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
        raise DiskFailed(
            f"the run cannot be written: {error.strerror}",
            hint=f"Make room on the disk, then `qodebase resume {run}`: nothing that was journalled is lost.",
        ) from None

"""One trunk for each repository: a lock file that the kernel frees when its holder dies."""

from __future__ import annotations

import fcntl
import os
import socket
import weakref
from pathlib import Path

import msgspec

from qodebase.errors import QodebaseError


class TrunkHeld(QodebaseError):
    """A repository that another trunk is landing on."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a repository."""

    pid: int
    host: str
    run: str
    branch: str


class TrunkLock:
    """Hold a repository until `release`, or until the process ends in any way.

    Raises:
        TrunkHeld: another trunk holds it; the message names its process and run.
    """

    def __init__(self, path: Path, *, run: str, branch: str) -> None:
        self._path = path
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = self._named(os.pread(self._descriptor, 65536, 0))
            os.close(self._descriptor)
            raise TrunkHeld(f"{path.parent.parent} is landed on by {who}", hint="Wait for it, or stop it.") from None
        holder = Holder(pid=os.getpid(), host=socket.gethostname(), run=run, branch=branch)
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, msgspec.json.encode(holder) + b"\n", 0)
        except OSError:
            os.close(self._descriptor)
            raise
        _held.add(self)

    @staticmethod
    def _named(text: bytes) -> str:
        try:
            holder = msgspec.json.decode(text, type=Holder)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return "another process"
        return f"process {holder.pid} on {holder.host}, run {holder.run}, branch {holder.branch}"

    def release(self) -> None:
        """Let others land; the file stays, for removing it would free a name that another may just have opened."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def forget(self) -> None:
        """Close the file without ending the lock of the process that it was copied from."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_held: weakref.WeakSet[TrunkLock] = weakref.WeakSet()


def _forget_all() -> None:
    # A forked child shares the lock with its parent and would keep it alive after the parent's death.
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_forget_all)

"""The view of the file system that checks have: read-only, without homes, sockets and other people's files."""

from __future__ import annotations

import os
from collections.abc import Iterable

from lanes.checking.inside import kernel

SCRATCH = "/tmp/check"
"""The one folder that a check may write: its home and its folder for temporary files, in memory."""


def build(hide: list[str], keep: list[str], bytecode: str) -> None:
    """Leave the system's mounts for a copy in which nothing can be written and some folders are empty.

    Args:
        hide: folders that look empty.
        keep: folders that stay visible inside of those.
        bytecode: a folder that can be written until `enter`; empty: none.

    Raises:
        OSError: the kernel does not let this process do it.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        kernel.unshare(kernel.NEW_MOUNTS)
    else:
        kernel.unshare(kernel.NEW_USERS | kernel.NEW_MOUNTS)
        kernel.map_user(user, group)
    kernel.make_private()
    hidden = _outermost(path for path in map(os.path.realpath, [*hide, "/tmp", "/run"]) if os.path.isdir(path))
    inside = [path for path in map(os.path.realpath, keep) if _below(path, hidden) and os.path.isdir(path)]
    kept = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in _outermost(inside)}
    for path in hidden:
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "mode=755,size=1m")
    for path, opened in kept.items():
        os.makedirs(path, mode=0o755, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{opened}", path, flags=kernel.BIND | kernel.RECURSIVE)
        os.close(opened)
    os.makedirs(SCRATCH, mode=0o755, exist_ok=True)
    kernel.make_read_only("/")
    if bytecode:
        kernel.make_writable(bytecode)


def enter(user: int, scratch_bytes: int, bytecode: str) -> None:
    """As the first process of new namespaces: see only their processes, and have a scratch folder for this user."""
    if bytecode:
        kernel.make_read_only(bytecode)
    quiet = kernel.NO_SUID | kernel.NO_DEVICES
    kernel.mount("proc", "/proc", "proc", quiet | kernel.NO_EXEC)
    kernel.mount("tmpfs", SCRATCH, "tmpfs", quiet, f"mode=700,uid={user},gid={user},size={scratch_bytes}")
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", quiet | kernel.NO_EXEC, f"mode=1777,size={scratch_bytes}")
    kernel.raise_loopback()


def _outermost(paths: Iterable[str]) -> list[str]:
    found: list[str] = []
    for path in sorted(set(paths), key=len):
        if path != "/" and not _below(path, found):
            found.append(path)
    return found


def _below(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)

"""The few Linux system calls that Python lacks."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

NEW_MOUNTS = 0x00020000
NEW_NAMES = 0x04000000
NEW_IPC = 0x08000000
NEW_USERS = 0x10000000
NEW_PIDS = 0x20000000
NEW_NET = 0x40000000

NO_SUID, NO_DEVICES, NO_EXEC = 2, 4, 8
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000

_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_READ_ONLY, _NO_SUID = 1, 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_CAPABILITY_VERSION_3 = 0x20080522
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "users")]


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave some of the namespaces of this process for new ones."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount something; see mount(2)."""
    words = [os.fsencode(word) if word else None for word in (source, target, kind)]
    data = options.encode() if options else None
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), data), f"mount {kind or source} on {target}")


def make_private() -> None:
    """Let no mount of this namespace reach another one."""
    mount("", "/", flags=RECURSIVE | PRIVATE)


def make_read_only(path: str) -> None:
    """Make a mount and all below it read-only, and programs there run without the rights of their owners."""
    _set_mount(path, _MountAttributes(_READ_ONLY | _NO_SUID, 0, 0, 0))


def make_writable(path: str) -> None:
    """Make a folder a mount of its own that can be written."""
    mount(path, path, flags=BIND)
    _set_mount(path, _MountAttributes(0, _READ_ONLY, 0, 0))


def _set_mount(path: str, attributes: _MountAttributes) -> None:
    size = ctypes.sizeof(attributes)
    result = _libc.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), _AT_RECURSIVE, ctypes.byref(attributes), ctypes.c_size_t(size)
    )
    _checked(result, f"mount_setattr {path}")


def map_user(user: int, group: int) -> None:
    """In a new user namespace: be the same user and group as outside, which cannot be asked any more."""
    maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
    for name, text in maps.items():
        with open(f"/proc/self/{name}", "w") as out:
            out.write(text)


def raise_loopback() -> None:
    """Let processes of a new network namespace reach each other at 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def die_with_parent() -> None:
    """Be killed when the parent ends."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")


def set_dumpable(on: bool) -> None:
    """Say whether processes of the same user may look into this one."""
    _checked(_libc.prctl(_PR_SET_DUMPABLE, int(on), 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _checked(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def forbid_new_privileges() -> None:
    """Let no program that this process starts have more rights than it."""
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def drop_capabilities() -> None:
    """Give up every capability of this process."""
    header = struct.pack("=II", _CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, bytes(24)), "capset")


def become(user: int | None) -> None:
    """Be another user without groups (None: stay the same) and without any privilege, for good."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    drop_capabilities()
    forbid_new_privileges()
    set_dumpable(True)

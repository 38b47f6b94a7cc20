"""The clean three-way merge, as git makes it.

The merge is libgit2's ``git_merge_file`` (git's own xdiff), called in the library that the pygit2 wheel carries: the
same status and bytes as ``git merge-file`` at a fraction of a process. A clean merge can still be wrong, so the ladder
asks `replay_rules.invariants` before it believes one.
"""

from __future__ import annotations

import ctypes
import glob
import os
from functools import cache

from qodebase.change import SYMLINK
from qodebase.collision import Collision, Declined, Resolved
from replay_rules.file_mode import merged_mode

_BINARY_LOOK = 8000
_FAVOR_THEIRS = 2


def merge(collision: Collision) -> Resolved | Declined:
    """Merge a path that both sides changed; modes merge on their own.

    Binaries are never merged as text (a NUL in the first 8,000 bytes, as git decides it).
    """
    base, main, change = collision.base, collision.main, collision.change
    if main.content is None and change.content is None:
        return Declined(why="both sides deleted the file: author")
    if main.content is None or change.content is None:
        return Declined(why="deleted on one side, edited on the other: author")
    mode = merged_mode(collision)
    if isinstance(mode, Declined):
        return mode
    if base.content is None:
        if main.content == change.content and collision.idempotent:
            return Resolved(content=main.content, mode=mode)
        return Declined(why="both sides added the file")
    if change.content == base.content:
        return Resolved(content=main.content, mode=mode)
    if main.content == base.content or (main.content == change.content and collision.idempotent):
        return Resolved(content=change.content, mode=mode)
    if mode == SYMLINK:
        return Declined(why="both sides changed where a link leads: author")
    if any(b"\0" in side[:_BINARY_LOOK] for side in (base.content, main.content, change.content)):
        return Declined(why="binary: author")
    merged = merge_file(base.content, main.content, change.content)
    if merged is None:
        return Declined(why="both sides changed the same lines")
    return Resolved(content=merged, mode=mode)


def merge_file(base: bytes, ours: bytes, theirs: bytes, *, theirs_wins: bool = False) -> bytes | None:
    """Return what ``git merge-file`` gives, or None where it conflicts.

    With ``theirs_wins`` it is what ``--theirs`` gives: of lines that both sides changed, those of ``theirs``.
    """
    library = _library()
    inputs = [_Input(1, side, len(side), None, 0) for side in (base, ours, theirs)]
    options = ctypes.byref(_Options(1, None, None, None, _FAVOR_THEIRS, 0, 0)) if theirs_wins else None
    result = _Result()
    status = library.git_merge_file(ctypes.byref(result), *(ctypes.byref(one) for one in inputs), options)
    if status != 0:
        raise RuntimeError(f"git_merge_file failed with status {status}")
    try:
        return ctypes.string_at(result.ptr, result.len) if result.automergeable else None
    finally:
        library.git_merge_file_result_free(ctypes.byref(result))


class _Input(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint),
        ("ptr", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("mode", ctypes.c_uint),
    )


class _Options(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint),
        ("ancestor_label", ctypes.c_char_p),
        ("our_label", ctypes.c_char_p),
        ("their_label", ctypes.c_char_p),
        ("favor", ctypes.c_int),
        ("flags", ctypes.c_uint32),
        ("marker_size", ctypes.c_ushort),
    )


class _Result(ctypes.Structure):
    _fields_ = (
        ("automergeable", ctypes.c_uint),
        ("path", ctypes.c_char_p),
        ("mode", ctypes.c_uint),
        ("ptr", ctypes.c_void_p),
        ("len", ctypes.c_size_t),
    )


@cache
def _library() -> ctypes.CDLL:
    import pygit2

    beside = os.path.join(os.path.dirname(os.path.dirname(pygit2.__file__)), "pygit2.libs")
    inside = os.path.join(os.path.dirname(pygit2.__file__), ".dylibs")
    found = [
        *glob.glob(os.path.join(beside, "libgit2*")),
        *glob.glob(os.path.join(inside, "libgit2*")),
    ]
    if not found:
        raise RuntimeError("the pygit2 wheel carries no libgit2: install pygit2 from its wheel")
    library = ctypes.CDLL(found[0])
    library.git_merge_file_result_free.restype = None
    library.git_libgit2_init()
    return library

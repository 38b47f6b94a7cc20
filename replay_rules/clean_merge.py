"""The clean three-way merge, as git makes it, kept only where a second, different diff agrees.

The merge is libgit2's ``git_merge_file`` (git's own xdiff), called in the library that the pygit2 wheel carries: the
same status and bytes as ``git merge-file`` at a fraction of a process. A clean merge can still be wrong: a hunk put
at a like-looking place, or two intents' equal hunks counted once. So the hunks are found again with a different
algorithm (Ratcliff and Obershelp's, `difflib`); where they touch, are alike, or give other bytes, the merge is doubtful
and the next step of the ladder has its turn.
"""

from __future__ import annotations

import ctypes
import glob
import itertools
import os
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Resolved

_BINARY_LOOK = 8000


def merge(collision: Collision) -> Resolved | Declined:
    """Merge a path that both sides changed; modes merge on their own.

    Binaries are never merged as text (a NUL in the first 8,000 bytes, as git decides it).
    """
    base, main, change = collision.base, collision.main, collision.change
    if main.content is None or change.content is None:
        return Declined(why="deleted on one side, edited on the other")
    mode = _merged_mode(collision)
    if mode is None:
        return Declined(why="both sides changed the file mode")
    if main.content == change.content and (base.content == main.content or collision.idempotent):
        return Resolved(content=main.content, mode=mode)
    if base.content is None:
        return Declined(why="both sides added the file")
    if change.content == base.content:
        return Resolved(content=main.content, mode=mode)
    if main.content == base.content:
        return Resolved(content=change.content, mode=mode)
    if any(b"\0" in side[:_BINARY_LOOK] for side in (base.content, main.content, change.content)):
        return Declined(why="binary")
    merged = merge_file(base.content, main.content, change.content)
    if merged is None:
        return Declined(why="both sides changed the same lines")
    doubt = _doubt(base.content, main.content, change.content, merged, idempotent=collision.idempotent)
    return Declined(why=doubt) if doubt else Resolved(content=merged, mode=mode)


def merge_file(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return what ``git merge-file`` gives, or None where it conflicts."""
    library = _library()
    inputs = [_Input(1, side, len(side), None, 0) for side in (base, ours, theirs)]
    result = _Result()
    status = library.git_merge_file(ctypes.byref(result), *(ctypes.byref(one) for one in inputs), None)
    if status != 0:
        raise RuntimeError(f"git_merge_file failed with status {status}")
    try:
        return ctypes.string_at(result.ptr, result.len) if result.automergeable else None
    finally:
        library.git_merge_file_result_free(ctypes.byref(result))


def _merged_mode(collision: Collision) -> int | None:
    base, main, change = (side.mode for side in (collision.base, collision.main, collision.change))
    if main == change or change == base:
        return main
    return change if main == base else None


def _doubt(base: bytes, ours: bytes, theirs: bytes, merged: bytes, *, idempotent: bool) -> str:
    """Return why a clean merge is not believed, or the empty text."""
    lines = base.splitlines(keepends=True)
    left, right = _hunks(lines, ours), _hunks(lines, theirs)
    if not idempotent and any(hunk in right for hunk in left):
        return "both sides made the same hunk, which may be meant twice"
    if idempotent:
        right = [hunk for hunk in right if hunk not in left]
    hunks = sorted([*left, *right], key=lambda hunk: (hunk.start, hunk.end))
    for before, after in itertools.pairwise(hunks):
        if after.start < before.end or (after.start == before.start and before.end == after.end):
            return "a second diff finds the two sides at the same lines"
    at = 0
    out: list[bytes] = []
    for hunk in hunks:
        out += lines[at : hunk.start]
        out += hunk.lines
        at = hunk.end
    out += lines[at:]
    return "" if b"".join(out) == merged else "a second diff places the hunks elsewhere"


class _Hunk(NamedTuple):
    start: int
    end: int
    lines: tuple[bytes, ...]


def _hunks(base: list[bytes], side: bytes) -> list[_Hunk]:
    lines = side.splitlines(keepends=True)
    matcher = SequenceMatcher(None, base, lines, autojunk=False)
    return [
        _Hunk(start, end, tuple(lines[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]


class _Input(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint),
        ("ptr", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("mode", ctypes.c_uint),
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

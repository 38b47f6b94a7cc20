"""Which paths may stand in a tree: git's own rules, and no ``.git`` in any spelling.

The spellings are those that ``git fsck`` looks for: Windows drops trailing dots and spaces, knows streams
(``.git::$INDEX_ALLOCATION``) and short names (``git~1``) and takes a backslash for a slash; HFS+ ignores case and some
invisible characters.
"""

from __future__ import annotations

import re

from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK

MODES = frozenset({REGULAR, EXECUTABLE, SYMLINK, SUBMODULE})

_INVISIBLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_WINDOWS = re.compile(rb"(?:\.git|git~1)[ .]*(?::.*)?", re.IGNORECASE | re.DOTALL)
_MODULES_ON_WINDOWS = re.compile(
    rb"(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9]|gi7eb~[1-9][0-9]|gi7e~[1-9][0-9]{2})[ .]*(?::.*)?",
    re.IGNORECASE | re.DOTALL,
)
_MAYBE = re.compile(rb"\.\.?(?:/|$)|git|/[./]|\x00|\\|[^\x00-\x7f]", re.IGNORECASE)


def fault_of_path(path: bytes) -> str | None:
    """Return why ``path`` may not stand in a tree, or None when it may."""
    if not path:
        return "it is empty"
    if path[0] == 47 or path[-1] == 47:
        return "it begins or ends with a slash"
    if not _MAYBE.search(path):
        return None
    if b"\0" in path:
        return "it holds a NUL"
    for part in path.split(b"/"):
        if not part:
            return "it has an empty part"
        if part in (b".", b".."):
            return f"it has the part {part.decode()}"
        if _names(part, _WINDOWS, ".git"):
            return "it names git's own folder"
    return None


def fault_of_edit(path: bytes, mode: int) -> str | None:
    """Return why a path may not have this mode, or None when it may."""
    if mode not in MODES:
        return f"{mode:o} is no mode that git writes"
    if mode == SYMLINK and _names(path.rsplit(b"/", 1)[-1], _MODULES_ON_WINDOWS, ".gitmodules"):
        return "a symbolic link may not be called .gitmodules"
    return None


def _names(part: bytes, on_windows: re.Pattern[bytes], name: str) -> bool:
    """Return whether a part of a path is a name on some file system."""
    if any(on_windows.fullmatch(piece) for piece in part.split(b"\\")):
        return True
    if part.isascii():
        return False
    return _INVISIBLE.sub("", part.decode(errors="replace")).lower() == name

"""Where a repository borrows objects from (gitrepository-layout(5), "objects/info/alternates")."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

_DEEPEST = 5
"""As far as git follows alternates of alternates."""


def object_folders(objects: Path) -> list[Path]:
    """Return a repository's folder of objects and those that it borrows from, each once, however they lead around."""
    found = {os.path.realpath(objects): objects}
    waiting = [(objects, 0)]
    for folder, depth in waiting:
        for borrowed in _named(folder) if depth <= _DEEPEST else ():
            real = os.path.realpath(borrowed)
            if real not in found and os.path.isdir(real):
                found[real] = borrowed
                waiting.append((borrowed, depth + 1))
    return list(found.values())


def _named(objects: Path) -> list[Path]:
    try:
        lines = (objects / "info" / "alternates").read_bytes().split(b"\n")
    except OSError:
        return []
    return [objects / os.fsdecode(_unquoted(line)) for line in lines if line and not line.startswith(b"#")]


def _unquoted(line: bytes) -> bytes:
    if len(line) < 2 or line[:1] != b'"' or line[-1:] != b'"':
        return line
    try:
        return codecs.escape_decode(line[1:-1])[0]
    except ValueError:
        return line

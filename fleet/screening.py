"""What no job may let through: edits outside the scope, paths that git or a file system could be tricked by."""

from __future__ import annotations

from collections.abc import Iterable

from qodebase.change import Change, Patch, Rename, SetMode, Symlink, Write
from qodebase.edits import BadChange, materialise
from qodebase.intent import Intent
from qodebase.paths import RepoPath
from qodebase.ports import Tree
from qodebase.trunk.naming import fault_of_path

MAX_BYTES = 16 << 20
"""The most that one change may write, in bytes."""


def screen(intent: Intent, change: Change, fork: Tree, shared: Iterable[RepoPath]) -> str:
    """Return why a change is refused, or the empty text."""
    allowed = {*intent.scope, *shared}
    for path in change.paths:
        fault = fault_of_path(path)
        if fault:
            return f"unsafe path {path.text}: {fault}"
        if path not in allowed:
            return f"outside its scope: {path.text}"
    if _written(change) > MAX_BYTES:
        return f"writes more than {MAX_BYTES} bytes"
    if any(isinstance(operation, Symlink) for operation in change.operations):
        return "makes a symbolic link"
    try:
        materialise(change, fork)
    except BadChange as error:
        return str(error)
    return ""


def _written(change: Change) -> int:
    total = 0
    for operation in change.operations:
        match operation:
            case Write(content=content):
                total += len(content)
            case Patch(hunks=hunks):
                total += sum(len(hunk.text) for hunk in hunks)
            case Rename() | SetMode() | _:
                pass
    return total

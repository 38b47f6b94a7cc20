"""What no job may let through: edits outside the scope, paths that git or a file system could be tricked by."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Set

from qodebase.change import EXECUTABLE, REGULAR, SYMLINK, Change, Patch, Rename, SetMode, Write
from qodebase.edits import BadChange, Edit, materialise
from qodebase.intent import Intent
from qodebase.paths import RepoPath
from qodebase.ports import Tree
from qodebase.trunk.naming import fault_of_path

MAX_BYTES = 16 << 20
"""The most that one change may write, in bytes."""


def screen(intent: Intent, change: Change, fork: Tree, shared: Iterable[RepoPath]) -> str:
    """Return why a change is refused, or the empty text.

    Only a change that was made before the run may bring symbolic links, and only such as stay in the repository.
    """
    shared = frozenset(shared)
    allowed = {*intent.scope, *shared}
    for path in change.paths:
        fault = fault_of_path(path)
        if fault:
            return f"unsafe path {path.text}: {fault}"
        if path not in allowed:
            return f"outside its scope: {path.text}"
    if _written(change) > MAX_BYTES:
        return f"writes more than {MAX_BYTES} bytes"
    fault = _fault_of_modes(change) or _fault_of_shared(change, shared)
    if fault:
        return fault
    try:
        edits = materialise(change, fork)
    except BadChange as error:
        return str(error)
    links = {path: edit.content for path, edit in edits.items() if edit is not None and edit.mode == SYMLINK}
    if intent.given is None or change.base != intent.given.base:
        fault = "makes a symbolic link, or writes one that is there" if links else ""
    else:
        fault = next((f"{path.text} links out of the repository" for path in links if _leaves(path, links[path])), "")
    return fault or _fault_of_folders(edits, fork)


def _leaves(path: RepoPath, target: bytes) -> bool:
    """Return whether a symbolic link leads out of the repository, or into git's own folder."""
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    first = whole.partition(b"/")[0]
    return whole.startswith(b"/") or first == b".." or first.lower() == b".git"


def _fault_of_modes(change: Change) -> str:
    for operation in change.operations:
        if isinstance(operation, Write | SetMode) and operation.mode not in (None, REGULAR, EXECUTABLE, SYMLINK):
            return f"gives {operation.path.text} the mode {operation.mode:o}"
    return ""


def _fault_of_shared(change: Change, shared: Set[RepoPath]) -> str:
    """Say what no rule could redo: a shared path is written, once."""
    written: set[RepoPath] = set()
    for operation in change.operations:
        if isinstance(operation, Rename) and operation.target in shared:
            return f"moves a file to the shared path {operation.target.text}"
        if operation.path not in shared:
            continue
        if not isinstance(operation, Write | Patch):
            return f"does more to the shared path {operation.path.text} than write it"
        if operation.path in written:
            return f"writes the shared path {operation.path.text} twice"
        written.add(operation.path)
    return ""


def _fault_of_folders(edits: Mapping[RepoPath, Edit | None], fork: Tree) -> str:
    """Say which new file needs a folder where the change or its base has a file."""
    for path, edit in edits.items():
        if edit is None or fork.entry(path) is not None:
            continue
        folder = path.rpartition(b"/")[0]
        while folder:
            above = RepoPath(folder)
            if edits[above] is not None if above in edits else fork.entry(above) is not None:
                return f"needs a folder where a file stands: {above.text}"
            folder = folder.rpartition(b"/")[0]
    return ""


def _written(change: Change) -> int:
    total = 0
    for operation in change.operations:
        match operation:
            case Write(content=content):
                total += len(content)
            case Patch(hunks=hunks):
                total += sum(len(hunk.text) for hunk in hunks)
            case _:
                pass
    return total

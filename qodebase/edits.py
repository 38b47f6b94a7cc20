"""What a change does to paths, as whole contents: operations laid on the tree that they were made on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from qodebase.change import (
    EXECUTABLE,
    REGULAR,
    SYMLINK,
    BadPatch,
    Change,
    Delete,
    Patch,
    Rename,
    SetMode,
    Symlink,
    Write,
    patched,
)
from qodebase.collision import Entry
from qodebase.paths import RepoPath
from qodebase.ports import Tree


class BadChange(ValueError):
    """Operations that do not fit the tree that they were made on."""


class Edit(NamedTuple):
    """The new mode and content of a path."""

    mode: int
    content: bytes

    @property
    def entry(self) -> Entry:
        """Return what a tree will hold for it."""
        return Entry(self.mode, blob_id(self.content))


def blob_id(content: bytes) -> str:
    """Return git's id of a blob, 40 hex digits."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def materialise(
    change: Change, tree: Tree, wanted: Callable[[RepoPath], bool] = lambda path: True
) -> dict[RepoPath, Edit | None]:
    """Lay a change on ``tree``: path to its new content, or None where it is deleted.

    Args:
        change: operations, applied in order.
        tree: the code at the change's base.
        wanted: operations on other paths are passed over.

    Raises:
        BadChange: an operation needs a file that is not there, or its hunks do not fit.
    """
    edits: dict[RepoPath, Edit | None] = {}

    def current(path: RepoPath) -> Edit | None:
        if path in edits:
            return edits[path]
        entry = tree.entry(path)
        if entry is None or entry.mode not in (REGULAR, EXECUTABLE, SYMLINK):
            return None
        return Edit(entry.mode, tree.read(path))

    def existing(path: RepoPath) -> Edit:
        found = current(path)
        if found is None:
            raise BadChange(f"{path.text} is no file at the change's base")
        return found

    for operation in change.operations:
        path = operation.path
        if not wanted(path):
            continue
        match operation:
            case Write(content=content, mode=mode):
                before = current(path)
                edits[path] = Edit(mode or (before.mode if before else REGULAR), content)
            case Patch(hunks=hunks):
                before = existing(path)
                try:
                    edits[path] = Edit(before.mode, patched(before.content, hunks))
                except BadPatch as error:
                    raise BadChange(f"{path.text}: {error}") from None
            case Delete():
                existing(path)
                edits[path] = None
            case Rename(target=target):
                moved = existing(path)
                edits[path] = None
                edits[target] = moved
            case SetMode(mode=mode):
                edits[path] = Edit(mode, existing(path).content)
            case Symlink(target=link):
                edits[path] = Edit(SYMLINK, link)
    return edits

"""A folder that holds one tree after the other; from one to the next only what differs is written."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lanes.checking.trees import Code
from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK
from qodebase.paths import RepoPath
from qodebase.trunk.differing import differing
from qodebase.trunk.folder import Node
from qodebase.trunk.tree import Tree

_FIRST_TIME = 1_000_000_000
_MOST_PARKED = 4096


class Laid(NamedTuple):
    """What lies at a path instead of what the tree has there."""

    mode: int
    content: bytes


Over = Mapping[RepoPath, Laid | None]


class _Parked(NamedTuple):
    """A file that was taken away: where it is now, and what it holds."""

    place: bytes
    laid: Laid


class Checkout:
    """One folder, used by one check at a time; nobody else writes in it.

    No link of a tree is ever followed while writing. A link that leads out of the tree becomes a file that holds its
    target, as git does where there are no links; a submodule becomes an empty folder. Each file that is written has a
    time of its own, in whole seconds: by that and its size alone pytest knows what it compiled before. A file that was
    laid over a tree is parked beside the folder when it goes, and comes back as it was: new files are slow to make.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._root = os.fsencode(root)
        self._parked: OrderedDict[bytes, _Parked] = OrderedDict()
        self._parking = Path(f"{root}.parked")
        self._tree: Tree | None = None
        self._over: dict[RepoPath, Laid | None] = {}
        self._time = _FIRST_TIME
        self._lock = threading.Lock()

    def hold(self, code: Code, over: Over) -> None:
        """Make the folder hold a tree, with some paths laid over it (None: taken away)."""
        # Who asked may be cancelled while a thread writes here; the next one then waits for that thread.
        with self._lock:
            self._hold(code, over)

    def _hold(self, code: Code, over: Over) -> None:
        was, self._tree = self._tree, None
        if was is None:
            self._clear()
            paths = {path for path, _ in code.tree.walk()}
        else:
            paths = set(differing(was, code.tree))
        before, now = self._over, dict(over)
        paths |= {path for path in before.keys() | now.keys() if before.get(path, b"") != now.get(path, b"")}
        wanted = {path: now[RepoPath(path)] if path in now else self._entry(code, path) for path in paths}
        for path in sorted(paths):
            if not self._can_stay(path, wanted[path]):
                self._remove(path, before.get(RepoPath(path)))
        for path in sorted(paths):
            entry = wanted[path]
            if entry is not None:
                self._write(path, entry)
        clash = any(self._displaces(code.tree, path) for path in now)
        self._over = now
        self._tree = None if clash else code.tree

    def _can_stay(self, path: bytes, entry: Laid | None) -> bool:
        """Return whether a path holds a plain file whose content alone is to be another: new files are slow to make."""
        return entry is not None and self._reached(path) and _holds_plain(self._place(path), entry)

    def spoil(self) -> None:
        """Let the next tree be laid out from nothing: something may have been written here."""
        self._tree = None

    def _entry(self, code: Code, path: bytes) -> Laid | None:
        node: Node | None = code.tree.node(path)
        if node is None:
            return None
        return Laid(node.mode, b"" if node.mode == SUBMODULE else code.content(node.id))

    def _clear(self) -> None:
        for folder, mode in ((self.root, 0o755), (self._parking, 0o700)):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=mode, parents=True, exist_ok=True)
            folder.chmod(mode)
        self._over = {}
        self._parked.clear()

    def _place(self, path: bytes) -> bytes:
        return self._root + b"/" + path

    def _park(self, path: bytes, laid: Laid) -> None:
        """Take away a file that is to come back; `OSError` as of `os.unlink`."""
        self._time += 1
        parked = _Parked(os.fsencode(self._parking / str(self._time)), laid)
        os.rename(self._place(path), parked.place)
        self._parked[path] = parked
        if len(self._parked) > _MOST_PARKED:
            os.unlink(self._parked.popitem(last=False)[1].place)

    def _remove(self, path: bytes, laid: Laid | None = None) -> None:
        """Take away a path, and the folders that it leaves empty; one whose folders are not there is gone already.

        Args:
            laid: what was laid over the tree there.
        """
        if not self._reached(path):
            return
        place = self._place(path)
        try:
            if laid is not None and _holds_plain(place, laid):
                self._park(path, laid)
            else:
                os.unlink(place)
        except FileNotFoundError:
            return
        except (IsADirectoryError, PermissionError):
            try:
                os.rmdir(place)
            except OSError:
                return
        above = path.rpartition(b"/")[0]
        while above:
            try:
                os.rmdir(self._place(above))
            except OSError:
                return
            above = above.rpartition(b"/")[0]

    def _reached(self, path: bytes) -> bool:
        """Return whether real folders lead to a path, no links."""
        at = self._root
        for part in path.split(b"/")[:-1]:
            at += b"/" + part
            if os.path.islink(at) or not os.path.isdir(at):
                return False
        return True

    def _write(self, path: bytes, entry: Laid) -> None:
        self._make_folders(path)
        place = self._place(path)
        if entry.mode == SUBMODULE:
            os.makedirs(place, exist_ok=True)
            return
        there = _holds_plain(place, entry)
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place)
        elif os.path.lexists(place) and not there:
            os.unlink(place)
        parked = self._parked.pop(path, None)
        if parked is not None and not there and entry.mode in (REGULAR, EXECUTABLE):
            os.rename(parked.place, place)
            if parked.laid == entry:
                return
            there = True
        elif parked is not None:
            os.unlink(parked.place)
        if entry.mode == SYMLINK and not _leads_out(path, entry.content):
            os.symlink(entry.content, place)
            return
        mode = 0o755 if entry.mode == EXECUTABLE else 0o644
        how = os.O_TRUNC if there else os.O_CREAT | os.O_EXCL
        descriptor = os.open(place, os.O_WRONLY | os.O_NOFOLLOW | how, mode)
        with open(descriptor, "wb") as out:
            os.fchmod(descriptor, mode)
            out.write(entry.content)
            out.flush()
            self._time += 1
            os.utime(descriptor, (self._time, self._time))

    def _make_folders(self, path: bytes) -> None:
        at = self._root
        for part in path.split(b"/")[:-1]:
            at += b"/" + part
            if os.path.islink(at) or (os.path.lexists(at) and not os.path.isdir(at)):
                os.unlink(at)
            if not os.path.isdir(at):
                os.mkdir(at, 0o755)
                os.chmod(at, 0o755)

    def _displaces(self, tree: Tree, path: bytes) -> bool:
        """Return whether a file laid at a path hides a folder of the tree, or needs a folder where it has a file."""
        if tree.folder(path) is not None:
            return True
        parts = path.split(b"/")
        return any(tree.node(b"/".join(parts[:depth])) is not None for depth in range(1, len(parts)))


def _holds_plain(place: bytes, entry: Laid) -> bool:
    """Return whether there is a plain file where a plain file is to be."""
    if entry.mode not in (REGULAR, EXECUTABLE):
        return False
    try:
        return stat.S_ISREG(os.lstat(place).st_mode)
    except FileNotFoundError:
        return False


def _leads_out(path: bytes, target: bytes) -> bool:
    """Return whether a link's target, followed by its text, is outside of the tree or in no tree at all."""
    if not target or target.startswith(b"/") or b"\0" in target:
        return True
    ends = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return ends == b".." or ends.startswith(b"../")


def laid_from(code: Code, nodes: Mapping[RepoPath, Node | None]) -> dict[RepoPath, Laid | None]:
    """Return entries of a tree as what is laid over another."""
    return {
        path: None if node is None else Laid(node.mode, b"" if node.mode == SUBMODULE else code.content(node.id))
        for path, node in nodes.items()
    }


def laid_files(files: Mapping[RepoPath, bytes]) -> dict[RepoPath, Laid | None]:
    """Return plain files as what is laid over a tree."""
    return {path: Laid(REGULAR, content) for path, content in files.items()}

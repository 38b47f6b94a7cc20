"""A folder that holds one tree after the other; from one to the next only what differs is written."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
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
_SLASH = ord("/")


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
        self._real: set[bytes] = set()
        self.size = 0
        """Bytes of what was laid out from nothing the last time."""
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
        needed = _folders_of(over)
        before, now = self._over, {path: laid for path, laid in over.items() if laid is None or path not in needed}
        paths |= {path for path in before.keys() | now.keys() if before.get(path, b"") != now.get(path, b"")}
        paths = {path for path in paths if path not in needed and (path in now or not _is_hidden(path, now))}
        wanted = {path: now[RepoPath(path)] if path in now else self._entry(code, path) for path in paths}
        if was is None:
            self.size = sum(len(entry.content) for entry in wanted.values() if entry is not None)
        self._real.clear()
        gone = [path for path in sorted(paths) if not self._can_stay(path, wanted[path])]
        for path in gone:
            self._remove(path, before.get(RepoPath(path)))
        for path in sorted(paths):
            entry = wanted[path]
            if entry is not None:
                self._write(path, entry)
        for folder in sorted({path.rpartition(b"/")[0] for path in gone}, reverse=True):
            self._prune(folder, wanted)
        clash = any(self._displaces(code.tree, path) for path in now)
        self._over = now
        self._tree = None if clash else code.tree

    def _can_stay(self, path: bytes, entry: Laid | None) -> bool:
        """Return whether a path holds a plain file whose content alone is to be another: new files are slow to make."""
        if entry is None or entry.mode not in (REGULAR, EXECUTABLE):
            return False
        return self._reached(path) and _kind_of(self._place(path)) == stat.S_IFREG

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
        parked = _Parked(b"%s.parked/%d" % (self._root, self._time), laid)
        os.rename(self._place(path), parked.place)
        self._parked[path] = parked
        if len(self._parked) > _MOST_PARKED:
            os.unlink(self._parked.popitem(last=False)[1].place)

    def _remove(self, path: bytes, laid: Laid | None) -> None:
        """Take away a path; one whose folders are not there is gone already.

        Args:
            laid: what was laid over the tree there.
        """
        if not self._reached(path):
            return
        place = self._place(path)
        try:
            if laid is not None and laid.mode in (REGULAR, EXECUTABLE) and _kind_of(place) == stat.S_IFREG:
                self._park(path, laid)
            else:
                os.unlink(place)
        except FileNotFoundError:
            return
        except (IsADirectoryError, PermissionError):
            with suppress(OSError):
                os.rmdir(place)

    def _prune(self, folder: bytes, wanted: Mapping[bytes, Laid | None]) -> None:
        """Take away a folder, and those above it, where nothing is left in them; submodules are empty folders."""
        with suppress(OSError):
            while folder and wanted.get(folder) is None and self._reached(folder + b"/"):
                os.rmdir(self._place(folder))
                folder = folder.rpartition(b"/")[0]

    def _reached(self, path: bytes) -> bool:
        """Return whether real folders lead to a path, no links."""
        folder = path.rpartition(b"/")[0]
        if not folder or folder in self._real:
            return True
        if not self._reached(folder) or _kind_of(self._place(folder)) != stat.S_IFDIR:
            return False
        self._real.add(folder)
        return True

    def _write(self, path: bytes, entry: Laid) -> None:
        self._make_folders(path)
        place = self._place(path)
        if entry.mode == SUBMODULE:
            os.makedirs(place, exist_ok=True)
            return
        plain = entry.mode in (REGULAR, EXECUTABLE)
        kind = _kind_of(place)
        there = plain and kind == stat.S_IFREG
        if kind == stat.S_IFDIR:
            shutil.rmtree(place)
            self._real.clear()
        elif kind and not there:
            os.unlink(place)
        parked = self._parked.pop(path, None)
        if parked is not None and plain and not there:
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
        folder = path.rpartition(b"/")[0]
        if self._reached(path):
            return
        self._make_folders(folder)
        place = self._place(folder)
        if _kind_of(place):
            os.unlink(place)
        os.mkdir(place, 0o755)
        os.chmod(place, 0o755)

    def _displaces(self, tree: Tree, path: bytes) -> bool:
        """Return whether a file laid at a path hides a folder of the tree, or needs a folder where it has a file."""
        if tree.folder(path) is not None:
            return True
        parts = path.split(b"/")
        return any(tree.node(b"/".join(parts[:depth])) is not None for depth in range(1, len(parts)))


def _folders_of(over: Over) -> set[bytes]:
    """Return the folders that what is laid over a tree needs; a file there, of the tree or laid, gives way."""
    return {
        path[:at] for path, laid in over.items() if laid is not None for at, byte in enumerate(path) if byte == _SLASH
    }


def _is_hidden(path: bytes, over: Over) -> bool:
    """Return whether a file is laid where a folder above a path would have to be."""
    return any(over.get(RepoPath(path[:at])) is not None for at, byte in enumerate(path) if byte == _SLASH)


def _kind_of(place: bytes) -> int:
    """Return what stands at a place, a link as itself: one of `stat`'s ``S_IF``; 0 for nothing."""
    try:
        return stat.S_IFMT(os.lstat(place).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0


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

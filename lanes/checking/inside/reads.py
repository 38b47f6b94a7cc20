"""What a check reads, heard from the interpreter's own audit events."""

from __future__ import annotations

import os
from typing import Any

_STARTS = frozenset(
    ("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
)
_OPENS = frozenset(("open", "sqlite3.connect"))
_LISTS = frozenset(("os.listdir", "os.scandir"))


class Reads:
    """The files of a folder that this process opens, imported modules among them, and the folders that it lists.

    Looking whether a file exists raises no event, so it is not heard. Another process is not heard either: once one is
    started, everything may have been read.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._seen: set[str] = set()
        self._everything = False

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take an audit event."""
        if event in _OPENS:
            self._add(arguments[0], "")
        elif event in _LISTS:
            self._add("." if arguments[0] is None else arguments[0], "/")
        elif event in _STARTS:
            self._everything = True

    def _add(self, path: Any, end: str) -> None:
        if isinstance(path, (str, bytes)):
            name = os.fsdecode(path)
            self._seen.add((name if name.startswith("/") else os.path.join(os.getcwd(), name)) + end)

    def found(self) -> list[str] | None:
        """Return paths below the folder, relative to it, a listed folder with a slash at its end; None: everything."""
        if self._everything:
            return None
        found = set()
        for path in self._seen:
            end = "/" if path.endswith("/") else ""
            for name in (os.path.normpath(path), os.path.realpath(path)):
                if name == self._folder and end:
                    found.add("/")
                elif name.startswith(self._folder + "/") and "/__pycache__/" not in name + end:
                    found.add(name[len(self._folder) + 1 :] + end)
        return sorted(found)

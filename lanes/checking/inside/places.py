"""Places in a folder: what paths come to there, with every link on their way."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from os import lstat, readlink

_MOST_LINKS = 40


class Places:
    """Knows the ways from any path into one folder.

    Args:
        folder: without links in its path.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._python = (sys.prefix + "/", sys.base_prefix + "/")
        self._below: dict[str, list[str]] = {}
        self._ways_to: dict[str, list[str]] = {}

    def named(self, paths: Iterable[str]) -> list[str]:
        """Return what absolute paths are below the folder, relative to it; a slash at an end stays."""
        found: set[str] = set()
        for path in paths:
            if path not in self._below:
                self._below[path] = list(self._inside(path))
            found.update(self._below[path])
        return sorted(found)

    def leads_inside(self, path: str | bytes) -> bool:
        """Return whether a path is one of a folder by which files of this folder can be reached."""
        name = absolute(os.fsdecode(path))
        try:
            if not stat.S_ISDIR(lstat(name + "/.").st_mode):
                return False
        except OSError:
            return False
        return any(
            (self._folder + "/").startswith(way.rstrip("/") + "/") or way.startswith(self._folder + "/")
            for way in self._ways(os.path.normpath(name))
        )

    def _inside(self, path: str) -> Iterator[str]:
        if path.startswith(self._python):
            return
        end = "/" if path.endswith("/") else ""
        for name in self._ways(os.path.normpath(path)):
            if name == self._folder and end:
                yield "/"
            elif name.startswith(self._folder + "/") and "/__pycache__/" not in name + end:
                yield name[len(self._folder) + 1 :] + end

    def _ways(self, path: str) -> set[str]:
        """Return a path, every link on its way, and where it leads."""
        folder, name = os.path.split(path)
        if folder not in self._ways_to:
            self._ways_to[folder] = _way(folder)
        *links, end = self._ways_to[folder]
        here = os.path.join(end, name)
        return {path, *links, *(_way(here) if _target(here) else [here])}


def absolute(name: str) -> str:
    """Return a path from the root on."""
    return name if name.startswith("/") else os.path.join(os.getcwd(), name)


def _way(path: str) -> list[str]:
    """Return every link on the way to an absolute path, and where it leads."""
    left = path.split("/")[::-1]
    links: list[str] = []
    at = ""
    while left:
        part = left.pop()
        if part == "..":
            at = os.path.dirname(at)
        elif part not in ("", "."):
            at = f"{at.rstrip('/')}/{part}"
            target = _target(at) if len(links) < _MOST_LINKS else ""
            if target:
                links.append(at)
                at = "" if target.startswith("/") else os.path.dirname(at)
                left += target.split("/")[::-1]
    return [*links, at or "/"]


def _target(path: str) -> str:
    """Return where a link leads; the empty text where there is no link."""
    try:
        return readlink(path)
    except (OSError, ValueError):
        return ""

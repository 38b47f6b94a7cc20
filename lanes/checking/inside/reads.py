"""What checks read, heard from the interpreter's own audit events and, where they share a process, from its imports."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import lstat, readlink
from typing import Any

_STARTS = frozenset(
    ("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
)
_OPENS = frozenset(("open", "ctypes.dlopen"))
_LISTS = frozenset(("os.listdir", "os.scandir"))
_ALL, _NOBODY = "", "-"
_MOST_LINKS = 40
_RUNNERS = ("_pytest.", "pluggy.", "lanes.checking.inside.")

NOTHING, OPENS, STARTS = "", "opens", "starts"
"""What tests do themselves, beside what their imports do: in the order of what it means for others."""


class Reads:
    """The files of a folder that this process opens or looks at, imported modules too, and the folders that it lists.

    Each is kept for whoever is at work: a test, a file of tests, a module; or for all. Another process is not heard,
    nor what is read by way of an opened folder: from then on, everything may have been read.

    What a test does while it runs may stay in memory (a cache, a registry), so it counts for those that run later too.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._python = (sys.prefix + "/", sys.base_prefix + "/")
        self._seen: dict[str, set[str]] = {_ALL: set()}
        self._asked: dict[str, set[str]] = {}
        self._at: list[str] = [_ALL]
        self._searched: set[str] = set()
        self._test = ""
        self._habits: dict[str, str] = {}
        self._before: dict[str, tuple[frozenset[str], bool]] = {}
        self._left: set[str] = set()
        self._started: set[str] = set()
        self._known: dict[frozenset[str], tuple[str, ...] | None] = {}
        self._below: dict[str, list[str]] = {}
        self._ways_to: dict[str, list[str]] = {}
        self._listed: dict[str, set[str]] = {}

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take an audit event."""
        if event in _OPENS:
            self.add(arguments[0])
            # Only `os.open` tells no mode, and only it opens folders.
            if event == "open" and arguments[1] is None and self._is_folder_inside(arguments[0]):
                self._all_may_be_read()
        elif event == "import":
            self.add(arguments[1])
        elif event == "sqlite3.connect":
            self._connect(arguments[0])
        elif event in _LISTS:
            path = "." if arguments[0] is None else arguments[0]
            # The first import from a folder lists it for all later ones.
            if sys._getframe(1).f_code.co_name == "_fill_cache" and isinstance(path, str):
                self._searched.add(_absolute(path) + "/")
            else:
                self.add(path, "/")
                if isinstance(path, (str, bytes)) and self._at[-1] not in (_ALL, _NOBODY):
                    self._listed.setdefault(self._at[-1], set()).add(_absolute(os.fsdecode(path)) + "/")
        elif event in _STARTS:
            self._all_may_be_read()

    def look(self, path: Any, *, folder: bool) -> None:
        """Note a path at which code of the folder looks, not pytest; it may be, or become, a folder."""
        if isinstance(path, int):
            return
        name = _absolute(os.fsdecode(path))
        if (f"{name}/" if folder else name) in self._seen.get(self._at[-1], ()):
            return
        if self._named([name + "/"]) and self._is_asked_from_inside():
            self.add(name)
            if folder:
                self.add(name, "/")

    def _is_asked_from_inside(self) -> bool:
        frame = sys._getframe(3)
        while frame.f_back is not None:
            if frame.f_code.co_filename.startswith(self._folder + "/"):
                return True
            if str(frame.f_globals.get("__name__")).startswith(_RUNNERS):
                return False
            frame = frame.f_back
        return True

    def add(self, path: Any, end: str = "") -> None:
        """Note a path for whoever is at work."""
        if not isinstance(path, (str, bytes)):
            return
        name = _absolute(os.fsdecode(path)) + end
        self._seen.setdefault(self._at[-1], set()).add(name)
        if self._test and self._named([name]):
            self._left.add(name)
            self._habits.setdefault(self._test, OPENS)

    def _all_may_be_read(self) -> None:
        self._started.add(self._at[-1])
        if self._test:
            self._started.add(self._test)
            self._habits[self._test] = STARTS

    def _is_folder_inside(self, path: Any) -> bool:
        if not isinstance(path, (str, bytes)):
            return False
        name = _absolute(os.fsdecode(path))
        try:
            return stat.S_ISDIR(lstat(name + "/.").st_mode) and bool(self._named([name + "/"]))
        except OSError:
            return False

    def _connect(self, database: Any) -> None:
        """Note a database, which may be named by an address."""
        name = os.fsdecode(database)
        if name.startswith("file:"):
            name = name[len("file:") :].partition("?")[0]
            if "%" in name:
                self._all_may_be_read()
        self.add(name)

    def ask(self, *modules: str) -> None:
        """Note that whoever is at work depends on modules."""
        self._asked.setdefault(self._at[-1], set()).update(modules)

    @contextmanager
    def loading(self, module: str) -> Iterator[None]:
        """Note what is done meanwhile for a module, on which whoever is at work depends."""
        self.ask(module)
        with self.collecting(module):
            yield

    @contextmanager
    def collecting(self, path: str) -> Iterator[None]:
        """Note what is done meanwhile for a file of tests."""
        self._at.append(path)
        try:
            yield
        finally:
            self._at.pop()

    def begin(self, test: str, path: str) -> None:
        """Note what is done from now on for a test of a file."""
        if self._left or self._started:
            self._before[test] = (frozenset(self._left), any(one in self._habits for one in self._started))
        self._asked.setdefault(test, set()).add(path)
        self._test = test
        self._at.append(test)

    def end(self) -> None:
        """Note no more for a test."""
        self._test = ""
        self._at.pop()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Note what is done meanwhile for nobody."""
        test, self._test = self._test, ""
        with self.collecting(_NOBODY):
            yield
        self._test = test

    def found(self) -> list[str] | None:
        """Return paths below the folder, relative to it, a listed folder with a slash at its end; None: everything."""
        if self._started:
            return None
        return self._named(self._searched.union(*self._seen.values()))

    def found_by(self, tests: Sequence[str]) -> tuple[str, ...] | None:
        """Return the same for some tests alone; one and the same object where they depend on the same."""
        before = [self._before[test] for test in tests if test in self._before] if self._before else []
        workers = set[str]()
        for test in tests:
            if test in self._seen or test in self._started:
                workers.add(test)
            workers.update(self._asked.get(test, ()))
        key = frozenset(workers)
        if key not in self._known:
            self._known[key] = self._found_by_all(self._workers([_ALL, *workers]))
        found = self._known[key]
        if found is None or any(started for _, started in before):
            return None
        left = frozenset[str]().union(*(left for left, _ in before))
        return tuple(sorted({*found, *self._named(left)})) if left else found

    def _found_by_all(self, workers: set[str]) -> tuple[str, ...] | None:
        if workers & self._started:
            return None
        seen = set().union(*(self._seen.get(one, ()) for one in workers))
        seen.update(path for path in map(_path_of, workers) if path)
        found = set(self._named(seen))
        searched = self._named(self._searched)
        places = {*sys.path, *(place for worker in workers for place in _folders_of(worker))}
        for folder in searched:
            place = os.path.join(self._folder, folder.strip("/")).rstrip("/")
            if folder == "/" or place in places or any(path.startswith(folder) for path in found):
                found.add(folder)
        return tuple(sorted(found))

    def listed_by(self, tests: Iterable[str]) -> list[str]:
        """Return the folders that some tests, or what they depend on, listed for another reason than to import."""
        if not self._listed:
            return []
        listed = (self._listed.get(worker, ()) for worker in self._workers(list(tests)))
        return self._named(set[str]().union(*listed))

    def habit(self, tests: Iterable[str]) -> str:
        """Return what some tests do themselves."""
        if not self._habits:
            return NOTHING
        habits = {self._habits.get(test, NOTHING) for test in tests}
        return STARTS if STARTS in habits else OPENS if OPENS in habits else NOTHING

    def _workers(self, names: list[str]) -> set[str]:
        """Return these, and everything that they depend on."""
        found: set[str] = set()
        while names:
            name = names.pop()
            if name not in found:
                found.add(name)
                names.extend(self._asked.get(name, ()))
                if "/" not in name and "." in name:
                    names.append(name.rpartition(".")[0])
        return found

    def _named(self, paths: Iterable[str]) -> list[str]:
        found: set[str] = set()
        for path in paths:
            if path not in self._below:
                self._below[path] = list(self._inside(path))
            found.update(self._below[path])
        return sorted(found)

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


def _absolute(name: str) -> str:
    return name if name.startswith("/") else os.path.join(os.getcwd(), name)


def _path_of(module: str) -> str:
    """Return where a module was loaded from; the empty text where that is no file."""
    path = getattr(sys.modules.get(module), "__file__", None)
    return path if isinstance(path, str) else ""


def _folders_of(module: str) -> list[str]:
    """Return the folders in which a package looks for its modules."""
    found = sys.modules.get(module)
    path = getattr(found, "__path__", None)
    return [*path] if isinstance(path, Iterable) else []

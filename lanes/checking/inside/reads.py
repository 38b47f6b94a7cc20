"""What checks read, heard from the interpreter's own audit events and, where they share a process, from its imports."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_STARTS = frozenset(
    ("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
)
_OPENS = frozenset(("open", "sqlite3.connect"))
_LISTS = frozenset(("os.listdir", "os.scandir"))
_ALL, _NOBODY = "", "-"

NOTHING, OPENS, STARTS = "", "opens", "starts"
"""What tests do themselves, beside what their imports do: in the order of what it means for others."""


class Reads:
    """The files of a folder that this process opens, imported modules among them, and the folders that it lists.

    Each is kept for whoever is at work: a test, a file of tests, a module; or for all. Looking whether a file exists
    raises no event, so it is not heard. Another process is not heard either: once one is started, everything may have
    been read.

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
        self._known: dict[frozenset[str], list[str] | None] = {}
        self._below: dict[str, list[str]] = {}
        self._real: dict[str, str] = {}

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take an audit event."""
        if event in _OPENS:
            self.add(arguments[0])
        elif event in _LISTS:
            path = "." if arguments[0] is None else arguments[0]
            # The first import from a folder lists it for all later ones.
            if sys._getframe(1).f_code.co_name == "_fill_cache" and isinstance(path, str):
                self._searched.add(_absolute(path) + "/")
            else:
                self.add(path, "/")
        elif event in _STARTS:
            self._started.add(self._at[-1])
            if self._test:
                self._started.add(self._test)
                self._habits[self._test] = STARTS

    def add(self, path: Any, end: str = "") -> None:
        """Note a path for whoever is at work."""
        if not isinstance(path, (str, bytes)):
            return
        name = _absolute(os.fsdecode(path)) + end
        self._seen.setdefault(self._at[-1], set()).add(name)
        if self._test and self._named([name]):
            self._left.add(name)
            self._habits.setdefault(self._test, OPENS)

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

    def found_by(self, tests: Iterable[str]) -> list[str] | None:
        """Return the same for some tests alone."""
        tests = list(tests)
        before = [self._before[test] for test in tests if test in self._before]
        workers = {test for test in tests if test in self._seen or test in self._started}
        workers.update(*(self._asked.get(test, ()) for test in tests))
        key = frozenset(workers)
        if key not in self._known:
            self._known[key] = self._found_by_all(self._workers([_ALL, *workers]))
        found = self._known[key]
        if found is None or any(started for _, started in before):
            return None
        left = frozenset[str]().union(*(left for left, _ in before))
        return sorted({*found, *self._named(left)}) if left else found

    def _found_by_all(self, workers: set[str]) -> list[str] | None:
        if workers & self._started:
            return None
        seen = set().union(*(self._seen.get(one, ()) for one in workers))
        seen.update(path for path in map(_path_of, workers) if path)
        found = set(self._named(seen))
        for folder in self._named(self._searched):
            place = os.path.join(self._folder, folder.strip("/")).rstrip("/")
            if folder == "/" or place in sys.path or any(path.startswith(folder) for path in found):
                found.add(folder)
        return sorted(found)

    def habit(self, tests: Iterable[str]) -> str:
        """Return what some tests do themselves."""
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
        named = os.path.normpath(path)
        for name in {named, self._followed(named)}:
            if name == self._folder and end:
                yield "/"
            elif name.startswith(self._folder + "/") and "/__pycache__/" not in name + end:
                yield name[len(self._folder) + 1 :] + end

    def _followed(self, path: str) -> str:
        """Return a path without links."""
        folder, name = os.path.split(path)
        if os.path.islink(path) or not name:
            return os.path.realpath(path)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return os.path.join(self._real[folder], name)


def _absolute(name: str) -> str:
    return name if name.startswith("/") else os.path.join(os.getcwd(), name)


def _path_of(module: str) -> str:
    """Return where a module was loaded from; the empty text where that is no file."""
    path = getattr(sys.modules.get(module), "__file__", None)
    return path if isinstance(path, str) else ""

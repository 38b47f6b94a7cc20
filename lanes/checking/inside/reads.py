"""What checks read, heard from the interpreter's own audit events and, where they share a process, from its imports."""

from __future__ import annotations

import os
import re
import sys
from _thread import get_ident
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lanes.checking.inside.askers import Askers
from lanes.checking.inside.compiled import ALWAYS_UNHEARD, is_unheard, loaded_unheard
from lanes.checking.inside.databases import files_of, is_heard
from lanes.checking.inside.places import Places, absolute

_STARTS = frozenset(
    (
        *("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system"),
        *("pty.spawn", "sys.remote_exec", "cpython.PyInterpreterState_New"),
        # Functions in machine code, and what may hold such.
        *("ctypes.dlsym", "ctypes.dlsym/handle", "sqlite3.load_extension"),
    )
)
_OPENS = frozenset(("open", "ctypes.dlopen"))
_NAMELESS = getattr(os, "O_TMPFILE", -1)
_LISTS = frozenset(("os.listdir", "os.scandir"))
_OF_PROCESSES = re.compile("/proc/.*/(cwd|root|fd/|map_files)")
_ALL, _NOBODY = "", "-"

NOTHING, OPENS, STARTS = "", "opens", "starts"
"""What tests do themselves, beside what their imports do: in the order of what it means for others.

A module that opens a module in another way than to import it makes tests that depend on it such that open something.
"""


class Reads:
    """The files of a folder that this process opens or looks at, imported modules too, and the folders that it lists.

    Each is kept for whoever is at work: a test, a file of tests, a module; or for all, as what other threads do.
    Another process is not heard, nor machine code, nor what is read by way of an opened folder: everything may have
    been read from then on, or by whoever depends on that code.

    What a test does while it runs may stay in memory (a cache, a registry), so it counts for those that run later too.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._askers = Askers(folder)
        self._places = Places(folder)
        self._named = self._places.named
        self._thread = get_ident()
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
        self._listed: dict[str, set[str]] = {}
        self._texts: set[str] = set()
        loaded = loaded_unheard()
        self._unheard = {*ALWAYS_UNHEARD, *loaded}
        self.unheard_before = bool(loaded)

    @property
    def _worker(self) -> str:
        """Return who is at work; what another thread does may be for anybody."""
        return self._at[-1] if get_ident() == self._thread else _ALL

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take an audit event."""
        if event in _OPENS:
            self._open(*arguments)
        elif event == "import":
            self._load(arguments[0], arguments[1])
        elif event == "sqlite3.connect":
            self.attach(arguments[0] if is_heard(1) else None)
        elif event in _LISTS:
            self._list("." if arguments[0] is None else arguments[0], entries=event == "os.scandir")
        elif event in _STARTS:
            self.all_may_be_read()

    def _open(self, path: Any, *more: Any) -> None:
        self.add(path)
        if not isinstance(path, (str, bytes)):
            return
        # Only `os.open` tells no mode, and only it opens folders; a new file without a name is told by its folder.
        if more and more[0] is None and more[1] & _NAMELESS != _NAMELESS and self._places.leads_inside(path):
            self.all_may_be_read()
        if os.fsdecode(path).endswith(".py") and not self._askers.import_(2):
            self._note_text(path)

    def _note_text(self, path: Any) -> None:
        """Note that more of a module may count than what its names mean."""
        if self._named([absolute(os.fsdecode(path))]):
            self._texts.add(self._worker)

    def _load(self, module: str, path: Any) -> None:
        self.add(path)
        if isinstance(path, str) and is_unheard(module, path, self._folder):
            self._unheard.add(module)
            self.ask(module)
            if self._test:
                self.all_may_be_read()

    def _list(self, path: Any, *, entries: bool) -> None:
        # The first import from a folder lists it for all later ones.
        if self._askers.fill_cache(2) and isinstance(path, str):
            self._searched.add(absolute(path) + "/")
            return
        self.add(path, "/")
        if not isinstance(path, (str, bytes)):
            return
        name = absolute(os.fsdecode(path))
        if self._worker not in (_ALL, _NOBODY):
            self._listed.setdefault(self._worker, set()).add(name + "/")
        if not entries or self._askers.walk(2):
            return
        if self._named([name + "/"]) and self._askers.from_inside(2):
            for entry in _names_in(name):
                self.add(f"{name}/{entry}")
                self.add(f"{name}/{entry}", "/")

    def look(self, path: Any, *, folder: bool) -> None:
        """Note a path at which code of the folder looks, not pytest; it may be, or become, a folder."""
        if isinstance(path, int):
            return
        name = absolute(os.fsdecode(path))
        if (f"{name}/" if folder else name) in self._seen.get(self._worker, ()) and not name.endswith(".py"):
            return
        # Pytest's own looks are many.
        if self._askers.from_inside(2) and self._named([name + "/"]):
            self.add(name)
            if folder:
                self.add(name, "/")
            elif name.endswith(".py"):
                self._note_text(name)

    def add(self, path: Any, end: str = "") -> None:
        """Note a path for whoever is at work."""
        if not isinstance(path, (str, bytes)):
            return
        name = absolute(os.fsdecode(path)) + end
        self._seen.setdefault(self._worker, set()).add(name)
        if name.startswith("/proc/") and _OF_PROCESSES.match(name):
            self.all_may_be_read()
        if self._test and self._named([name]):
            self._left.add(name)
            self._habits.setdefault(self._test, OPENS)

    def all_may_be_read(self) -> None:
        """Note that whoever is at work may read everything."""
        self._started.add(self._worker)
        if self._test:
            self._started.add(self._test)
            self._habits[self._test] = STARTS

    def attach(self, database: Any) -> None:
        """Note a database, by its path or address; None: one of which nothing is known."""
        try:
            for name in files_of(database):
                self.add(name)
        except (TypeError, ValueError):
            self.all_may_be_read()

    def ask(self, *modules: str) -> None:
        """Note that whoever is at work depends on modules."""
        # Imports are many.
        worker = self._at[-1] if get_ident() == self._thread else _ALL
        self._asked.setdefault(worker, set()).update(modules)

    @contextmanager
    def loading(self, module: str) -> Iterator[None]:
        """Note what is done meanwhile for a module, on which whoever is at work depends."""
        self.ask(module)
        if get_ident() != self._thread:
            yield
            return
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
        if self._started or self._workers([*self._seen, *self._asked]) & self._unheard:
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
        if workers & self._started or workers & self._unheard:
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
        if not self._habits and not self._texts:
            return NOTHING
        tests = list(tests)
        habits = {self._habits.get(test, NOTHING) for test in tests}
        if self._texts and self._workers([_ALL, *tests]) & self._texts:
            habits.add(OPENS)
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


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _path_of(module: str) -> str:
    """Return where a module was loaded from; the empty text where that is no file."""
    path = getattr(sys.modules.get(module), "__file__", None)
    return path if isinstance(path, str) else ""


def _folders_of(module: str) -> list[str]:
    """Return the folders in which a package looks for its modules."""
    found = sys.modules.get(module)
    path = getattr(found, "__path__", None)
    return [*path] if isinstance(path, Iterable) else []

"""Plain test functions, called without pytest: it can only find that they pass; all else is for pytest to decide."""

from __future__ import annotations

import importlib
import os
import sys
import types
import warnings
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from typing import Any

from lanes.checking.inside.reporter import Reporter
from lanes.checking.inside.setting import has_settings, heard
from lanes.checking.inside.together import Together

_FRAMES = 100
_FOR_PYTEST = (b"pytest", b"unittest", b"PYTEST", b"__test__", b"setup", b"teardown", b"setUp", b"tearDown")
_ASKS = ((b"sys.modules", b"pytest"), (b"PYTEST_VERSION",))
_HOOKS = ("pytest", "setup", "teardown", "setUp", "tearDown", "__getattr__", "__test__")
_NO_TESTS = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset, types.ModuleType, type(None))
_NOT_CALLED_ONCE = 0x20 | 0x80 | 0x100 | 0x200
_ARGUMENTS = 0x04 | 0x08


def run_plain(folder: str, checks: list[list[str]], reporter: Reporter) -> int:
    """Run what is plain of some checks and write what passed; return 0."""
    with heard(folder) as reads:
        together = Together(checks, reporter, reads)
        sys.stdin = _Nothing()
        with warnings.catch_warnings(record=True):
            run = _Run(folder, together, reads.add)
            # Below as many frames as pytest has: what recurses too deep there must not pass here.
            _deep(_FRAMES, run.all)
        together.done(0, run.passed)
    return 0


class _Run:
    """Runs the plain files of a folder."""

    def __init__(self, folder: str, together: Together, add: Callable[..., None]) -> None:
        self._folder = folder
        self._together = together
        self._add = add
        self._process = os.getpid()
        self._bare: dict[str, bool] = {}
        self._filters = _Filters()
        self._asks = _asks_for_pytest(folder)
        self.passed: list[str] = []

    def all(self) -> None:
        for path in self._together.selections.paths:
            if not path.endswith(".py") or not self._is_bare(os.path.dirname(path)) or not self._file(path):
                self._leave(path)

    def _is_bare(self, folder: str) -> bool:
        """Return whether nothing in a folder of the tree or above says how its tests are to be run."""
        if folder not in self._bare:
            place = os.path.join(self._folder, folder).rstrip("/")
            self._add(place, "/")
            above = not folder or self._is_bare(os.path.dirname(folder))
            names = set(os.listdir(place)) if os.path.isdir(place) else {"conftest.py"}
            empty = "__init__.py" not in names or os.path.getsize(os.path.join(place, "__init__.py")) == 0
            root = not folder and "__init__.py" in names
            here = "conftest.py" not in names and empty and not root
            self._bare[folder] = above and here and not has_settings(self._folder, [os.path.join(folder, "test_.py")])
        return self._bare[folder]

    def _file(self, path: str) -> bool:
        """Run the tests of a file; return whether it is plain."""
        with self._together.collecting(path):
            try:
                tests = _plain_tests(os.path.join(self._folder, path), *_module_of(self._folder, path))
            except BaseException:
                self._alone(path)
                return False
        for name, test in (tests or {}).items():
            if self._together.selections.chosen(f"{path}::{name}"):
                self._test(f"{path}::{name}", test)
        return tests is not None

    def _test(self, name: str, test: Callable[[], object]) -> None:
        os.environ["PYTEST_CURRENT_TEST"] = f"{name} (call)"
        self._together.begin(name)
        self._together.leftovers.begin()
        try:
            passed = test() is None
        except BaseException:
            passed = False
        self._together.leftovers.end()
        self._together.end()
        self._alone(name)
        self._filters.restore()
        if passed and not self._asks[0]:
            self.passed.append(name)
        else:
            self._leave(name)

    def _leave(self, name: str) -> None:
        """Say that a test, or all of a file or folder, is for pytest to decide."""
        self._together.reporter.write(test=name, outcome="open", text="")

    def _alone(self, name: str) -> None:
        """End a process that a test made by a fork, before it takes itself for this one."""
        if os.getpid() != self._process:
            self._together.reporter.write(shaken=name)
            os._exit(1)


def _module_of(folder: str, path: str) -> tuple[str, str]:
    """Return what pytest puts in front of the search path for a file, and the module's name."""
    base = os.path.dirname(path)
    while base and os.path.exists(os.path.join(folder, base, "__init__.py")):
        base = os.path.dirname(base)
    name = path[len(base) :].strip("/")[: -len(".py")].replace("/", ".")
    return os.path.join(folder, base).rstrip("/"), name


def _plain_tests(place: str, base: str, name: str) -> dict[str, Callable[[], object]] | None:
    """Import a file and return its tests; None where one thing in it is not plain."""
    with open(place, "rb") as source:
        text = source.read()
    if any(word in text for word in _FOR_PYTEST) or name in sys.modules:
        return None
    if base not in sys.path:
        sys.path.insert(0, base)
    module = importlib.import_module(name)
    if module.__file__ != place:
        return None
    tests: dict[str, Callable[[], object]] = {}
    for key, value in vars(module).items():
        if key.startswith(_HOOKS) or _is_for_pytest(key, value):
            return None
        if isinstance(value, types.FunctionType) and key.startswith("test"):
            tests[key] = value
    return tests


def _is_for_pytest(name: str, value: Any) -> bool:
    kind = type(value)
    if kind.__module__.startswith(("_pytest", "pytest", "unittest")):
        return True
    if isinstance(value, type):
        return name.startswith("Test") or any(one.__module__.startswith("unittest") for one in value.__mro__)
    if kind is types.FunctionType:
        if not name.startswith("test"):
            return "_pytestfixturefunction" in value.__dict__
        code = value.__code__
        taken = code.co_argcount or code.co_kwonlyargcount or code.co_flags & (_ARGUMENTS | _NOT_CALLED_ONCE)
        return bool(taken or value.__dict__)
    return name.startswith("test") and kind not in _NO_TESTS


def _asks_for_pytest(folder: str) -> list[bool]:
    """Return whether a module of a folder, loaded from now on, asks whether pytest runs it: true once one does."""
    found = [False]
    really = SourceFileLoader.get_data

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        text = really(self, path)
        if path.startswith(folder + "/") and any(all(word in text for word in words) for words in _ASKS):
            found[0] = True
        return text

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign,assignment]
    return found


class _Filters:
    """The filters for warnings that pytest has for each test, without settings."""

    def __init__(self) -> None:
        warnings.filterwarnings("always", category=DeprecationWarning)
        warnings.filterwarnings("always", category=PendingDeprecationWarning)
        self._first = list(warnings.filters)
        self._show = warnings.showwarning

    def restore(self) -> None:
        """Take back what a test left changed."""
        if warnings.filters != self._first or warnings.showwarning is not self._show:
            warnings.resetwarnings()
            warnings.filters[:] = self._first  # type: ignore[index]
            warnings.showwarning = self._show


class _Nothing:
    """The standard input that tests have: nobody is there to ask."""

    encoding = None

    def __getattr__(self, name: str) -> Any:
        raise OSError("tests read from the standard input")


def _deep(frames: int, run: Callable[[], None]) -> None:
    if frames:
        _deep(frames - 1, run)
    else:
        run()

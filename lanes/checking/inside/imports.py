"""Who asks for which modules, told to `Reads`; also where a module was loaded long before."""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lanes.checking.inside.compiled import loaded_runners
from lanes.checking.inside.databases import hear_databases
from lanes.checking.inside.looks import hear_certificates, hear_interpreters
from lanes.checking.inside.reads import Reads

_LIBRARY = os.path.dirname(os.__file__) + "/"
_OPENING = frozenset(("ssl", "sqlite3.dbapi2"))
_INTERPRETERS = "_interpreters"


def listen(reads: Reads) -> None:
    """Tell of every import of this process from now on."""
    _hear_statements(reads)
    _hear_calls(reads)
    _hear_loading(importlib.machinery.SourceFileLoader, reads)
    for name in _OPENING:
        _hear_opening(name, reads)
    if _INTERPRETERS in sys.modules:
        hear_interpreters(sys.modules[_INTERPRETERS], reads)


def hear_loading_of_tests(reads: Reads) -> None:
    """Tell also what modules do that pytest loads in its own way."""
    from _pytest.assertion.rewrite import AssertionRewritingHook

    _hear_loading(AssertionRewritingHook, reads)


def _hear_statements(reads: Reads) -> None:
    really, runners = builtins.__import__, loaded_runners()

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        __tracebackhide__ = True
        try:
            module = really(name, globals, locals, fromlist, level)
        except ImportError:
            reads.ask(_whole(name, (globals or {}).get("__package__"), level))
            raise
        # Pytest asks for its own modules thousands of times; nothing that could be read depends on them.
        if fromlist and type(module) is ModuleType and module in runners:
            return module
        if name == _INTERPRETERS:
            hear_interpreters(module, reads)
        base = module.__name__ if level else name
        names = [base]
        for one in fromlist or ():
            names += [f"{base}.{sub}" for sub in (getattr(module, "__all__", ()) if one == "*" else (one,))]
        reads.ask(*names)
        return module

    builtins.__import__ = _internal(import_)


def _hear_calls(reads: Reads) -> None:
    really = importlib.import_module

    def import_module(name: str, package: str | None = None) -> Any:
        __tracebackhide__ = True
        try:
            module = really(name, package)
        except ImportError:
            level = len(name) - len(name.lstrip("."))
            reads.ask(_whole(name[level:], package, level))
            raise
        if name == _INTERPRETERS:
            hear_interpreters(module, reads)
        reads.ask(module.__name__)
        return module

    importlib.import_module = _internal(import_module)


def _whole(name: str, package: str | None, level: int) -> str:
    """Return the whole name of a module that is looked for from within a package."""
    above = (package or "").split(".")
    return ".".join([*above[: len(above) - level + 1], *filter(None, [name])]) if level else name


def _hear_loading(loader: Any, reads: Reads) -> None:
    really = loader.exec_module

    def exec_module(self: Any, module: Any) -> None:
        __tracebackhide__ = True
        with reads.loading(module.__name__):
            really(self, module)
        if module.__name__ in _OPENING:
            _hear_opening(module.__name__, reads)

    loader.exec_module = _internal(exec_module)


def _hear_opening(name: str, reads: Reads) -> None:
    """Tell of the files that a module of Python opens in machine code, if it is loaded."""
    module = sys.modules.get(name)
    if module is None or not str(getattr(module, "__file__", "")).startswith(_LIBRARY):
        return
    if name == "ssl":
        hear_certificates(module, reads)
    else:
        hear_databases(module, reads.attach)


def _internal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make Python take a function for a part of its import system, so that warnings and tracebacks pass over it."""
    function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap>")
    return function

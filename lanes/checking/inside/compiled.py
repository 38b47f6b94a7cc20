"""Modules in machine code: of the files that they open, Python's audit events tell nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType

ALWAYS_UNHEARD = frozenset(("_dbm", "_gdbm", "_testcapi", "_testinternalcapi", "_tkinter", "_xxsubinterpreters"))
"""Modules of Python's own that open files by themselves, or run code that is not heard."""

# These work on what they are given, or open files by Python's own functions.
_OPEN_NOTHING = frozenset(
    (
        *("_ruamel_yaml", "_yaml", "aiohttp", "bitarray", "charset_normalizer", "coverage", "fastuuid", "frozenlist"),
        *("greenlet", "httptools", "hypothesis", "jiter", "kiwisolver", "lazy_object_proxy", "markupsafe", "msgpack"),
        *("msgspec", "multidict", "numpy", "orjson", "pandas", "propcache", "pydantic_core", "rapidfuzz", "regex"),
        *("rpds", "simplejson", "sqlalchemy", "tree_sitter", "ujson", "websockets", "wrapt", "xxhash", "yaml", "yarl"),
    )
)
_INSTALLED = ("/site-packages/", "/dist-packages/")
_SUFFIXES = (".so", ".pyd")
_RUNNERS = frozenset(("_pytest", "execnet", "iniconfig", "packaging", "pluggy", "pygments", "pytest", "xdist"))


def is_unheard(module: str, path: str, folder: str = "") -> bool:
    """Return whether a module in machine code, loaded from a path, may open files by itself.

    Args:
        folder: what lies in there is not known, whatever its name is.
    """
    if folder and path.startswith(folder + "/"):
        return True
    if not any(part in path for part in _INSTALLED):
        return not _is_own(path)
    return module.partition(".")[0] not in _OPEN_NOTHING


def _is_own(path: str) -> bool:
    return "/lib-dynload/" in path and path.startswith((sys.base_prefix + "/", sys.base_exec_prefix + "/"))


@cache
def loaded_unheard() -> frozenset[str]:
    """Return modules that are loaded already and may lead to such code: it, and all that may have imported it.

    A look at every module copies much of a process that was forked: this is told once, before.
    """
    files = {name: path for name, module in sys.modules.items() if isinstance(path := _file_of(module), str)}
    found = {name for name, path in files.items() if path.endswith(_SUFFIXES) and is_unheard(name, path)}
    return frozenset(found.union(_installed(files)) if found else found)


@cache
def loaded_runners() -> frozenset[ModuleType]:
    """Return modules, loaded already, that are those of pytest itself and no packages.

    All that is imported from one lies in it.
    """
    return frozenset(
        module
        for name, module in sys.modules.items()
        if name.startswith(("_pytest.", "pluggy.")) and type(module) is ModuleType and not hasattr(module, "__path__")
    )


def _file_of(module: object) -> object:
    return getattr(module, "__file__", None)


def _installed(files: dict[str, str]) -> Iterator[str]:
    for name, path in files.items():
        top = name.partition(".")[0]
        if any(part in path for part in _INSTALLED) and top not in _RUNNERS and top not in _OPEN_NOTHING:
            yield name

"""The files of databases, which SQLite opens by itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import ModuleType
from typing import Any

_ATTACH = 24
# What lies beside a database after a crash is taken into it.
_BESIDE = ("", "-journal", "-wal")


def files_of(database: Any) -> Iterator[str]:
    """Yield the files that a database may be in, by its path or address.

    Raises:
        ValueError: an address that is not plain.
    """
    name = os.fsdecode(database)
    address = name.removeprefix("file:").partition("?")[0]
    if address != name:
        if "%" in name or "#" in name or address.startswith("//"):
            raise ValueError(name)
        yield from (address + end for end in _BESIDE)
    yield from (name + end for end in _BESIDE)


def hear_databases(module: ModuleType, attach: Callable[[str | None], None]) -> None:
    """Tell of each database that is attached to the connections which a module makes from now on; None: some one."""

    def allow(action: int, name: str | None, *_: object) -> int:
        if action == _ATTACH:
            attach(name)
        return 0

    for one in (module, sys.modules.get("sqlite3")):
        if one is not None and "connect" in vars(one):
            one.__dict__["connect"] = _connecting(one.__dict__["connect"], module, allow)


def is_heard(depth: int) -> bool:
    """Return whether a connection is made such that what is attached to it will be told; see `Askers` for the depth."""
    return sys._getframe(depth + 1).f_code is _CONNECT


def _connecting(really: Callable[..., Any], module: ModuleType, allow: Callable[..., int]) -> Callable[..., Any]:
    if getattr(really, "__code__", None) is _CONNECT:
        return really

    @wraps(really)
    def connect(*words: Any, **more: Any) -> Any:
        __tracebackhide__ = True
        connection = really(*words, **more)
        module.Connection.set_authorizer(connection, allow)
        return connection

    return connect


_CONNECT = next(one for one in _connecting.__code__.co_consts if getattr(one, "co_name", "") == "connect")

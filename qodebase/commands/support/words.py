"""The words of a command line as values, without the library that typer reads them with.

Importing it takes as long as everything else of a start, and most words are plain: names, paths, whole numbers. What
is not plain, or wrong, is left to typer, so that its errors stay the same.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

_NUMBERS = {int: re.compile(r"-?[0-9]{1,15}"), float: re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")}


class _NotPlain(Exception):
    """A value that is typer's to read."""


class _Reader:
    """Stands where a parameter makes what reads it; ``typers`` makes typer's own."""

    def __init__(self, typers: Any) -> None:
        self._typers = typers

    def __call__(self) -> _Reader:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a parameter as its type."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        try:
            return _plain(value, param.type_descriptor.annotation, param.type_descriptor.parameter_info)
        except _NotPlain:
            return self._typers().coerce(value, param=param, ctx=ctx)


def plainly(params: list[Any]) -> list[Any]:
    """Let parameters of a command read plain words themselves, and return them."""
    for param in params:
        if not isinstance(param.get_runtime_param, _Reader):
            param.get_runtime_param = _Reader(param.get_runtime_param)
    return params


def read_plainly(command: Any) -> None:
    """Let a command, and those of a group, read plain words themselves."""
    given = command.get_params
    # The option --help is made only there.
    command.get_params = lambda ctx: plainly(given(ctx))
    for inner in getattr(command, "commands", {}).values():
        if inner is not None:
            read_plainly(inner)


def _plain(value: Any, kind: Any, info: Any) -> Any:
    if info.parser is not None or info.clamp or info.path_type is not None:
        raise _NotPlain
    if kind == list[str] and isinstance(value, list | tuple) and all(type(word) is str for word in value):
        return list(value)
    if kind is str and type(value) is str:
        return value
    if kind in _NUMBERS:
        return _number(value, kind, info)
    if kind is Path and isinstance(value, str | Path):
        return _path(value, info)
    if get_origin(kind) is Literal and type(value) is str and value in get_args(kind):
        return value
    raise _NotPlain


def _number(value: Any, kind: Any, info: Any) -> Any:
    if type(value) is not kind and not (type(value) is str and _NUMBERS[kind].fullmatch(value)):
        raise _NotPlain
    number = kind(value)
    if (info.min is not None and not number >= info.min) or (info.max is not None and not number <= info.max):
        raise _NotPlain
    return number


def _path(value: str | Path, info: Any) -> Path:
    if info.exists or info.resolve_path or info.allow_dash or info.writable or not (info.file_okay and info.dir_okay):
        raise _NotPlain
    if not os.access(value, os.R_OK) and os.path.lexists(value):
        raise _NotPlain
    return Path(value)

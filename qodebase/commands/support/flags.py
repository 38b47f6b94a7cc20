"""Flags from settings: typer's parameters for a settings type, and the values that were given back as its fields."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Annotated, Any

import typer

from qodebase.commands.support.setting_fields import Setting

_SCALARS = (bool, int, float, str, Path)
_LISTS = (tuple[str, ...], list[str])
_METAVARS = {int: "N", float: "X", str: "TEXT", Path: "PATH", tuple[str, ...]: "TEXT", list[str]: "TEXT"}
_TABLE = dict[str, tuple[str, ...]]


def flags_of(setting: Setting) -> list[str]:
    """Return the flags of a setting, its opposite included; none where no flag can hold its type."""
    if _annotation(setting) is None:
        return []
    flags = list(setting.metadata.get("flags", (f"--{setting.name.replace('_', '-')}",)))
    if setting.type is bool and flags and setting.metadata.get("in_file", True):
        flags.append(f"--no-{flags[0].removeprefix('--')}")
    return flags


def parameters(settings: Sequence[Setting]) -> list[inspect.Parameter]:
    """Return typer's parameters for settings; each is None, or an empty list, where it is not given."""
    found = []
    for setting in settings:
        flags = flags_of(setting)
        if not flags:
            continue
        if flags[-1].startswith("--no-"):
            flags = [f"{flags[0]}/{flags[-1]}", *flags[1:-1]]
        option = typer.Option(
            *flags,
            help=_help(setting),
            metavar=setting.metadata.get("metavar", _METAVARS.get(setting.type)),
            min=setting.metadata.get("min"),
            max=setting.metadata.get("max"),
            show_default=False,
        )
        annotation: Any = Annotated[_annotation(setting), option]
        found.append(
            inspect.Parameter(setting.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        )
    return found


def given(settings: Sequence[Setting], values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that were given explicitly, as the types of their fields."""
    found: dict[str, Any] = {}
    for setting in settings:
        value = values.get(setting.name)
        if value is None or value == []:
            continue
        if setting.type == _TABLE:
            value = _table(value, flags_of(setting)[0], str(setting.metadata.get("metavar") or "NAME=PATTERN"))
        elif setting.type == tuple[str, ...]:
            value = tuple(value)
        found[setting.name] = value
    return found


def _annotation(setting: Setting) -> Any:
    if setting.type in (*_LISTS, _TABLE):
        return list[str] | None
    return setting.type | None if setting.type in _SCALARS or setting.choices else None


def _help(setting: Setting) -> str:
    text = str(setting.metadata.get("help", ""))
    if setting.default is MISSING:
        return f"{text} [required]".strip()
    shown = setting.metadata.get("shown") or _shown(setting.default)
    return f"{text} [default: {shown}]".strip() if shown else text


def _shown(default: Any) -> str:
    if default is None or default is False or default in ("", (), [], {}):
        return ""
    if isinstance(default, tuple | list):
        return ", ".join(map(str, default))
    return "on" if default is True else str(default)


def _table(pairs: Sequence[str], flag: str, shape: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        name, equals, pattern = pair.partition("=")
        if not (name and equals and pattern):
            raise typer.BadParameter(f"{pair!r} is not {shape}", param_hint=flag)
        table[name] = (*table.get(name, ()), pattern)
    return table

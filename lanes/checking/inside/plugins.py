"""The installed plugins of pytest: looked up once, not in each session that is forked."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

_GROUP = "pytest11"
_HARMLESS = frozenset(
    (
        *("anyio", "hypothesis", "platformdirs", "pytest", "pytest-asyncio", "pytest-cov", "pytest-mock"),
        *("pytest-timeout", "pytest-xdist"),
    )
)


def only_harmless() -> bool:
    """Return whether pytest is here and has no plugin that might do something to a plain test function."""
    names = set()
    for found in importlib.metadata.distributions():
        name = _name_of(found)
        if name == "pytest" or _has_plugins(found):
            names.add(name)
    return "pytest" in names and names <= _HARMLESS


def remembered_only_harmless() -> bool:
    """Return the same where plugins are remembered, without reading about every installed package again."""
    return {_name_of(found) for found in _with_plugins()} <= _HARMLESS


def remember() -> None:
    """Let pytest find the plugins that are installed now without reading about every installed package again."""
    path = set(sys.path)
    kept = _with_plugins()
    really = importlib.metadata.distributions

    def distributions(**words: Any) -> Iterator[Any]:
        asker = str(sys._getframe(1).f_globals.get("__name__"))
        if words or not asker.startswith(("_pytest.", "pluggy.")):
            return iter(really(**words))
        new = [one for one in sys.path if one not in path]
        return iter([*really(path=new), *kept])

    importlib.metadata.distributions = distributions


@cache
def _with_plugins() -> tuple[_Kept, ...]:
    return tuple(_Kept(found) for found in importlib.metadata.distributions() if _has_plugins(found))


def _name_of(found: importlib.metadata.Distribution | _Kept) -> str:
    return str(found.metadata["Name"]).lower().replace("_", "-")


def _has_plugins(found: importlib.metadata.Distribution) -> bool:
    return any(one.group == _GROUP for one in found.entry_points)


class _Kept:
    """An installed package, what pytest asks for read beforehand."""

    def __init__(self, found: importlib.metadata.Distribution) -> None:
        self._found = found
        self.entry_points = found.entry_points
        self.files = found.files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)

"""Specs: the text form of a small dataclass of numbers, as ``seed=7,wrong=0.05``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from qodebase.errors import QodebaseError

T = TypeVar("T")


def parts_of(text: str) -> dict[str, str]:
    """Split ``a=1,b=2`` into names and values; empty parts are left out."""
    found = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, value = part.partition("=")
        found[name.strip()] = value.strip()
    return found


def from_parts(kind: type[T], parts: Mapping[str, str], *, what: str, refused: type[QodebaseError]) -> T:
    """Make a dataclass of whole and real numbers from named values.

    Args:
        what: what the values describe, for errors.

    Raises:
        refused: a name that the dataclass does not have, or a value that is no number of its field's kind.
    """
    declared: dict[str, Any] = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    numbers: dict[str, float] = {}
    for name, value in parts.items():
        if name not in declared:
            raise refused(f"{what} has no `{name}`", hint=f"It takes {', '.join(declared)}.")
        try:
            numbers[name] = int(value) if declared[name] in ("int", int) else float(value)
        except ValueError:
            raise refused(f"`{name}` of {what} must be a number, not {value!r}") from None
    return kind(**numbers)

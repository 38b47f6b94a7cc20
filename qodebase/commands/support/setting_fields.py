"""Settings types (dataclasses) as a list of what each field takes, for flags and for job files alike."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union

_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a text",
    tuple[str, ...]: "an array of texts",
    list[str]: "an array of texts",
    dict[str, tuple[str, ...]]: "a table of arrays of texts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One field of a settings type.

    Attributes:
        type: what it takes, ``None`` left out of it.
        default: MISSING where it must be given.
        metadata: the field's own: ``help``, ``flags``, ``metavar``, ``min``, ``max``, ``shown``, ``in_file``.
    """

    name: str
    type: Any
    default: Any
    metadata: Mapping[str, Any]

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the only values that it takes, or nothing where it is open."""
        if typing.get_origin(self.type) is Literal:
            return tuple(str(choice) for choice in typing.get_args(self.type))
        if isinstance(self.type, type) and issubclass(self.type, Enum):
            return tuple(str(member.value) for member in self.type)
        return ()

    @property
    def allowed(self) -> str:
        """Return in words what it takes; empty where the type is no simple one."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        low, high = self.metadata.get("min"), self.metadata.get("max")
        limits = [f"at least {low}"] if low is not None else []
        limits += [f"at most {high}"] if high is not None else []
        words = _WORDS.get(self.type, "")
        return ", ".join([words, *limits]) if words else ""

    def check(self, value: Any, *, source: str) -> Any:
        """Return a plain value (of a TOML file) as the field's type.

        Raises:
            BadData: it is of another type, or beyond the limits; the message names source, field and what is allowed.
        """
        from qodebase.codec import BadData, convert

        if isinstance(value, bool) and set(self.choices) == {"on", "off"}:
            value = "on" if value else "off"
        try:
            found = (
                Path(convert(value, str, source=source))
                if self.type is Path
                else convert(value, self.type, source=source)
            )
        except BadData as error:
            if not self.allowed:
                raise BadData(f"{source}: `{self.name}`: {error.message.removeprefix(f'{source}: ')}") from None
            raise BadData(f"{source}: `{self.name}` must be {self.allowed}, not {value!r}") from None
        low, high = self.metadata.get("min"), self.metadata.get("max")
        if (low is not None and found < low) or (high is not None and found > high):
            raise BadData(f"{source}: `{self.name}` must be {self.allowed}, not {value!r}")
        return found


def settings_of(kind: type[Any]) -> list[Setting]:
    """Return the settings of a dataclass in the order of its fields."""
    hints = typing.get_type_hints(kind)
    return [
        Setting(
            name=field.name,
            type=_without_none(hints[field.name]),
            default=field.default_factory() if field.default_factory is not MISSING else field.default,
            metadata=field.metadata,
        )
        for field in dataclasses.fields(kind)
        if field.init
    ]


def check_keys(keys: Iterable[str], allowed: Sequence[str], *, source: str) -> None:
    """Refuse a key that is not among ``allowed``.

    Raises:
        BadData: the message names the source, the key, what is near to it, and what is allowed.
    """
    import difflib

    from qodebase.codec import BadData

    for key in keys:
        if key not in allowed:
            near = difflib.get_close_matches(key.replace("-", "_"), allowed, n=1)
            meant = f"; did you mean `{near[0]}`?" if near else ""
            hint = f"Allowed: {', '.join(allowed)}." if allowed else "Nothing can be set here."
            raise BadData(f"{source}: unknown key `{key}`{meant}", hint=hint)


def with_whole_paths(kind: type[Any], values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return settings in which each file (a field whose metadata says ``file``) is a path from the root.

    Args:
        folder: what a relative one is relative to.
    """
    files = {setting.name for setting in settings_of(kind) if setting.metadata.get("file")}
    return {
        name: str((folder / Path(value).expanduser()).absolute()) if name in files and value else value
        for name, value in values.items()
    }


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return hint
    rest = tuple(part for part in typing.get_args(hint) if part is not types.NoneType)
    return rest[0] if len(rest) == 1 else hint

"""The programs of checks: where they are, and whether checks in a sandbox, which see no homes, can start them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from qodebase.check import Check

_SETTINGS = "pyvenv.cfg"
_ALWAYS_HIDDEN = ("/tmp", "/run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """What the commands of checks start.

    Attributes:
        folders: virtual environments in hidden folders, and the Pythons that they are made of, which checks must see.
        unseen: programs that stand only where no check sees them.
    """

    folders: tuple[Path, ...]
    unseen: tuple[Path, ...]


def programs_of(checks: Iterable[Check], hidden: Iterable[str]) -> Programs:
    """Look for the programs of commands; of what stands in hidden folders only virtual environments are used.

    Args:
        hidden: folders that look empty to checks, beside `/tmp` and `/run`.
    """
    veiled = [Path(folder).resolve() for folder in (*hidden, *_ALWAYS_HIDDEN)]
    folders: dict[Path, None] = {}
    unseen: dict[Path, None] = {}
    for name in dict.fromkeys(check.command[0] for check in checks if check.command):
        places = list(_places(name))
        needed = next((found for found in (_needed(place, veiled) for place in places) if found is not None), None)
        if needed is not None:
            folders |= dict.fromkeys(needed)
        elif places:
            unseen[places[0]] = None
    return Programs(folders=tuple(folders), unseen=tuple(unseen))


def _places(name: str) -> Iterator[Path]:
    """Yield where a program stands, the place that is taken first before the others; none for one of the repository."""
    if "/" in name:
        if os.path.isabs(name) and os.access(name, os.X_OK):
            yield Path(name)
        return
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if folder and (found := shutil.which(name, path=folder)):
            yield Path(found)


def _needed(program: Path, hidden: list[Path]) -> list[Path] | None:
    """Return the folders that must be kept for a program to be started; None: it cannot be."""
    root = program.parent.parent
    if not (root / _SETTINGS).is_file():
        return [] if _is_seen(program, hidden) and _is_seen(program.resolve(), hidden) else None
    folders = [root, *_bases(root / _SETTINGS)]
    if any(_holds_all(folder, hidden) for folder in folders):
        return None
    return [folder for folder in folders if not _is_seen(folder, hidden)]


def _bases(settings: Path) -> Iterator[Path]:
    """Yield the prefix of the Python that a virtual environment is made of."""
    for line in settings.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip():
            yield Path(value.strip()).resolve().parent


def _is_seen(path: Path, hidden: list[Path]) -> bool:
    own = [Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()]
    whole = path.parent.resolve() / path.name
    return not any(whole.is_relative_to(folder) for folder in hidden) or any(map(whole.is_relative_to, own))


def _holds_all(folder: Path, hidden: list[Path]) -> bool:
    """Return whether a folder is a hidden one, or holds one: to show it would be to show everything."""
    return any(one.is_relative_to(folder.resolve()) for one in hidden)

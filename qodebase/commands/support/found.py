"""Commands that are found by listing a folder, each imported when it is asked for: all double the time of a start."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from qodebase.commands.support.words import plainly, read_plainly


class FoundCommands(TyperGroup):
    """The modules and packages of ``package`` with ``register(app)``, each of which adds one command of its name."""

    package: ClassVar[str]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # The names are there before the commands are: suggestions for a mistyped name are made of them.
        self.commands = dict.fromkeys(names_in(self.package))  # type: ignore[assignment]

    def get_params(self, ctx: Any) -> Any:
        """Return the group's own options."""
        return plainly(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a module, or None where there is no such module."""
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _command(self.package, cmd_name)
        return self.commands.get(cmd_name)


def names_in(package: str) -> list[str]:
    """Return the names of the commands of a package, in order."""
    folder = Path(importlib.import_module(package).__path__[0])
    files = [file.stem for file in folder.glob("*.py") if file.stem != "__init__"]
    groups = [file.parent.name for file in folder.glob("*/__init__.py") if file.parent.name != "support"]
    return sorted(name.replace("_", "-") for name in files + groups)


def _command(package: str, name: str) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    importlib.import_module(f"{package}.{name.replace('-', '_')}").register(alone)
    (command,) = typer.main.get_group(alone).commands.values()
    command.name = name
    read_plainly(command)
    return command

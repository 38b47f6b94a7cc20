"""`qodebase bench`: measure on synthetic work; each file of this folder is one bench."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

_HELP = "Measure qodebase on this machine, on synthetic work that each bench describes."


class Benches(TyperGroup):
    """Every module of this folder, imported when its bench is asked for: they would double the time of any start."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the files."""
        return sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the bench that a module's ``register(group)`` adds, or None where there is no such file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        alone = typer.Typer(rich_markup_mode=None)
        importlib.import_module(f"{__name__}.{cmd_name}").register(alone)
        command = typer.main.get_command(alone)
        command.name = cmd_name
        return command


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(cls=Benches, help=_HELP, no_args_is_help=True, rich_markup_mode=None)
    group.callback()(_root)
    app.add_typer(group, name="bench")


def _root() -> None:
    pass

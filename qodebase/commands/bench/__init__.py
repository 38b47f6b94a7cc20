"""`qodebase bench`: measure on synthetic work; each file of this folder is one bench."""

from __future__ import annotations

import importlib
from pathlib import Path

import typer

_HELP = "Measure qodebase on this machine, on synthetic work that each bench describes."


def register(app: typer.Typer) -> None:
    """Add the group with every bench: a module of this folder with a function ``register(group)``."""
    group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)
    group.callback()(_root)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem != "__init__":
            importlib.import_module(f"{__name__}.{file.stem}").register(group)
    app.add_typer(group, name="bench")


def _root() -> None:
    pass

"""`qodebase bench`: measure on synthetic work; each file of this folder is one bench."""

from __future__ import annotations

import typer

from qodebase.commands.support.found import FoundCommands

_HELP = "Measure qodebase on this machine, on synthetic work that each bench describes."


class Benches(FoundCommands):
    """Every module of this folder."""

    package = __name__


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(cls=Benches, help=_HELP, no_args_is_help=True, rich_markup_mode=None)
    group.callback()(_root)
    app.add_typer(group, name="bench")


def _root() -> None:
    pass

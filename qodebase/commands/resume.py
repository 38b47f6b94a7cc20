"""`qodebase resume`: go on with a run, or with the rest of a sample."""

from __future__ import annotations

from typing import Annotated

import typer

from qodebase.commands.support.console import Json, RunName, reporting, say


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def resume(
        run: RunName,
        limit: Annotated[int | None, typer.Option(min=1, help="Admit so many of the pending intents.")] = None,
        json: Json = False,
    ) -> int:
        """Go on with a run after any stop.

        What has ended stays; answers that the run holds already are not asked for again.
        """
        from qodebase.commands.support.at_work import work
        from qodebase.commands.support.opening import find_run

        folder = find_run(run)
        say(f"going on with {folder.root}")
        return work(folder, first=False, limit=limit, json=json)

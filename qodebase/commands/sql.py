"""`qodebase sql`: polars' own SQL over a run's frames."""

from __future__ import annotations

from typing import Annotated

import typer

from qodebase.commands.support.console import Json, RunName, reporting
from qodebase.commands.support.frame_output import FormatOption, OutOption, put_frame


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def sql(
        run: RunName,
        query: Annotated[str, typer.Argument(metavar="QUERY", help="For example: select lane, count(*) ...")],
        format: FormatOption = "",
        out: OutOption = None,
        json: Json = False,
    ) -> None:
        """Ask a run's frames a question in SQL; `qodebase frames RUN` lists the tables and their columns.

        For example: qodebase sql last "select lane, count(*) as n from landings group by lane order by n desc"
        """
        from qodebase.commands.support.opening import find_run
        from results.frames import load
        from results.sql import query as answer

        put_frame(answer(load(find_run(run)), query), format="json" if json else format, out=out)

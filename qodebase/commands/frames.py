"""`qodebase frames`: what a run's frames hold, as a table, CSV, JSON or parquet."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting
from qodebase.commands.support.frame_output import FormatOption, OutOption, put_frame
from qodebase.commands.support.layout import columns

if TYPE_CHECKING:
    import polars as pl

    from results.frames import Frames


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def frames(
        run: RunName,
        name: Annotated[
            str, typer.Argument(metavar="[NAME]", help="Which frame; `metrics` for the metrics; none: list them.")
        ] = "",
        format: FormatOption = "",
        out: OutOption = None,
        json: Json = False,
    ) -> None:
        """Print a run's frames: intents, attempts, collisions, trains, landings, throughput, losses, costs, metrics.

        Without a NAME, lists them with their rows, columns and units.
        """
        from qodebase.commands.support.opening import find_run
        from results.frames import load
        from results.metrics import SCHEMA, metrics_frame

        found = load(find_run(run))
        if name:
            frame = metrics_frame(found) if name == SCHEMA.name else _frame(found, name)
            put_frame(frame, format="json" if json else format, out=out)
        elif json:
            put_json({"frames": listed(found)})
        else:
            put("\n".join(_lines(listed(found))))


def _frame(found: Frames, name: str) -> pl.DataFrame:
    """Return a frame by its name.

    Raises:
        NoFrame: there is none; the hint lists what there is, the metrics among it.
    """
    from results.frames import NoFrame
    from results.metrics import SCHEMA
    from results.schema import SCHEMAS

    try:
        return found.frame(name)
    except NoFrame as error:
        raise NoFrame(error.message, hint=f"There are {', '.join((*SCHEMAS, SCHEMA.name))}.") from None


def listed(frames: Frames) -> list[dict[str, Any]]:
    """Return every frame with its name, how many rows it has, what a row is, and its columns."""
    from results.metrics import SCHEMA, metrics_frame
    from results.schema import SCHEMAS

    made = {**dict(frames.all()), SCHEMA.name: metrics_frame(frames)}
    return [
        {
            "name": schema.name,
            "rows": made[schema.name].height,
            "row": schema.row,
            "columns": [asdict(column) for column in schema.columns],
        }
        for schema in (*SCHEMAS.values(), SCHEMA)
    ]


def _lines(found: list[dict[str, Any]]) -> list[str]:
    lines = []
    for frame in found:
        lines += [f"{frame['name']}: {frame['rows']} rows, each {frame['row']}"]
        rows = [(f"  {one['name']}", one["type"], one["unit"], one["doc"]) for one in frame["columns"]]
        lines += [*columns(rows), ""]
    return lines[:-1]

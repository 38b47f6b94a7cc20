"""`qodebase reproduce`: the same shape of work as a published run, and both sides' figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.support.console import Json, put, put_json, reporting, say
from qodebase.commands.support.layout import columns

if TYPE_CHECKING:
    from qodebase.commands.support.reproducing import Reproduction
    from results.reproduction import Row


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def reproduce(
        name: Annotated[
            str, typer.Argument(metavar="NAME", help="A published run; see --list.", show_default=False)
        ] = "",
        listing: Annotated[bool, typer.Option("--list", help="List the published runs, and stop.")] = False,
        scale: Annotated[float, typer.Option(help="The size of the work, as a part of the published one.")] = 1.0,
        repeats: Annotated[int, typer.Option(min=1, help="How many runs, each with another seed.")] = 1,
        model: Annotated[
            str,
            typer.Option(metavar="NAME", help="Who is asked, where models are.", show_default="outline, or scripted"),
        ] = "",
        repo: Annotated[
            list[Path] | None,
            typer.Option(
                metavar="PATH", help="A repository to work on; repeatable.", show_default="what npm and Python have"
            ),
        ] = None,
        offline: Annotated[bool, typer.Option("--offline", help="Fetch no codebase; take made-up files.")] = False,
        out: Annotated[
            Path | None,
            typer.Option(
                "--out",
                "-o",
                metavar="PATH",
                help="Where results are kept; collision-dials, stopped with --keep, goes on there.",
                show_default="a new one in ./runs",
            ),
        ] = None,
        keep: Annotated[bool, typer.Option("--keep", help="Keep the folders of the runs there too.")] = False,
        record: Annotated[
            bool, typer.Option("--record", help="Keep full-size figures with the product (results/reproduced).")
        ] = False,
        json: Json = False,
    ) -> None:
        """Do the work of a published run here, and set the figures side by side.

        A row a figure: published, here, their ratio, and the 95% interval over the repeats (below five their range).
        What differs from the published run is listed: the machine, the model, what is made up, what is simulated.
        """
        from qodebase.commands.support.reproducing import BadReproduction, reproduce
        from results.reproduced_runs import record as kept

        if listing or not name:
            put_json({"runs": list_of()}) if json else put("\n".join(_listed()))
            return
        if record and scale != 1:
            raise BadReproduction("only figures of the full size are recorded", hint="Leave --scale or --record.")
        found = reproduce(
            name,
            scale=scale,
            repeats=repeats,
            model=model,
            repositories=repo or (),
            offline=offline,
            out=out,
            keep=keep,
            say=say,
        )
        put_json(found.as_dict()) if json else put("\n".join(lines_of(found)))
        if record:
            say(f"recorded in {kept(name, found.as_dict())}")
        say(f"kept in {found.folder}")


def list_of() -> list[dict[str, Any]]:
    """Return the published runs as plain data, with why one cannot be reproduced, and when one was recorded."""
    from dataclasses import asdict

    from qodebase.commands.support.reproducing import reproducible_names
    from results.published_runs import published_names, published_run
    from results.reproduced_runs import reproduced_run

    can = reproducible_names()
    return [
        {
            **asdict(published_run(name)),
            "reproducible": name in can,
            "recorded": reproduced_run(name),
        }
        for name in published_names()
    ]


def lines_of(found: Reproduction) -> list[str]:
    """Return a reproduction as a person reads it."""
    scaled = found.scale != 1
    head = ("", "published", "here", "ratio", *(("at this size",) if scaled else ()), "interval", "runs", "")
    rows = [head, *(_cells(row, scaled=scaled) for row in found.rows)]
    audit = {None: "", True: "audit: clean", False: "audit: FINDINGS (see the runs with --keep)"}[found.verified]
    clock = "the clock is simulated: seconds and minutes are virtual" if found.simulated else ""
    return [
        f"{found.published.name}: {found.published.work}",
        f"published: {found.published.source}",
        "",
        *columns(rows, right=range(1, len(head) - 1)),
        "",
        *(line for line in (audit, clock) if line),
        "what differs:",
        *(f"  {word}" for word in found.differs),
        *dict.fromkeys(f"interval: {row.method}" for row in found.rows if row.n),
    ]


def _cells(row: Row, *, scaled: bool) -> tuple[str, ...]:
    unit = "" if row.unit == "1" else f" ({row.unit})"
    here = row.why if row.here is None else ""
    bounds = "" if row.low is None or row.high is None else f"{row.low:.4g} to {row.high:.4g}"
    at_scale = (_number(row.ratio_at_scale),) if scaled else ()
    shown = (f"{row.published:g}", _number(row.here), _number(row.ratio), *at_scale, bounds, str(row.n), here)
    return (f"{row.figure}{unit}", *shown)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e9 else f"{value:.4g}"


def _listed() -> list[str]:
    rows = []
    for run in list_of():
        state = "" if run["reproducible"] else f"not yet: {run['missing']}"
        if run["recorded"]:
            state = f"recorded: {run['recorded']['command']}"
        rows.append((run["name"], run["work"] if not state else f"{run['work']} [{state}]"))
    return columns(rows)

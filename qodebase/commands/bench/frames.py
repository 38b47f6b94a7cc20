"""`qodebase bench frames`: how long the frames of a long run take, and how much memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.bench.support.space import space_in
from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, reporting, say

SYNTHETIC = (
    "The journal is made up: intents with one or two model calls, trains of 14, a collision at a shared path each, "
    "some redone by a merge or a model; there is no repository. Reading and computing are real."
)


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=f"Make all frames and metrics of a run with many events, with no cache.\n\n{SYNTHETIC}")
    @reporting
    def frames(
        events: Annotated[int, typer.Option(min=1000, help="Events of the journal.")] = 1_000_000,
        seed: Annotated[int, typer.Option(help="Which events.")] = 1,
        folder: Annotated[Path | None, typer.Option(metavar="PATH", help="Where to work; made and removed.")] = None,
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support import frames_side
        from qodebase.commands.bench.support.long_run import write_run

        with space_in(folder) as space:
            say(f"writing {events} events")
            run = write_run(space / "run", events_wanted=events, seed=seed)
            answer = frames_side.measure(run.root)
        return tell({"events": events, **answer, "synthetic": SYNTHETIC}, json=json, check=check)

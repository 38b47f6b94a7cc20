"""`qodebase bench crash`: kill a landing process at random moments and look for anything lost or doubled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.bench.support.space import space_in
from qodebase.commands.bench.support.telling import put_figures
from qodebase.commands.support.console import Json, put, reporting, say

_EVERY = 20


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command()
    @reporting
    def crash(
        kills: Annotated[int, typer.Option(min=1, help="How many processes to kill.")] = 200,
        seed: Annotated[int, typer.Option(help="Which moments.")] = 11,
        folder: Annotated[Path | None, typer.Option(metavar="PATH", help="Where to work; made and removed.")] = None,
        json: Json = False,
    ) -> int:
        """Kill a landing process at random moments, and check the repository after each.

        What lands is synthetic (small files, three a step); the processes, the kills, git and the disk are real.
        Checked each time: nothing that was reported is missing, nothing landed twice, each commit has its note and each
        note its commit, no temporary file is left, the tree is right, `git fsck --strict` finds nothing. The first
        fault ends the bench with 1.
        """
        from qodebase.commands.bench.support import crashes

        with space_in(folder) as space:
            path = crashes.make_repository(space / "main.git")
            for tally in crashes.killed(path, count=kills, seed=seed, durable=True):
                if tally.kills % _EVERY == 0:
                    say(f"{tally.kills} kills, {tally.landed} landed, nothing lost or doubled")
        figures = crashes.figures(tally)
        if json:
            put_figures(figures)
        else:
            put("\n".join(f"{name:12}  {value}" for name, value in figures.items()))
        return 0

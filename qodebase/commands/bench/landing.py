"""`qodebase bench landing`: the trunk against plain git, with the same changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.bench.support.space import space_in
from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, reporting, say
from qodebase.errors import QodebaseError

_FILES = 40_640
_CHANGES = 29_890
_INDEX_CHANGES = 5000
SYNTHETIC = (
    "Everything is synthetic and seeded: files of made-up code lines (log-normal sizes, median 3.5 kB, mean about "
    "7 kB, compressible about 4:1), 10 files a folder, 3 folders deep; a change replaces up to 3 lines of one "
    "file by 3 to 12 new ones; notes are records of made-up values. Landing, git, disk and times are real."
)


class BadWorkload(QodebaseError):
    """Work that the bench cannot make."""


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=_help())
    @reporting
    def landing(
        files: Annotated[int, typer.Option(min=1, help="Files of the repository.")] = _FILES,
        changes: Annotated[int | None, typer.Option(min=1, help="Changes to land.", show_default=str(_CHANGES))] = None,
        batch: Annotated[int, typer.Option(min=1, help="The most changes that land in one durable step.")] = 1000,
        workload: Annotated[str, typer.Option(metavar="spread|index", help="One file each, or also one index.")] = (
            "spread"
        ),
        repeats: Annotated[int, typer.Option(min=1, help="Runs of each side, in turn; medians count.")] = 3,
        brief: Annotated[
            bool, typer.Option("--brief", help="Only the trunk and fast-import, in turn: for many repeats.")
        ] = False,
        scale: Annotated[bool, typer.Option("--scale", help="Cost of a landing at 4,064 to 406,400 files.")] = False,
        seed: Annotated[int, typer.Option(help="Which files and changes.")] = 1,
        folder: Annotated[Path | None, typer.Option(metavar="PATH", help="Where to work; made and removed.")] = None,
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support import contest, duel, growth
        from qodebase.commands.bench.support.workload import INDEX_MOST, Kind

        if workload not in tuple(Kind):
            raise BadWorkload(f"there is no workload {workload!r}", hint="It is `spread` or `index`.")
        kind = Kind(workload)
        count = changes or (_CHANGES if kind is Kind.SPREAD else _INDEX_CHANGES)
        if kind is Kind.INDEX and count > INDEX_MOST:
            raise BadWorkload(
                f"one index and {count} changes make a stream too large for fast-import",
                hint=f"Take --changes {INDEX_MOST} at most: one index file costs the square of its changes.",
            )
        with space_in(folder) as space:
            if scale:
                say("the same changes at three sizes of the repository; this takes some minutes")
                answer = growth.measure(space, changes=min(count, growth.CHANGES), batch=batch, seed=seed)
            else:
                say(f"{count} changes on {files} files, {repeats} times each side; this takes some minutes")
                sides = duel.measure if brief else contest.measure
                answer = sides(space, files=files, changes=count, kind=kind, batch=batch, repeats=repeats, seed=seed)
        return tell({**answer, "synthetic": SYNTHETIC}, json=json, check=check)


def _help() -> str:
    return (
        "Land the same changes through the trunk, through one unsynced `git fast-import` stream with notes, and 200 of "
        "them through a loop of plumbing commands, in turn.\n\n" + SYNTHETIC + " zlib's level is git's own default "
        "on both sides; the trunk stores trees, short deltas and other short objects uncompressed."
    )

"""`qodebase bench throughput`: ten thousand agents with cached answers, as in the published run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.bench.support.space import space_in
from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, reporting, say

_WORKERS = 10_000
_FILES = 40_640
SYNTHETIC = (
    "Files and answers are synthetic and seeded: made-up JavaScript, every file different, with the sizes of "
    "monaco-editor's esm/vs (median 4.5 kB, mean 10 kB); no language model is asked. In the published proportion 73.5% "
    "of the files have an answer in a warm cache, of the others half are documented and half have none; filling the "
    "cache is not counted. Files are not parsed beforehand, so prompts do not say who uses a file, and there is no "
    "index. Agents, journal, lanes, landing, notes, git, disk and times are real."
)


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=_help())
    @reporting
    def throughput(
        workers: Annotated[int, typer.Option("--workers", "-w", min=1, help="How many agents.")] = _WORKERS,
        files: Annotated[int, typer.Option(min=20, help="Files of the repository.")] = _FILES,
        seed: Annotated[int, typer.Option(help="Which files and answers.")] = 1,
        folder: Annotated[Path | None, typer.Option(metavar="PATH", help="Where to work; made and removed.")] = None,
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support import throughput_figures

        say(f"{files} files and {workers} agents; making the files takes about as long as the run")
        with space_in(folder) as space:
            answer = throughput_figures.measure(space, files=files, workers=workers, seed=seed)
        return tell({**answer, "synthetic": SYNTHETIC}, json=json, check=check)


def _help() -> str:
    return (
        "Document many files with many agents and cached answers, audit the run, and write the same commits, without "
        "their notes, with one unsynced `git fast-import` stream beside it.\n\n" + SYNTHETIC
    )

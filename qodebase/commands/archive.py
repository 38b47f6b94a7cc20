"""`qodebase archive`: a run in one file, to keep, to give away, and to run again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def archive(
        run: RunName,
        file: Annotated[Path, typer.Argument(metavar="FILE", help="What to write: .tar.gz, .tgz, .tar.xz or .tar.")],
        no_prompts: Annotated[
            bool,
            typer.Option("--no-prompts", help="Leave out the texts of prompts; answers and changes stay."),
        ] = False,
        json: Json = False,
    ) -> None:
        """Write a run into one file: its folder, its repository as a git bundle, its environment.

        `qodebase rerun FILE` repeats it from the recorded answers, also on another machine. A file that holds a key of
        the environment is refused. The same run gives the same bytes.
        """
        from qodebase.commands.support.archiving import archive_run
        from qodebase.commands.support.opening import find_run

        archived = archive_run(find_run(run), file, prompts=not no_prompts)
        if json:
            put_json(archived)
        else:
            put(f"{file}: {archived['bytes']:,} bytes, tree {archived['tree']}, {archived['files']} files")
            put(f"run it again: qodebase rerun {shlex.quote(str(file))}")

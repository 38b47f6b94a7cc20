"""`qodebase rerun`: an archived run once more, from its recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, put, put_json, reporting, say
from qodebase.commands.support.layout import harmless, some

if TYPE_CHECKING:
    from qodebase.commands.support.rerunning import Rerun


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def rerun(
        file: Annotated[Path, typer.Argument(metavar="FILE", help="What `qodebase archive` wrote.")],
        out: Annotated[
            Path | None,
            typer.Option(
                "--out", "-o", metavar="PATH", help="The new run's folder.", show_default="a new one in ./runs"
            ),
        ] = None,
        job: Annotated[
            str, typer.Option("--job", metavar="FILE.py", help="The job, where it is a file of its own.")
        ] = "",
        unsafe_checks: Annotated[
            bool, typer.Option("--unsafe-checks", help="Run the job's checks without a sandbox, as you.")
        ] = False,
        json: Json = False,
    ) -> int:
        """Repeat an archived run from its recorded answers, and compare main's trees.

        No model is asked. Rules, checks and landing happen again; where the order of landings matters they come in the
        recorded order. Exit code 1 where the trees differ; the paths and intents that do are named. Nothing that stands
        in an archive is run but checks, which the sandbox holds.
        """
        from qodebase.commands.run import new_folder
        from qodebase.commands.support.rerunning import rerun as again

        say(f"unpacking {file}")
        found = again(
            file,
            out or new_folder("rerun", Path(file.name.partition(".")[0])),
            numbered=out is None,
            job_file=job,
            unsafe_checks=unsafe_checks,
        )
        put_json(found.as_dict()) if json else put(harmless("\n".join(_lines(found))))
        return 0 if found.equal else 1


def _lines(found: Rerun) -> list[str]:
    told = "the trees are equal" if found.equal else "THE TREES DIFFER"
    lines = [
        f"{told}: recorded {found.recorded_tree}, here {found.tree}",
        f"{found.landed} intents landed again in {found.seconds:.1f} s, in {found.folder}",
    ]
    if not found.in_order:
        lines.append("the recorded order of landings could not be kept to the end")
    if found.foreign:
        lines.append(f"{found.foreign} commits of people on the recorded main are not repeated")
    if found.paths:
        lines.append(f"paths: {some([f'{how} {path}' for how, path in found.paths])}")
    if found.endings:
        lines.append(f"intents: {some([f'{intent} ({there}, here {here})' for intent, there, here in found.endings])}")
    if found.asked_otherwise:
        lines.append(f"asked in other words, and given the recorded answer: {some(found.asked_otherwise)}")
    if found.unanswered:
        lines.append(f"asked what the recorded run was not: {some(found.unanswered)}")
    return lines

"""`qodebase report`: one HTML page on one run or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.support.console import Json, put, put_json, reporting, say
from qodebase.errors import QodebaseError

_FILE = "report.html"


class NotWritten(QodebaseError):
    """A report whose file cannot be written."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def report(
        runs: Annotated[list[str], typer.Argument(metavar="RUN [RUN]...", help="Runs, or folders with runs in them.")],
        out: Annotated[
            Path | None,
            typer.Option(metavar="FILE", help="Where; else report.html in the run's folder, or here for several runs."),
        ] = None,
        open: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
        json: Json = False,
    ) -> None:
        """Write one HTML page on runs, which opens anywhere without a network.

        It has the figures, the ledger, plots with the data behind them, what collided, what was slow or dear, and the
        story of every intent; prompts and answers are not on it. Of several runs it says how they differ: those of
        equal settings are one side, and each side is compared with the first.
        """
        written = write_report(runs, out=out)
        for sentence in written.left_out[1:]:
            say(sentence)
        if json:
            put_json(asdict(written))
        else:
            put(written.report)
        if open:
            import webbrowser

            webbrowser.open(Path(written.report).as_uri())


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A report that was written.

    Attributes:
        report: the page's file.
        bytes: how large it is.
        runs: the names of its runs on the page.
        left_out: what is not on it, in sentences.
    """

    report: str
    bytes: int
    runs: list[str]
    left_out: list[str]


def write_report(names: Sequence[str], *, out: Path | None = None) -> Written:
    """Write the report on runs.

    Args:
        names: runs, or folders below which all runs are meant.
        out: the file; None: in the run's folder, or in the current one for several runs.

    Raises:
        NoRun: a name stands for neither.
        BadData: a run cannot be read.
        NotWritten: the file cannot be written.
    """
    from qodebase.commands.compare import runs_of
    from qodebase.commands.support.surroundings import surroundings
    from results.report.page import report

    folders = list({folder.root.resolve(): folder for name in names for folder in runs_of(name)}.values())
    path = out or (folders[0].root / _FILE if len(folders) == 1 else Path(_FILE))
    made = report(folders, kept=surroundings().cache_folder / "pages")
    try:
        path.write_text(made.html, encoding="utf-8")
    except OSError as error:
        raise NotWritten(f"{path} cannot be written: {error.strerror}", hint="Name another file: --out FILE.") from None
    return Written(
        report=str(path.resolve()),
        bytes=path.stat().st_size,
        runs=list(made.runs),
        left_out=list(made.left_out),
    )

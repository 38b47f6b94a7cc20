"""Where commands put frames: to stdout or into a file, as the user asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import say, to_output
from qodebase.commands.support.layout import harmless
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    import polars as pl

FORMATS = ("table", "csv", "json", "parquet")

FormatOption = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="table, csv, json or parquet; else by the name of --out.")
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to a file, not to stdout.")]


class BadFormat(QodebaseError):
    """A format that frames are not written in, or not there."""


def put_frame(frame: pl.DataFrame, *, format: str, out: Path | None) -> None:
    """Write a frame.

    Raises:
        BadFormat: there is no such format, or parquet would go to a terminal, or the file cannot be written.
    """
    from results.export import Format, written

    name = format or (out.suffix.removeprefix(".").lower() if out else "") or "table"
    if name not in FORMATS:
        raise BadFormat(f"no format {name!r}", hint=f"Give --format {', '.join(FORMATS)}.")
    if out is None and name == "parquet" and sys.stdout.isatty():
        raise BadFormat("parquet is not for terminals", hint="Give a file: --out FILE.parquet.")
    content = written(frame, Format(name))
    if out is None:
        _put(content, name)
        return
    try:
        out.write_bytes(content)
    except OSError as error:
        raise BadFormat(f"{out} cannot be written: {error.strerror}", hint="Give another file with --out.") from None
    say(f"{frame.height} rows in {out}")


def _put(content: bytes, name: str) -> None:
    if name == "table" or (name == "csv" and sys.stdout.isatty()):
        content = harmless(content.decode()).encode()
    with to_output():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()

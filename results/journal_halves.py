"""The tables of a long journal, its second part read in a process beside this one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from qodebase.children import command, environment, processors
from results.journal_tables import KINDS, Numbers, Tables, tables_of

if TYPE_CHECKING:
    import polars as pl

_WORTH_HALVING = 64 << 20
"""Bytes; starting a process takes as long as reading a few megabytes."""
_OWN_PART = 0.57
"""Of the bytes: the process beside this one has to start, and to tell what it read."""
_HELLO = b"tables\n"
"""Before all else: what starts with the user's Python may print as well."""
_LENGTH = 8


def journal_tables(journal: Path, numbers: Numbers) -> Tables:
    """Return the tables of a journal, as `tables_of`; of none, empty ones.

    Raises:
        BadData: it has a broken line.
    """
    size = journal.stat().st_size if journal.exists() else 0
    if not size:
        journal = Path(os.devnull)
    if size < _WORTH_HALVING or processors() < 2:
        return tables_of(journal, numbers)
    middle = _line_at(journal, int(size * _OWN_PART))
    with _beside(journal, middle, size) as answer:
        first = tables_of(journal, numbers, end=middle)
        place = sum(table.height for table in first.values())
        second = None if answer is None else _heard(answer, numbers, place)
    if second is None:
        # Whatever ails the process, a broken line for one, is found and said here.
        second = tables_of(journal, numbers, start=middle, end=size, place=place)
    return {kind: first[kind].vstack(second[kind]).rechunk() for kind in KINDS}


def _line_at(journal: Path, about: int) -> int:
    """Return where the first line behind a place begins."""
    with journal.open("rb") as lines:
        lines.seek(about)
        lines.readline()
        return lines.tell()


@contextmanager
def _beside(journal: Path, start: int, end: int) -> Iterator[IO[bytes] | None]:
    """Have some lines read in a process of their own, and yield where it says what it found; None for no process."""
    words = (*command(__name__), str(journal), str(start), str(end))
    try:
        process = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        yield None
        return
    with process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.kill()


def _heard(answer: IO[bytes], numbers: Numbers, place: int) -> Tables | None:
    """Return the tables that the process tells, with the numbers and places of this one; None for a broken answer."""
    import polars as pl

    if answer.read(len(_HELLO)) != _HELLO:
        return None
    frames = []
    for _ in range(1 + len(KINDS)):
        length = int.from_bytes(answer.read(_LENGTH))
        content = answer.read(length)
        if not length or len(content) < length:
            return None
        frames.append(pl.read_ipc(content))
    ids, *tables = frames
    known = pl.Series(list(map(numbers.__getitem__, ids["id"].to_list())), dtype=pl.Int64())
    return {
        kind: table.with_columns(place=table["place"] + place, intent=known.gather(table["intent"]))
        for kind, table in zip(KINDS, tables, strict=True)
    }


def _tell(journal: str, start: str, end: str) -> None:
    import polars as pl

    numbers = Numbers({None: 0})
    tables = tables_of(Path(journal), numbers, start=int(start), end=int(end))
    sys.stdout.buffer.write(_HELLO)
    for table in (pl.DataFrame({"id": pl.Series(list(numbers), dtype=pl.String())}), *tables.values()):
        _say(table)


def _say(table: pl.DataFrame) -> None:
    written = io.BytesIO()
    table.write_ipc(written)
    sys.stdout.buffer.write(written.tell().to_bytes(_LENGTH))
    sys.stdout.buffer.write(written.getbuffer())


if __name__ == "__main__":
    _tell(*sys.argv[1:])

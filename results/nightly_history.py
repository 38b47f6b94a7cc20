"""The nights before: JSON lines, keyed by the class of the machine and by what was measured."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qodebase.errors import QodebaseError

_FILE = "history.jsonl"
_GIB = 1 << 30


class NoHistory(QodebaseError):
    """A folder that no history can be read from or written to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What one night measured with one bench.

    Attributes:
        at: seconds since 1970.
        machine: its class; nights of other classes are not compared.
        words: the bench's command line; nights with other words are not compared.
        figures: those that later nights may be compared with.
        accepted: figures whose nights before this one do not count any more.
        hung: the bench did not end in the time that it should take.
    """

    at: float
    machine: str
    commit: str
    bench: str
    words: tuple[str, ...]
    figures: Mapping[str, float]
    accepted: tuple[str, ...] = ()
    hung: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The nights of a folder.

    Attributes:
        unreadable: lines that are no night: a torn end, or somebody's edit.
    """

    file: Path
    nights: tuple[Night, ...] = ()
    unreadable: int = field(default=0)

    def values(self, machine: str, bench: str, words: Sequence[str], figure: str) -> list[float]:
        """Return a figure's values on a class of machine, oldest first, from the night on that was last accepted."""
        found: list[float] = []
        for night in self._alike(machine, bench, words):
            if figure in night.accepted:
                found.clear()
            if figure in night.figures:
                found.append(night.figures[figure])
        return found

    def hung(self, machine: str, bench: str, words: Sequence[str]) -> int:
        """Return in how many nights a bench has hung since it last came to its end."""
        hung = 0
        for night in self._alike(machine, bench, words):
            hung = hung + 1 if night.hung else 0
        return hung

    def _alike(self, machine: str, bench: str, words: Sequence[str]) -> Iterator[Night]:
        for night in self.nights:
            if (night.machine, night.bench, night.words) == (machine, bench, tuple(words)):
                yield night

    def add(self, nights: Sequence[Night]) -> None:
        """Write more nights behind the others, synced.

        Raises:
            NoHistory: the folder cannot be written to.
        """
        if not nights:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with open(self.file, "ab+") as out:
                torn = out.tell() > 0 and not self.file.read_bytes().endswith(b"\n")
                lines = [json.dumps(_plain(night), ensure_ascii=False) for night in nights]
                out.write(("\n" * torn + "".join(f"{line}\n" for line in lines)).encode())
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise NoHistory(f"{self.file}: {error.strerror}", hint="Give a folder of yours with --baseline.") from None


def read_history(folder: Path) -> History:
    """Read the nights of a folder; one that is not there has none.

    Raises:
        NoHistory: it cannot be read.
    """
    file = folder / _FILE
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return History(file=file)
    except OSError as error:
        raise NoHistory(f"{file}: {error.strerror}", hint="Give a folder of yours with --baseline.") from None
    nights = [_night(line) for line in lines if line.strip()]
    return History(file=file, nights=tuple(one for one in nights if one), unreadable=sum(one is None for one in nights))


def machine_class(environment: Mapping[str, Any]) -> str:
    """Return which machines a night's figures may be compared with: processor, cores, memory and Python alike.

    Memory counts in powers of two, for what a system leaves free differs by a little.

    >>> machine_class({"cpu": "A", "cpus": 2, "memory_bytes": 16_700_000_000, "python": "CPython 3.11.7"})
    'A, 2 cores, 16 GiB, CPython 3.11'
    """
    memory = 2 ** round(math.log2(max(environment["memory_bytes"] / _GIB, 0.5)))
    python = ".".join(environment["python"].split(".")[:2])
    return f"{environment['cpu'] or 'unknown processor'}, {environment['cpus']} cores, {memory:g} GiB, {python}"


def _plain(night: Night) -> dict[str, Any]:
    return {name: getattr(night, name) for name in Night.__dataclass_fields__}


def _night(line: bytes) -> Night | None:
    from qodebase.codec import NotDecoded, json_decoder

    try:
        return json_decoder(Night).decode(line)  # type: ignore[no-any-return]
    except (NotDecoded, ValueError):
        return None

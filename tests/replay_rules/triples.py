"""Random triples of a base and two edited sides, made of real files, as agents and people edit them."""

from __future__ import annotations

import argparse
import random
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).parent / "sources"


class Triple(NamedTuple):
    """Three versions of a path."""

    path: bytes
    base: bytes
    main: bytes
    change: bytes


def real_files() -> list[tuple[bytes, bytes]]:
    """Return names and contents: two modules of Python's own library, and the files beside this one."""
    found = [(Path(module.__file__ or "").name, module.__file__ or "") for module in (argparse, textwrap)]
    found += [(source.name, str(source)) for source in sorted(SOURCES.iterdir())]
    return [(name.encode(), Path(file).read_bytes()) for name, file in found]


def triples(seed: int, count: int, files: list[tuple[bytes, bytes]]) -> Iterator[Triple]:
    """Yield so many triples; the same seed gives the same."""
    dice = random.Random(seed)
    for _ in range(count):
        path, content = dice.choice(files)
        lines = content.splitlines(keepends=True)
        size = dice.randrange(20, 300)
        start = dice.choice([0, dice.randrange(max(1, len(lines) - size))])
        part = lines[start : start + size]
        shape = dice.random()
        if shape < 0.1:
            part = [line.replace(b"\n", b"\r\n") for line in part]
        elif shape < 0.15:
            part = [line.replace(b"e", b"\xe9") for line in part]
        sides = [edited(dice, part) for _ in range(2)]
        finish = [b"".join(side) for side in (part, *sides)]
        if shape > 0.9:
            finish = [one.removesuffix(b"\n") if dice.random() < 0.5 else one for one in finish]
        if shape > 0.97:
            finish[2] = b"\xef\xbb\xbf" + finish[2]
        yield Triple(path, *finish)


def edited(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Return the lines after one to four edits."""
    out = list(lines)
    for _ in range(dice.randrange(1, 5)):
        at = dice.randrange(len(out) + 1)
        length = dice.randrange(1, 6)
        match dice.randrange(5):
            case 0:
                out[at : at + 1] = [line.replace(b"a", b"o", 1) for line in out[at : at + 1]]
            case 1:
                out[at : at + length] = []
            case 2:
                out[at:at] = out[at - length : at] if at > length else [b"new %d\n" % dice.randrange(9)]
            case 3:
                source = dice.randrange(len(out) + 1)
                out[at:at] = out[source : source + length]
            case _:
                out[at:at] = [b"added %d\n" % dice.randrange(4)] * dice.randrange(1, 3)
    return out

"""Faults and doubled keys of data files: JSON, TOML and YAML."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

_YAML_KEY = re.compile(
    rb"""(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)"""
    rb"""(?P<key>"[^"]*"|'[^']*'|[^\s#"'\[\]{},&*!|>%@`-](?:[^ #]|[ ]++)*?)[ ]*:(?=\s|\Z)"""
)


class DataKeys(NamedTuple):
    """How many faults a file has, and how often each key stands that one mapping holds more than once."""

    faults: int
    doubled: Counter[bytes]


def reader_of(path: bytes) -> Callable[[bytes], DataKeys] | None:
    """Return what reads a data file, by its suffix, or None."""
    return _READERS.get(path.rpartition(b".")[2].lower())


def _json(content: bytes) -> DataKeys:
    doubled: Counter[bytes] = Counter()

    def keep(pairs: list[tuple[str, Any]]) -> None:
        counts = Counter(key for key, _ in pairs)
        doubled.update({key.encode(errors="replace"): count for key, count in counts.items() if count > 1})

    try:
        json.loads(content.decode("utf-8-sig"), object_pairs_hook=keep)
    except (ValueError, RecursionError):
        return DataKeys(1, Counter())
    return DataKeys(0, doubled)


def _toml(content: bytes) -> DataKeys:
    try:
        tomllib.loads(content.decode())
    except (ValueError, RecursionError):
        return DataKeys(1, Counter())
    return DataKeys(0, Counter())


def _yaml(content: bytes) -> DataKeys:
    """Count keys by their indentation; a look at the lines, for a parse of YAML takes a hundred times as long."""
    counts: Counter[tuple[bytes, ...]] = Counter()
    around: list[tuple[int, bytes]] = []
    for number, line in enumerate(content.split(b"\n")):
        if line.startswith((b"---", b"...")):
            around = [(-1, b"%d" % number)]
            continue
        found = _YAML_KEY.match(line)
        dash = found.end("indent") if found and found["dashes"] else None
        if found is None:
            stripped = line.lstrip(b" ")
            if stripped.startswith(b"- ") or stripped.rstrip() == b"-":
                at = len(line) - len(stripped)
                around = [*(one for one in around if one[0] < at), (at, b"- %d" % number)]
            continue
        column = found.start("key")
        around = [one for one in around if one[0] < (column if dash is None else dash)]
        if dash is not None:
            around.append((dash, b"- %d" % number))
        counts[(*(key for _, key in around), found["key"])] += 1
        around.append((column, found["key"]))
    doubled: Counter[bytes] = Counter()
    for path, count in counts.items():
        if count > 1:
            doubled[path[-1]] += count
    return DataKeys(0, doubled)


_READERS: dict[bytes, Callable[[bytes], DataKeys]] = {b"json": _json, b"toml": _toml, b"yaml": _yaml, b"yml": _yaml}

"""Faults and doubled keys of data files: JSON, TOML, YAML, INI, lists of requirements, and what others read."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from replay_rules.markup_keys import SUFFIXES, xml_keys
from replay_rules.text_keys import text_reader

_YAML_KEY = re.compile(
    rb"""(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)"""
    rb"""(?P<key>"[^"]*"|'[^']*'|[^\s#"'\[\]{},&*!|>%@`-](?:[^ #]|[ ]++)*?)[ ]*:(?=\s|\Z)"""
)


_YAML_SETTING = re.compile(rb"""[ ]*-[ ]+["']?([A-Za-z_]\w*)=""")
"""An item of an environment's list."""

_INI_SECTION = re.compile(rb"\[([^\]\r\n]+)\]")
_INI_KEY = re.compile(rb"([^\s#;=:\[][^=:\r\n]*?)[ \t]*[=:]")
_TALL = (b'"""', b"'''")
_REQUIRED = re.compile(rb"([A-Za-z0-9][A-Za-z0-9._-]*)[^;#\r\n]*(;[^#\r\n]*)?")


Place = tuple[tuple[bytes, ...], bytes]
"""The keys around an entry, those of a list's items not told apart, and the entry: its key with its value."""


class DataKeys(NamedTuple):
    """How many faults a file has, how often what one mapping or list doubles stands, and where which value stands."""

    faults: int
    doubled: Counter[bytes]
    places: Mapping[Place, int] = MappingProxyType({})


def reader_of(path: bytes) -> Callable[[bytes], DataKeys] | None:
    """Return what reads a data file, by its name or suffix, or None."""
    name = path.rpartition(b"/")[2].lower()
    if name.startswith(b"requirements") and name.endswith(b".txt"):
        return _requirements
    suffix = name.rpartition(b".")[2]
    if suffix in SUFFIXES:
        return lambda content: DataKeys(*xml_keys(content))
    doubled = text_reader(name)
    return _READERS.get(suffix) if doubled is None else lambda content: DataKeys(0, doubled(content))


def _json(content: bytes) -> DataKeys:
    doubled: Counter[bytes] = Counter()

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            doubled.update({key.encode(errors="replace"): count for key, count in counts.items() if count > 1})
        return found

    try:
        value = json.loads(content.decode("utf-8-sig"), object_pairs_hook=keep)
    except (ValueError, RecursionError):
        return DataKeys(1, Counter())
    return DataKeys(0, doubled + _doubled_texts(value), _places(value))


def _toml(content: bytes) -> DataKeys:
    try:
        value = tomllib.loads(content.decode())
    except (ValueError, RecursionError):
        return DataKeys(1, Counter())
    return DataKeys(0, _doubled_texts(value), _places(value, tall=any(mark in content for mark in _TALL)))


def _places(value: Any, *, tall: bool = False) -> Counter[Place]:
    """Count what stands where; a text of several lines, which both sides may edit, is known by its key alone."""
    found: Counter[Place] = Counter()
    pending: list[tuple[tuple[bytes, ...], bytes, Any]] = [((), b"", value)]
    while pending:
        around, name, here = pending.pop()
        inside = (*around, name)
        if isinstance(here, dict):
            pending += ((inside, key.encode(errors="replace"), item) for key, item in here.items())
        elif isinstance(here, list):
            pending += ((inside, b"-", item) for item in here)
        else:
            shown = "..." if tall and isinstance(here, str) and "\n" in here else repr(here)
            found[around, b"%s = %s" % (name, shown.encode(errors="replace"))] += 1
    return found


def _doubled_texts(value: Any) -> Counter[bytes]:
    """Count the texts that one list holds more than once; numbers may well repeat."""
    doubled: Counter[bytes] = Counter()
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            pending += here.values()
        elif isinstance(here, list):
            pending += (item for item in here if isinstance(item, dict | list))
            texts = Counter(item for item in here if isinstance(item, str))
            if len(texts) < len(here):
                doubled.update({text.encode(errors="replace"): count for text, count in texts.items() if count > 1})
    return doubled


def _yaml(content: bytes) -> DataKeys:
    """Count keys, and the items of lists, by their indentation.

    It is a look at the lines, for a parse of YAML takes a hundred times as long.
    """
    counts: Counter[tuple[bytes, ...]] = Counter()
    settings: Counter[tuple[bytes, ...]] = Counter()
    places: Counter[Place] = Counter()
    around: list[tuple[int, bytes]] = []
    for number, line in enumerate(content.split(b"\n")):
        if text := line.strip():
            at = len(line) - len(line.lstrip(b" "))
            places[tuple(_unnumbered(key) for left, key in around if left < at), text] += text[:1] != b"#"
        if line.startswith((b"---", b"...")):
            around = [(-1, b"%d" % number)]
            continue
        found = _YAML_KEY.match(line)
        dash = found.end("indent") if found and found["dashes"] else None
        if found is None:
            stripped = line.lstrip(b" ")
            if stripped.startswith(b"- ") or stripped.rstrip() == b"-":
                at = len(line) - len(stripped)
                around = [one for one in around if one[0] < at]
                keys = tuple(key for _, key in around)
                counts[(*keys, stripped.rstrip())] += stripped.rstrip() != b"-"
                if setting := _YAML_SETTING.match(line):
                    settings[(*keys, setting[1])] += 1
                around.append((at, b"- %d" % number))
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
    # Where a name has several values already, as alternatives, one more is none too many.
    doubled.update({path[-1] + b"=": 2 for path, count in settings.items() if count > 1})
    return DataKeys(0, doubled, places)


def _unnumbered(key: bytes) -> bytes:
    return b"-" if key[:2] == b"- " else key


def _ini(content: bytes) -> DataKeys:
    """Find options and sections that stand several times; some such files allow that, so how often is not counted."""
    counts: Counter[tuple[bytes, bytes]] = Counter()
    places: Counter[Place] = Counter()
    section = b""
    for line in content.split(b"\n"):
        if found := _INI_SECTION.match(line):
            section = found[1].strip()
            counts[section, b""] += 1
        elif found := _INI_KEY.match(line):
            counts[section, found[1].lower()] += 1
            places[(section,), line.strip()] += 1
    doubled = Counter({key or section: 2 for (section, key), count in counts.items() if count > 1})
    return DataKeys(0, doubled, places)


def _requirements(content: bytes) -> DataKeys:
    counts: Counter[bytes] = Counter()
    for line in content.split(b"\n"):
        if found := _REQUIRED.match(line):
            package = re.sub(rb"[-_.]+", b"-", found[1]).lower()
            counts[package + b"".join((found[2] or b"").split())] += 1
    return DataKeys(0, Counter({key: 2 for key, count in counts.items() if count > 1}))


_READERS: dict[bytes, Callable[[bytes], DataKeys]] = {
    b"json": _json,
    b"toml": _toml,
    b"yaml": _yaml,
    b"yml": _yaml,
    b"ini": _ini,
    b"cfg": _ini,
}

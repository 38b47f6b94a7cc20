"""Copies of a run's attempts without the texts of prompts, in which every reference still holds."""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.segments import Ref

if TYPE_CHECKING:
    from qodebase.runs import RunFolder

_HEAD = struct.Struct("<4sII")
_EMPTY = zlib.compress(b"[]")


def without_prompts(folder: RunFolder, segments: Sequence[Path], space: Path) -> list[Path]:
    """Copy segments with an empty list of messages in the place of each prompt, and return the copies.

    A frame keeps its length: what is left of it is zeros, which no reader looks at.
    """
    from qodebase.events import Asked
    from qodebase.journal import read_events

    prompts: defaultdict[int, set[int]] = defaultdict(set)
    for event in read_events(folder.journal) if folder.journal.exists() else ():
        if isinstance(event, Asked) and event.ref:
            segment, offset = Ref.parse(event.ref)
            prompts[segment].add(offset)
    copies = []
    for file in segments:
        content = bytearray(file.read_bytes())
        for offset in prompts[int(file.stem)]:
            _blank(content, offset)
        copy = space / file.name
        copy.write_bytes(content)
        copies.append(copy)
    return copies


def _blank(content: bytearray, offset: int) -> None:
    magic, length, _ = _HEAD.unpack_from(content, offset)
    packed = _EMPTY[:length].ljust(length, b"\0")
    _HEAD.pack_into(content, offset, magic, length, zlib.crc32(packed))
    start = offset + _HEAD.size
    content[start : start + length] = packed

"""Find contents that packs of the repository hold whole, as bytes that another pack can take over.

A pack must hold the base of each of its deltas (gitformat-pack(5)), so a new content can only be written as a delta on
an old one if the old one comes along. Taking over its entry costs a copy; compressing the new content costs ten times
as much.
"""

from __future__ import annotations

import mmap
import struct
import sys
import zlib
from array import array
from bisect import bisect_right
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from qodebase.trunk.alternates import object_folders
from qodebase.trunk.objects import TREE

_MOST_PACKS = 4
_MOST_SIZE = 16 << 20
_NAMES = 8 + 1024
_FAR = 0x80000000
_MOST_SORTED = 1 << 20
_SORTED_A_READ, _SORTED_A_KIB = 36, 12
"""Reading a content costs about as much as sorting the borders of so many entries, and of more for each KiB of it."""
_HEAD = 10
"""More bytes than the head of an entry whose content is not too large."""


_number = struct.Struct(">L").unpack_from
_far_number = struct.Struct(">Q").unpack_from


class Copied(NamedTuple):
    """The entry of a pack that holds an object whole, and its checksum."""

    entry: bytes
    crc: int


class Whole(NamedTuple):
    """A content, and the entry that holds it in some pack."""

    content: bytes
    copied: Copied


class Wholes:
    """The largest packs of a repository, looked into for one content after another; for one thread.

    A pack that is removed meanwhile stays readable here, and what it says stays true.
    """

    def __init__(self, objects: Path) -> None:
        self._objects = objects
        self._packs: list[_Pack] | None = None

    def find(self, id: bytes, kind: int) -> Whole | None:
        """Return an object of a kind, or None where no large pack holds it whole or it is too large to copy."""
        pack, place = self._place(id)
        return None if pack is None else pack.whole(place, kind)

    def copied(self, id: bytes, kind: int, size: int) -> Copied | None:
        """Return the entry of an object whose content the caller has, ``size`` bytes of it; None as for `find`."""
        pack, place = self._place(id)
        if pack is None:
            return None
        found = pack.copied(place, kind, size)
        if found is None:
            whole = pack.whole(place, kind)
            found = None if whole is None else whole.copied
        return found

    def _place(self, id: bytes) -> tuple[_Pack | None, int]:
        if self._packs is None:
            self._packs = self._opened()
        for pack in self._packs:
            place = pack.place(id)
            if place >= 0:
                return pack, place
        return None, -1

    def close(self) -> None:
        """Close the packs; they are looked up again when the next content is asked for."""
        for pack in self._packs or ():
            pack.close()
        self._packs = None

    def _opened(self) -> list[_Pack]:
        found = []
        for folder in object_folders(self._objects):
            for path in (folder / "pack").glob("*.pack"):
                with suppress(FileNotFoundError):  # Another process joins packs meanwhile.
                    found.append((path.stat().st_size, path))
        packs = []
        for _, path in sorted(found, reverse=True)[:_MOST_PACKS]:
            # Removed just now, or of a kind that is not read here; a copy is only a short cut.
            with suppress(OSError, ValueError):
                packs.append(_Pack(path))
        return packs


class _Pack:
    def __init__(self, path: Path) -> None:
        with open(path, "rb") as pack, open(path.with_suffix(".idx"), "rb") as index:
            self._pack = mmap.mmap(pack.fileno(), 0, access=mmap.ACCESS_READ)
            self._index = mmap.mmap(index.fileno(), 0, access=mmap.ACCESS_READ)
        if self._index[:8] != b"\xfftOc\0\0\0\2" or self._index[-40:-20] != self._pack[-20:]:
            self.close()
            raise ValueError(f"{path} has no index of version 2")
        self._borders: array[int] | None = None
        self._worth = 0
        self._fan: tuple[int, ...] = (0, *struct.unpack(">256L", self._index[8:_NAMES]))

    def place(self, id: bytes) -> int:
        """Return the place of an object in the index; -1 for none."""
        index = self._index
        low, high = self._fan[id[0]], self._fan[id[0] + 1]
        while low < high:
            middle = (low + high) // 2
            at = _NAMES + 20 * middle
            here = index[at : at + 20]
            if here == id:
                return middle
            if here < id:
                low = middle + 1
            else:
                high = middle
        return -1

    def whole(self, place: int, wanted: int) -> Whole | None:
        """Return the object at a place of the index, if it is no delta, not too large and undamaged."""
        offset, crc = self._found(place)
        kind, size, head = _parsed(self._pack[offset : offset + _HEAD])
        if kind != wanted or size > _MOST_SIZE:
            return None
        # zlib adds at most a few bytes for each 16 KiB, and 11 in all; text shrinks to less than half, ids do not.
        greatest = size + size // 1000 + 64
        for most in (greatest,) if kind == TREE else (size // 2 + 64, greatest):
            raw = self._pack[offset : offset + head + most]
            stream = zlib.decompressobj()
            try:
                content = stream.decompress(raw[head:])
            except zlib.error:
                return None
            if stream.eof:
                break
        entry = raw[: len(raw) - len(stream.unused_data)]
        if not stream.eof or len(content) != size or crc32(entry) != crc:
            return None
        return Whole(content, Copied(entry, crc))

    def copied(self, place: int, wanted: int, wanted_size: int) -> Copied | None:
        """Return the entry at a place of the index without reading what is in it; None where `whole` has to."""
        offset, crc = self._found(place)
        kind, size, _ = _parsed(self._pack[offset : offset + _HEAD])
        self._worth += _SORTED_A_READ + _SORTED_A_KIB * (size >> 10)
        ends = self._ends() if self._worth >= self._fan[256] else ()
        if kind != wanted or size != wanted_size or size > _MOST_SIZE or not ends:
            return None
        entry = self._pack[offset : ends[bisect_right(ends, offset)]]
        return Copied(entry, crc) if crc32(entry) == crc else None

    def _found(self, place: int) -> tuple[int, int]:
        """Return offset and checksum of the entry at a place of the index."""
        count = self._fan[256]
        index = self._index
        (crc,) = _number(index, _NAMES + 20 * count + 4 * place)
        (offset,) = _number(index, _NAMES + 24 * count + 4 * place)
        if offset >= _FAR:
            (offset,) = _far_number(index, _NAMES + 28 * count + 8 * (offset - _FAR))
        return offset, crc

    def _ends(self) -> array[int]:
        """Return where entries begin, and where the last one ends, in order; empty for a pack too large to sort."""
        if self._borders is None:
            count, size = self._fan[256], len(self._pack)
            self._borders = array("L")
            if count <= _MOST_SORTED and size < _FAR:
                start = _NAMES + 24 * count
                offsets = array("I", self._index[start : start + 4 * count])
                if sys.byteorder == "little":
                    offsets.byteswap()
                self._borders = array("L", (*sorted(offsets), size - 20))
        return self._borders

    def close(self) -> None:
        self._pack.close()
        self._index.close()


def _parsed(head: bytes) -> tuple[int, int, int]:
    """Return kind, size and the length of the head of a pack's entry."""
    first = head[0]
    kind, size = first >> 4 & 7, first & 15
    at, shift = 1, 4
    while head[at - 1] & 0x80:
        if at == len(head):
            return 0, 0, at
        size |= (head[at] & 0x7F) << shift
        at += 1
        shift += 7
    return kind, size, at

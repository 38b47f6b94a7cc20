"""Write the objects of one batch as one pack with its index (gitformat-pack(5), versions 2 of both).

An object that is said to follow from another of the same pack becomes a delta of the known splices; nothing is
searched. Chains stay within git's own bound of 50: after 24 short steps one delta leads from the last knot over all
of them at once, and after 25 knots the object is written whole.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol
from zlib import adler32, crc32

from qodebase.trunk.deltas import Splice, encode_delta, frame, pieces_of, splice_delta
from qodebase.trunk.files import Files
from qodebase.trunk.objects import TREE, sha1
from qodebase.trunk.placing import Packed, place_pack

SIGNATURE = b"PACK\0\0\0\2"
OFS_DELTA = 6
STEPS = 24
KNOTS = 25
_ENTRIES = 1024
_MOST_JOINED = 16 << 20
_SMALL = 4096
_STORED = 1024
LEAST_PATCHED = 96
"""A delta of a patch is at most half as long as a tree of this size."""
_FAR = 0x80000000
_BYTE = [bytes((number,)) for number in range(128)]
_STORED_HEAD = b"\x78\x01\x01"
_MOST_STORED = 0xFFFF
_LENGTHS = struct.Struct("<HH").pack
_ADLER = struct.Struct(">L").pack
_ROW = struct.Struct(">20sLQ")
"""An object's id, the checksum of its entry, and its offset; kept by the first byte of the id, as the index counts."""
_row = _ROW.pack


_Link = tuple[int, int, int, int, Sequence[Splice], "_Link | None"]
"""Where an object stands in its chain: offset, size, knots, steps, and the splices that lead to it from the link above
(none: it is a knot). A plain tuple, for a landing makes eight of them."""


Add = Callable[[int, bytes, bytes, bytes | None, Sequence[Splice]], None]
"""What puts an object into a pack as `Pack.add` does."""


class Ready(NamedTuple):
    """An object with its size, and the entry that it gets in a pack with the entry's checksum."""

    id: bytes
    size: int
    entry: bytes
    crc: int


class Pack(Protocol):
    """What collects objects for one pack: a `PackWriter`, or what stands for one in another process."""

    def __contains__(self, id: bytes | None) -> bool:
        """Return whether the pack gets an object."""
        ...

    def add(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Add an object once; ``splices`` lead to it from the object ``base`` if the pack gets that one."""
        ...

    def add_patched(self, id: bytes, size: int, base: bytes, place: int, patch: bytes) -> bool:
        """Add a tree that is the tree ``base`` but for 20 bytes at a place, and say whether; if not, `add` it."""
        ...

    def write(self, files: Files, folder: Path) -> Path:
        """Write pack and index as `place_pack` does; nothing is added after it."""
        ...


class PackWriter:
    """Collect objects in memory and write them as one pack.

    Trees, short deltas and contents as short as a commit or a note are stored as they are: ids and offsets do not
    shrink, and the rest is not worth the time that zlib takes for it.

    Args:
        level: zlib's, for contents written whole and for long deltas; -1 is git's own.
    """

    def __init__(self, *, level: int = -1) -> None:
        self.level = level
        self._chunks: list[bytes] = []
        self._at = 12
        self._rows: list[list[bytes]] = [[] for _ in range(256)]
        self._links: dict[bytes, _Link] = {}

    def __len__(self) -> int:
        return sum(map(len, self._rows))

    def __contains__(self, id: bytes | None) -> bool:
        return id in self._links

    def add(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Do as `Pack.add`."""
        links = self._links
        if id in links:
            return
        link = links.get(base) if base is not None else None
        if link is not None and len(splices) == 1 and link[3] < STEPS:
            # Nearly every tree comes this way.
            size = len(content)
            if 2 * len(splices[0][2]) > size:
                self._add_whole(kind, id, content)
                return
            delta = splice_delta(link[1], size, splices[0])
            if 2 * len(delta) <= size:
                at = self._at
                links[id] = (at, size, link[2], link[3] + 1, splices, link)
                self._emit_delta(id, delta, at - link[0])
                return
        elif link is not None and self._add_delta(link, id, content, splices):
            return
        self._add_whole(kind, id, content)

    def add_patched(self, id: bytes, size: int, base: bytes, place: int, patch: bytes) -> bool:
        """Do as `Pack.add_patched`; this way most objects come."""
        links = self._links
        if id in links:
            return True
        link = links.get(base)
        if link is None or link[3] >= STEPS or size < LEAST_PATCHED:
            return False
        before, tail, head, lengths = _patch_frame(size, place)
        delta = before + patch + tail
        at = self._at
        links[id] = (at, size, link[2], link[3] + 1, ((place, place + 20, patch),), link)
        entry = b"".join((head, _back(at - link[0]), lengths, delta, _ADLER(adler32(delta))))
        self._rows[id[0]].append(_row(id, crc32(entry), at))
        self._chunks.append(entry)
        self._at = at + len(entry)
        return True

    def add_copy(self, id: bytes, size: int, entry: bytes, crc: int) -> None:
        """Add an object that another pack holds whole, by the bytes of its entry there; ``size`` is its content's."""
        if id not in self._links:
            self._links[id] = (self._at, size, 0, 0, (), None)
            self._emit(id, entry, crc)

    def add_run(self, run: Sequence[Ready]) -> bool:
        """Add entries that must stand one behind the other, or none if one of the objects is there; say whether."""
        links = self._links
        if any(ready.id in links for ready in run):
            return False
        for id, size, entry, crc in run:
            links[id] = (self._at, size, KNOTS, STEPS, (), None)
            self._emit(id, entry, crc)
        return True

    def _add_whole(self, kind: int, id: bytes, content: bytes) -> None:
        size = len(content)
        self._links[id] = (self._at, size, 0, 0, (), None)
        if size <= _STORED:
            entry = b"".join((
                _head(kind, size), _STORED_HEAD, _LENGTHS(size, size ^ 0xFFFF), content, _ADLER(adler32(content)),
            ))  # fmt: skip
        elif kind == TREE:
            entry = whole_entry(kind, content)
        else:
            entry = _head(kind, size) + self._deflated(content)
        self._emit(id, entry, crc32(entry))

    def _add_delta(self, link: _Link, id: bytes, content: bytes, splices: Sequence[Splice]) -> bool:
        size = len(content)
        made: _Link
        if link[3] < STEPS:
            base, way = link, splices
            made = (self._at, size, link[2], link[3] + 1, splices, link)
        elif link[2] < KNOTS:
            base, way = _from_knot(link, splices)
            made = (self._at, size, link[2] + 1, 0, (), None)
        else:
            return False
        if len(way) == 1:
            delta = splice_delta(base[1], size, way[0])
        else:
            delta = encode_delta(base[1], size, pieces_of(base[1], way))
        if 2 * len(delta) > size:
            return False
        self._links[id] = made
        self._emit_delta(id, delta, self._at - base[0])
        return True

    def _emit_delta(self, id: bytes, delta: bytes, distance: int) -> None:
        length = len(delta)
        if length <= _STORED:
            entry = b"".join((
                _head(OFS_DELTA, length), _back(distance), _STORED_HEAD,
                _LENGTHS(length, length ^ 0xFFFF), delta, _ADLER(adler32(delta)),
            ))  # fmt: skip
        else:
            entry = _head(OFS_DELTA, length) + _back(distance) + self._deflated(delta)
        self._emit(id, entry, crc32(entry))

    def _deflated(self, content: bytes) -> bytes:
        if len(content) > _SMALL:
            return zlib.compress(content, self.level)
        # A window of 4 KiB loses nothing here and spares zlib 200 KiB of fresh memory for each object.
        press = zlib.compressobj(self.level, zlib.DEFLATED, 12, 5)
        return press.compress(content) + press.flush()

    def _emit(self, id: bytes, entry: bytes, crc: int) -> None:
        self._rows[id[0]].append(_row(id, crc, self._at))
        self._chunks.append(entry)
        self._at += len(entry)

    @property
    def size(self) -> int:
        """Return the length of the pack in bytes, up to the checksum at its end."""
        return self._at

    def pieces(self) -> Iterator[bytes]:
        """Yield the pack, up to the checksum at its end."""
        yield SIGNATURE + struct.pack(">L", len(self))
        for at in range(0, len(self._chunks), _ENTRIES):
            entries = self._chunks[at : at + _ENTRIES]
            if sum(map(len, entries)) > _MOST_JOINED:
                # Large ones are not held twice.
                yield from entries
            else:
                yield b"".join(entries)

    def write(self, files: Files, folder: Path) -> Path:
        """Do as `Pack.write`."""
        pieces = list(self.pieces())
        digest = sha1(b"")
        for piece in pieces:
            digest.update(piece)
        checksum = digest.digest()
        return place_pack(files, folder, Packed(pieces, checksum, functools.partial(self.index, checksum)))

    def index(self, checksum: bytes) -> bytes:
        """Return the index of the pack, which ends with ``checksum``."""
        number = len(self)
        # Rows begin with their ids, so as bytes they sort as the index has them.
        rows = b"".join([b"".join(sorted(bucket)) for bucket in self._rows])
        near = _column(rows, 28, 4)
        far = []
        if self._at >= _FAR:
            offsets = struct.unpack(f">{number}Q", _column(rows, 24, 8))
            far = [offset for offset in offsets if offset >= _FAR]
            places = {offset: _FAR | at for at, offset in enumerate(far)}
            near = struct.pack(f">{number}L", *(places.get(offset, offset) for offset in offsets))
        body = b"".join(
            (
                b"\xfftOc" + struct.pack(">L", 2),
                struct.pack(">256L", *accumulate(map(len, self._rows))),
                _column(rows, 0, 20),
                _column(rows, 20, 4),
                near,
                struct.pack(f">{len(far)}Q", *far),
                checksum,
            )
        )
        return body + sha1(body).digest()


def _column(rows: bytes, start: int, width: int) -> bytes:
    """Return some bytes of every row, byte place by byte place, which is the fastest way to take them."""
    column = bytearray(len(rows) // _ROW.size * width)
    for place in range(width):
        column[place::width] = rows[start + place :: _ROW.size]
    return bytes(column)


@functools.lru_cache(maxsize=1 << 14)
def _patch_frame(size: int, place: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Return what of an entry does not hang on the patch itself: before it, behind it, and two parts of the head."""
    before, tail = frame(size, size, place, place + 20, 20)
    length = len(before) + 20 + len(tail)
    return before, tail, _head(OFS_DELTA, length), _STORED_HEAD + _LENGTHS(length, length ^ 0xFFFF)


def _from_knot(link: _Link, splices: Sequence[Splice]) -> tuple[_Link, list[Splice]]:
    """Return the knot that a chain hangs on and all splices from there."""
    runs = [splices]
    while (above := link[5]) is not None:
        runs.append(link[4])
        link = above
    return link, [splice for run in reversed(runs) for splice in run]


@functools.lru_cache(maxsize=1 << 13)
def _head(kind: int, size: int) -> bytes:
    first = kind << 4 | size & 15
    size >>= 4
    out = []
    while size:
        out.append(first | 0x80)
        first = size & 0x7F
        size >>= 7
    out.append(first)
    return bytes(out)


def _back(distance: int) -> bytes:
    if distance < 0x80:
        return _BYTE[distance]
    if distance < 0x4080:
        return bytes(((distance >> 7) - 1 | 0x80, distance & 0x7F))
    out = [distance & 0x7F]
    distance >>= 7
    while distance:
        distance -= 1
        out.append(distance & 0x7F | 0x80)
        distance >>= 7
    return bytes(reversed(out))


def delta_entry(delta: bytes, distance: int) -> bytes:
    """Return the entry of a delta, stored as it is, on an object whose entry begins ``distance`` bytes before."""
    return _head(OFS_DELTA, len(delta)) + _back(distance) + _stored(delta)


def whole_entry(kind: int, content: bytes) -> bytes:
    """Return the entry of an object that is stored as it is."""
    return _head(kind, len(content)) + _stored(content)


def _stored(data: bytes) -> bytes:
    """Return a zlib stream that holds ``data`` as it is (RFC 1950, 1951)."""
    size = len(data)
    if size <= _MOST_STORED:
        return b"".join((_STORED_HEAD, _LENGTHS(size, size ^ 0xFFFF), data, _ADLER(adler32(data))))
    out = [_STORED_HEAD[:2]]
    for at in range(0, size, _MOST_STORED):
        part = data[at : at + _MOST_STORED]
        last = b"\1" if at + _MOST_STORED >= size else b"\0"
        out += (last, _LENGTHS(len(part), len(part) ^ 0xFFFF), part)
    return b"".join((*out, _ADLER(adler32(data))))

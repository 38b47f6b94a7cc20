"""Write the objects of one batch as one pack with its index (gitformat-pack(5), versions 2 of both).

An object that is said to follow from another of the same pack becomes a delta of the known splices; nothing is
searched. Chains stay within git's own bound of 50: after 24 short steps one delta leads from the last knot over all
of them at once, and after 25 knots the object is written whole.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import adler32, crc32

from qodebase.trunk.deltas import Pattern, Splice, encode_delta, pieces_of, splice_delta
from qodebase.trunk.files import Files
from qodebase.trunk.objects import TREE, sha1

OFS_DELTA = 6
STEPS = 24
KNOTS = 25
TEMPORARY = "tmp_qodebase_"
HALF = ".part"
"""Ends the name of a file that is not whole: git and dulwich take every pair of ``.pack`` and ``.idx`` for a pack."""

_SMALL = 4096
_STORED = 1024
_FAR = 0x80000000
_STORED_HEAD = b"\x78\x01\x01"
_MOST_STORED = 0xFFFF
_LENGTHS = struct.Struct("<HH").pack
_ADLER = struct.Struct(">L").pack


class _Link(NamedTuple):
    """Where an object stands in its chain; ``splices`` lead to it from ``above``, or it is a knot."""

    offset: int
    size: int
    knots: int
    steps: int
    splices: Sequence[Splice] = ()
    above: _Link | None = None


class PackWriter:
    """Collect objects in memory and write them as one pack.

    Trees and short deltas are stored as they are: ids and offsets do not shrink.

    Args:
        level: zlib's, for contents written whole and for long deltas; -1 is git's own.
    """

    def __init__(self, *, level: int = -1) -> None:
        self.level = level
        self._chunks: list[bytes] = []
        self._at = 12
        self._entries: list[tuple[bytes, int, int]] = []
        self._links: dict[bytes, _Link] = {}
        self._patterns: dict[int, tuple[int, Pattern]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id: bytes) -> bool:
        return id in self._links

    def add(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Add an object once; ``splices`` lead to it from the object ``base`` if the pack holds that one."""
        if id in self._links:
            return
        link = self._links.get(base) if base is not None else None
        if link is None or not self._add_delta(link, id, content, splices):
            self._add_whole(kind, id, content)

    def add_alike(self, kind: int, id: bytes, content: bytes) -> None:
        """Add an object once, as a delta on the first one of its kind that came here, for they differ in few lines."""
        if id in self._links:
            return
        offset, pattern = self._patterns.get(kind, (0, None))
        if pattern is None:
            self._patterns[kind] = self._at, Pattern(content)
        else:
            delta = pattern.delta(content)
            if 4 * len(delta) <= 3 * len(content):
                self._links[id] = _Link(self._at, len(content), KNOTS, STEPS)
                self._emit_delta(id, delta, self._at - offset)
                return
        self._add_whole(kind, id, content)

    def add_copy(self, id: bytes, size: int, entry: bytes, crc: int) -> None:
        """Add an object that another pack holds whole, by the bytes of its entry there; ``size`` is its content's."""
        if id not in self._links:
            self._links[id] = _Link(self._at, size, 0, 0)
            self._emit(id, entry, crc)

    def _add_whole(self, kind: int, id: bytes, content: bytes) -> None:
        offset, size = self._at, len(content)
        self._links[id] = _Link(offset, size, 0, 0)
        body = _stored(content) if kind == TREE else self._deflated(content)
        entry = _head(kind, size) + body
        self._emit(id, entry, crc32(entry))

    def _add_delta(self, link: _Link, id: bytes, content: bytes, splices: Sequence[Splice]) -> bool:
        size = len(content)
        if link.steps < STEPS:
            base, way = link, splices
            made = _Link(self._at, size, link.knots, link.steps + 1, splices, link)
        elif link.knots < KNOTS:
            base, way = _from_knot(link, splices)
            made = _Link(self._at, size, link.knots + 1, 0)
        else:
            return False
        if len(way) == 1:
            delta = splice_delta(base.size, size, way[0])
        else:
            delta = encode_delta(base.size, size, pieces_of(base.size, way))
        if 2 * len(delta) > size:
            return False
        self._links[id] = made
        self._emit_delta(id, delta, self._at - base.offset)
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
        self._entries.append((id, crc, self._at))
        self._chunks.append(entry)
        self._at += len(entry)

    def write(self, files: Files, folder: Path) -> Path:
        """Write pack and index into a folder of packs, synced, and return the pack's path.

        The index gets its name last, so that no reader finds a pack that is not whole; its temporary file carries the
        pack's name, so that a pack left without index by a crash is known as ours.
        """
        head = b"PACK" + struct.pack(">LL", 2, len(self._entries))
        whole = b"".join((head, *self._chunks))
        checksum = sha1(whole).digest()
        name = f"pack-{checksum.hex()}"
        pack, index = folder / f"{name}.pack", folder / f"{name}.idx"
        if index.exists():
            return pack
        half_pack, half_index = (folder / f"{TEMPORARY}{name}.{kind}{HALF}" for kind in ("pack", "idx"))
        try:
            files.write_new(half_pack, [whole, checksum], mode=0o444)
            files.write_new(half_index, [self._index(checksum)], mode=0o444)
            files.rename(half_pack, pack)
            files.rename(half_index, index)
        except OSError:
            for path in (half_pack, half_index, *(() if index.exists() else (pack,))):
                files.unlink(path)
            raise
        files.sync_folder(folder)
        return pack

    def _index(self, checksum: bytes) -> bytes:
        entries = sorted(self._entries)
        counts = [0] * 256
        for id, _, _ in entries:
            counts[id[0]] += 1
        total = 0
        fan = []
        for count in counts:
            total += count
            fan.append(total)
        far = [offset for _, _, offset in entries if offset >= _FAR]
        places = {offset: _FAR | at for at, offset in enumerate(far)}
        number = len(entries)
        body = b"".join(
            (
                b"\xfftOc" + struct.pack(">L", 2),
                struct.pack(">256L", *fan),
                b"".join([id for id, _, _ in entries]),
                struct.pack(f">{number}L", *[crc for _, crc, _ in entries]),
                struct.pack(f">{number}L", *[places.get(offset, offset) for _, _, offset in entries]),
                struct.pack(f">{len(far)}Q", *far),
                checksum,
            )
        )
        return body + sha1(body).digest()


def _from_knot(link: _Link, splices: Sequence[Splice]) -> tuple[_Link, list[Splice]]:
    """Return the knot that a chain hangs on and all splices from there."""
    runs = [splices]
    while link.above is not None:
        runs.append(link.splices)
        link = link.above
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
    out = [distance & 0x7F]
    distance >>= 7
    while distance:
        distance -= 1
        out.append(distance & 0x7F | 0x80)
        distance >>= 7
    return bytes(reversed(out))


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

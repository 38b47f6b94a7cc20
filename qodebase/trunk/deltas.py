"""Deltas made from knowledge of an edit, in the form of git's packs (gitformat-pack(5), "Deltified representation").

A splice ``(start, end, text)`` replaces ``content[start:end]`` by ``text``; in a list each splice counts in the content
that the one before it left. Pieces describe the same edits on the first content: ``(offset, end)`` copies from it,
bytes are inserted.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

Splice = tuple[int, int, bytes]
Piece = tuple[int, int] | bytes

_LARGEST_COPY = 0xFFFFFF
_LARGEST_INSERT = 127
_SHORT = 256
"""Below so many bytes the first difference is found as the highest bit of two numbers' difference."""
_LARGEST_STEP = 65536
"""A slice of this size does not cost the allocator fresh pages."""
_BYTE = [bytes((number,)) for number in range(256)]
_REMEMBERED = 1 << 14
_OFFSETS = (0x80, 0x81, 0x83, 0x87, 0x8F)
_LENGTHS = (0x00, 0x10, 0x30, 0x70)


def splice_between(old: bytes, new: bytes) -> Splice:
    """Return the one splice that turns ``old`` into ``new``, as short as common ends make it."""
    start = _common(old, new, min(len(old), len(new)))
    tail = _common_tail(old, new, min(len(old), len(new)) - start)
    return start, len(old) - tail, new[start : len(new) - tail]


def _common(old: bytes, new: bytes, limit: int) -> int:
    """Return the length of the common head by bisection: slices compare at memory speed, single bytes do not."""
    low, high = 0, limit
    step = 4096
    while low < high:
        middle = min(high, low + step)
        if new.startswith(old[low:middle], low):
            low = middle
            step = min(2 * step, _LARGEST_STEP)
        else:
            high = middle
            break
    while high - low > _SHORT:
        middle = (low + high) // 2
        if new.startswith(old[low:middle], low):
            low = middle
        else:
            high = middle
    different = int.from_bytes(old[low:high], "big") ^ int.from_bytes(new[low:high], "big")
    return high - (different.bit_length() + 7) // 8


def _common_tail(old: bytes, new: bytes, limit: int) -> int:
    """Return the length of the common tail, at most ``limit``."""
    end, far = len(old), len(new)
    low, high = 0, limit
    step = 4096
    while low < high:
        middle = min(high, low + step)
        if new.endswith(old[end - middle : end - low], 0, far - low):
            low = middle
            step = min(2 * step, _LARGEST_STEP)
        else:
            high = middle
            break
    while high - low > _SHORT:
        middle = (low + high) // 2
        if new.endswith(old[end - middle : end - low], 0, far - low):
            low = middle
        else:
            high = middle
    different = int.from_bytes(old[end - high : end - low], "little") ^ int.from_bytes(
        new[far - high : far - low], "little"
    )
    return high - (different.bit_length() + 7) // 8


def pieces_of(length: int, splices: Sequence[Splice]) -> list[Piece]:
    """Lay splices on a content of ``length`` bytes and return what the result is made of."""
    simple = _ascending(length, splices)
    if simple is None:
        simple = _replaced(length, splices)
    if simple is not None:
        return simple
    pieces: list[Piece] = [(0, length)]
    for start, end, text in splices:
        pieces = _spliced(pieces, start, end, text)
    return pieces


def _ascending(length: int, splices: Sequence[Splice]) -> list[Piece] | None:
    """Return the pieces where no splice begins before the end of the one before it: what the edits of one tree are."""
    pieces: list[Piece] = []
    at = grown = done = 0
    for start, end, text in splices:
        if start < done:
            return None
        if at < start - grown:
            pieces.append((at, start - grown))
        if text:
            pieces.append(text)
        at, done = end - grown, start + len(text)
        grown += len(text) - (end - start)
    if at < length:
        pieces.append((at, length))
    return pieces


def _replaced(length: int, splices: Sequence[Splice]) -> list[Piece] | None:
    """Return the pieces where every splice keeps the length and none cuts another: what edits of ids in trees are."""
    last: dict[int, bytes] = {}
    for start, end, text in splices:
        if end - start != len(text) or len(last.get(start, text)) != len(text):
            return None
        last[start] = text
    pieces: list[Piece] = []
    at = 0
    for start in sorted(last):
        if start < at:
            return None
        if start > at:
            pieces.append((at, start))
        pieces.append(last[start])
        at = start + len(last[start])
    if at < length:
        pieces.append((at, length))
    return pieces


def _spliced(pieces: list[Piece], start: int, end: int, text: bytes) -> list[Piece]:
    head: list[Piece] = []
    tail: list[Piece] = []
    at = 0
    for piece in pieces:
        size = len(piece) if isinstance(piece, bytes) else piece[1] - piece[0]
        after = at + size
        if at < start:
            head.append(piece if after <= start else _part(piece, 0, start - at))
        if after > end:
            tail.append(piece if at >= end else _part(piece, end - at, size))
        at = after
    if text:
        head.append(text)
    return head + tail


def _part(piece: Piece, start: int, end: int) -> Piece:
    if isinstance(piece, bytes):
        return piece[start:end]
    return piece[0] + start, piece[0] + end


def splice_delta(before: int, after: int, splice: Splice) -> bytes:
    """Return the delta of one splice; what `encode_delta` gives, for the case that is nearly every edit."""
    start, end, text = splice
    length = len(text)
    if 0 < length <= _LARGEST_INSERT:
        head, tail = frame(before, after, start, end, length)
        return head + text + tail
    out = [_size(before), _size(after)]
    # Where contents are edited hardly ever comes again, so it is not remembered.
    if start:
        out.append(_copies_anew(0, start))
    _insert(out, text)
    if end < before:
        out.append(_copies_anew(end, before))
    return b"".join(out)


def frame(before: int, after: int, start: int, end: int, length: int) -> tuple[bytes, bytes]:
    """Return what stands before and behind the one insertion of a delta."""
    head = _size(before) + _size(after) + (_copies(0, start) if start else b"") + _BYTE[length]
    return head, _copies(end, before) if end < before else b""


def encode_delta(before: int, after: int, pieces: Sequence[Piece]) -> bytes:
    """Return a delta from a base of ``before`` bytes to a result of ``after`` bytes."""
    out = [_size(before), _size(after)]
    for piece in pieces:
        if isinstance(piece, bytes):
            _insert(out, piece)
        else:
            out.append(_copies(*piece))
    return b"".join(out)


def _copies_anew(offset: int, end: int) -> bytes:
    if end - offset <= _LARGEST_COPY:
        return _copy(offset, end - offset)
    starts = range(offset, end, _LARGEST_COPY)
    return b"".join([_copy(start, min(end - start, _LARGEST_COPY)) for start in starts])


_copies = functools.lru_cache(maxsize=_REMEMBERED)(_copies_anew)


def _copy(offset: int, length: int) -> bytes:
    """Return a copy: flags that say which bytes of offset and length follow, then those bytes, lowest first."""
    wide, long = offset.bit_length() + 7 >> 3, length.bit_length() + 7 >> 3
    return _BYTE[_OFFSETS[wide] | _LENGTHS[long]] + offset.to_bytes(wide, "little") + length.to_bytes(long, "little")


@functools.lru_cache(maxsize=_REMEMBERED)
def _size(number: int) -> bytes:
    out = []
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _insert(out: list[bytes], text: bytes) -> None:
    for at in range(0, len(text), _LARGEST_INSERT):
        part = text[at : at + _LARGEST_INSERT]
        out.append(_BYTE[len(part)])
        out.append(part)

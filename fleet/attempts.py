"""The attempts of a run: changes kept in its segments, and read back on resume."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from qodebase.change import Change
from qodebase.codec import PACK, pack_decoder
from qodebase.segments import BadSegment, SegmentReader, SegmentWriter, packed

_CHANGE = pack_decoder(Change)


class Kept(NamedTuple):
    """A change in the segments: its digest (SHA-256, 64 hex digits) and where it is."""

    digest: str
    ref: str


class Packed(NamedTuple):
    """A change as segments hold it: its digest as in `Kept`, and the compressed bytes."""

    digest: str
    content: bytes


def pack(change: Change) -> Packed:
    """Return a change as segments hold it."""
    payload = PACK.encode(change)
    return Packed(hashlib.sha256(payload).hexdigest(), packed(payload))


class Attempts:
    """Keep changes and read them back."""

    def __init__(self, store: SegmentWriter, kept: SegmentReader) -> None:
        self._store = store
        self._kept = kept

    def keep(self, change: Change, made: Packed | None = None) -> Kept:
        """Keep a change, which may be packed already; it is on disk after the store's next sync."""
        digest, content = made or pack(change)
        return Kept(digest, self._store.put_packed(content).text)

    def change(self, ref: str, digest: str) -> Change:
        """Return a kept change.

        Raises:
            BadSegment: it is not there any more.
        """
        self._store.flush()
        payload = self._kept.get(ref)
        if hashlib.sha256(payload).hexdigest() != digest:
            raise BadSegment(f"attempts {ref} are not the change {digest}")
        change: Change = _CHANGE.decode(payload)
        return change

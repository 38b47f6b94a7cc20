"""The attempts of a run: changes kept in its segments, and read back on resume."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from qodebase.change import Change
from qodebase.codec import PACK, pack_decoder
from qodebase.segments import SegmentReader, SegmentWriter

_CHANGE = pack_decoder(Change)


class Kept(NamedTuple):
    """A change in the segments: its digest (SHA-256, 64 hex digits) and where it is."""

    digest: str
    ref: str


class Attempts:
    """Keep changes and read them back."""

    def __init__(self, store: SegmentWriter, kept: SegmentReader) -> None:
        self._store = store
        self._kept = kept

    def keep(self, change: Change) -> Kept:
        """Keep a change; it is on disk after the store's next sync."""
        payload = PACK.encode(change)
        return Kept(hashlib.sha256(payload).hexdigest(), self._store.put(payload).text)

    def change(self, ref: str) -> Change:
        """Return a kept change."""
        change: Change = _CHANGE.decode(self._kept.get(ref))
        return change

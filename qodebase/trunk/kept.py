"""Keep in memory, within bounds, what a trunk is likely to need again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice

_RECENT_BYTES = 64 << 20
_MOST_ROOTS = 50_000


class Roots:
    """For each blob that was written as a delta lately the content that it began as, and that packs hold whole."""

    def __init__(self) -> None:
        self._roots: dict[bytes, bytes] = {}

    def get(self, id: bytes, default: bytes) -> bytes:
        """Return the root of a blob, or ``default``."""
        return self._roots.get(id, default)

    def update(self, roots: Mapping[bytes, bytes]) -> None:
        """Add roots, and forget the oldest beyond a fixed number."""
        self._roots.update(roots)
        for id in list(islice(self._roots, max(0, len(self._roots) - _MOST_ROOTS))):
            del self._roots[id]


class Recent:
    """The contents of the blobs used last, at most so many bytes of them; any thread may ask.

    Args:
        limit: in bytes; one content larger than a quarter of it is not kept.
    """

    def __init__(self, limit: int = _RECENT_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._blobs: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: bytes) -> bytes | None:
        """Return a content that is still kept."""
        return self._blobs.get(id)

    def put(self, id: bytes, content: bytes) -> None:
        """Keep a content and drop the oldest ones beyond the limit."""
        if 4 * len(content) > self._limit:
            return
        with self._lock:
            if id in self._blobs:
                return
            self._blobs[id] = content
            self._size += len(content)
            while self._size > self._limit:
                _, dropped = self._blobs.popitem(last=False)
                self._size -= len(dropped)

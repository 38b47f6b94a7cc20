"""Put new contents into a pack as small as what is known about them allows."""

from __future__ import annotations

from typing import NamedTuple

from qodebase.trunk.deltas import splice_between
from qodebase.trunk.kept import Recent, Roots
from qodebase.trunk.objects import BLOB, Objects, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.wholes import Copied, Wholes

_WORTH_A_COPY = 512
_MUCH = 4


class Blob(NamedTuple):
    """A new content, the id of what it replaces, and that content where it is at hand.

    A shared path's old content is one that this step or the repository gave; an edit's is told by the caller and not
    believed unseen.
    """

    content: bytes
    base: bytes | None
    old: bytes | None = None
    told: bytes | None = None


class Blobs:
    """The contents of one step: read, put into its pack, and remembered when the step is taken."""

    def __init__(self, pack: PackWriter, *, objects: Objects, recent: Recent, wholes: Wholes, roots: Roots) -> None:
        self._pack = pack
        self._objects = objects
        self._recent = recent
        self._wholes = wholes
        self._roots = roots
        self._new_roots: dict[bytes, bytes] = {}
        self._edited: dict[bytes, bytes] = {}

    def edited(self, id: bytes, content: bytes) -> None:
        """Keep what an edit wrote, for a later one of the step may start from it."""
        self._edited[id] = content

    def read(self, id: bytes) -> bytes:
        """Return a content, from memory if it was written lately."""
        found = self._kept(id)
        if found is None:
            found = self._objects.content(id, BLOB)
            self._recent.put(id, found)
        return found

    def known(self, id: bytes) -> bool:
        """Return whether the step or the repository holds a blob."""
        return id in self._pack or self._objects.kind(id) == BLOB

    def _kept(self, id: bytes) -> bytes | None:
        found = self._edited.get(id)
        return self._recent.get(id) if found is None else found

    def remember(self) -> None:
        """Keep what the next step is likely to start from."""
        for id, content in self._edited.items():
            self._recent.put(id, content)
        self._roots.update(self._new_roots)

    def add(self, id: bytes, blob: Blob) -> None:
        """Put a content into the pack, once."""
        if id in self._pack:
            return
        old = blob.old
        if old is None and blob.base is not None:
            if blob.base in self._pack:
                old = self._kept(blob.base)
            elif self._add_on_copy(id, blob, blob.base):
                return
        if old is None:
            self._pack.add(BLOB, id, blob.content)
        else:
            self._pack.add(BLOB, id, blob.content, blob.base, [splice_between(old, blob.content)])

    def _add_on_copy(self, id: bytes, blob: Blob, base: bytes) -> bool:
        """Add a content as a delta on a copy of what it began as, if that is at hand and saves much; say whether."""
        content = blob.content
        if len(content) < _WORTH_A_COPY:
            return False
        root = self._roots.get(base, base)
        copied: Copied | None = None
        if blob.told is not None and root == base and hash_object(BLOB, blob.told) == base:
            old = blob.told
            copied = self._wholes.copied(root, BLOB, len(old))
        elif (whole := self._wholes.find(root, BLOB)) is not None:
            old, copied = whole
        if copied is None:
            return False
        splice = splice_between(old, content)
        if _MUCH * len(splice[2]) > len(content):
            return False
        self._pack.add_copy(root, len(old), copied.entry, copied.crc)
        self._pack.add(BLOB, id, content, root, [splice])
        self._new_roots[id] = root
        return True

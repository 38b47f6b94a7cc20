"""The contents of one step: read, gathered, and remembered when the step is taken."""

from __future__ import annotations

from typing import NamedTuple

from qodebase.trunk.gathering import Gathering
from qodebase.trunk.kept import Recent
from qodebase.trunk.objects import BLOB, Objects


class Blob(NamedTuple):
    """A new content, the id of what it replaces, and that content where it is at hand.

    A shared path's old content is one that this step or the repository gave; an edit's is told by the caller and not
    believed unseen.
    """

    content: bytes
    base: bytes | None
    old: bytes | None = None
    told: bytes | None = None


class Contents:
    """Contents by their ids, of the repository and of what the step has written."""

    def __init__(self, pack: Gathering, *, objects: Objects, recent: Recent) -> None:
        self._pack = pack
        self._objects = objects
        self._recent = recent
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

    def add(self, id: bytes, blob: Blob) -> None:
        """Put a content into the pack, once."""
        old = blob.old
        if old is None and blob.base is not None and blob.base in self._pack:
            old = self._kept(blob.base)
        self._pack.add_blob(id, blob.content, blob.base, old, blob.told)

    def remember(self) -> None:
        """Keep what the next step is likely to start from."""
        for id, content in self._edited.items():
            self._recent.put(id, content)
        self._pack.remember()

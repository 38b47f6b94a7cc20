"""Gather the objects of one step for one pack, each new content as small as what is known about it allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from qodebase.trunk.deltas import Splice, splice_between
from qodebase.trunk.drafts import Written
from qodebase.trunk.grown import Grown
from qodebase.trunk.kept import Roots
from qodebase.trunk.objects import BLOB, TREE, hash_object
from qodebase.trunk.pack import Pack, PackWriter
from qodebase.trunk.wholes import Copied, Wholes

_WORTH_A_COPY = 512
_MUCH = 3
"""A content must be so many times as long as what is new in it: compressing it whole costs ten times a delta's time."""


class Gathering(Pack, Protocol):
    """What a step puts its objects into: a `Gathered` here, or one in another process."""

    def add_blob(self, id: bytes, content: bytes, base: bytes | None, old: bytes | None, told: bytes | None) -> None:
        """Add a new content once.

        Args:
            base: what it replaces.
            old: the content of ``base``, where the step or the repository gave it.
            told: the content of ``base`` as the caller of the step has it; not believed unseen.
        """
        ...

    def add_growing(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Add a tree as `Pack.add`, one that grows from step to step: what leads to it from older ones comes along."""
        ...

    def remember(self) -> None:
        """Keep what the next step is likely to start from; called once the step is taken, and never fails."""
        ...


class Gathered(PackWriter):
    """The objects of one step in this process.

    Args:
        wholes, roots: where old contents are found whole; ``roots`` gets those of this step.
        grown: the growing trees of earlier steps; it gets those of this one.
        level: as of `PackWriter`.
    """

    def __init__(self, *, wholes: Wholes, roots: Roots, grown: Grown | None = None, level: int = -1) -> None:
        super().__init__(level=level)
        self._wholes = wholes
        self._roots = roots
        self._grown = grown or Grown()
        self._grown.begin()
        self._new_roots: dict[bytes, bytes] = {}
        self._copied: set[bytes] = set()

    def __contains__(self, id: bytes | None) -> bool:
        """Return whether the step gave an object: a content that only came along as a base is the repository's."""
        return id in self._links and id not in self._copied

    def add_blob(self, id: bytes, content: bytes, base: bytes | None, old: bytes | None, told: bytes | None) -> None:
        """Add a new content as `Gathering.add_blob` says."""
        if id in self:
            return
        self._copied.discard(id)
        if old is None and told is not None and base in self and hash_object(BLOB, told) == base:
            old = told
        if old is not None:
            self.add(BLOB, id, content, base, [splice_between(old, content)])
        elif base is None or base in self or not self._add_on_copy(id, content, base, told):
            self.add(BLOB, id, content)

    def _add_on_copy(self, id: bytes, content: bytes, base: bytes, told: bytes | None) -> bool:
        """Add a content as a delta on a copy of what it began as, if that is at hand and saves much; say whether."""
        if len(content) < _WORTH_A_COPY:
            return False
        root = self._roots.get(base, base)
        copied: Copied | None = None
        if told is not None and root == base and hash_object(BLOB, told) == base:
            old = told
            copied = self._wholes.copied(root, BLOB, len(old))
        elif (whole := self._wholes.find(root, BLOB)) is not None:
            old, copied = whole
        if copied is None:
            return False
        splice = splice_between(old, content)
        if _MUCH * len(splice[2]) > len(content):
            return False
        if root not in self:
            self.add_copy(root, len(old), copied.entry, copied.crc)
            self._copied.add(root)
        self.add(BLOB, id, content, root, [splice])
        self._new_roots[id] = root
        return True

    def add_growing(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Do as `Gathering.add_growing`."""
        assert kind == TREE
        self._grown.add(self, Written(id, content, base, list(splices)))

    def remember(self) -> None:
        """Keep where contents of this step began, and what leads to its growing trees."""
        self._grown.remember()
        self._roots.update(self._new_roots)

"""Write trees that grow from batch to batch, as those of notes do, without writing them whole each time.

A pack must hold the base of each of its deltas (gitformat-pack(5)), so the entries that lead to a tree come along into
the next pack; when packs are joined, one copy of each is kept, and of the trees between only what was added.
"""

from __future__ import annotations

from itertools import islice
from zlib import crc32

from qodebase.trunk.deltas import encode_delta, pieces_of
from qodebase.trunk.drafts import Written
from qodebase.trunk.objects import TREE
from qodebase.trunk.pack import PackWriter, Ready, delta_entry, whole_entry

_MOST_STEPS = 8
_MOST_CHAINS = 1024
"""Ours end in a root and 256 folders; those of trees that somebody else replaced are not needed again."""

_Chain = tuple[Ready, ...]
"""A tree that is written whole, and those that follow from it, each from the one before."""


class Grown:
    """The newest trees of a growing folder, each with the entries that lead to it."""

    def __init__(self) -> None:
        self._chains: dict[bytes, _Chain] = {}
        self._made: list[tuple[bytes, bytes | None, _Chain]] = []

    def begin(self) -> None:
        """Begin a pack; what was put into one that was not kept is forgotten."""
        self._made = []

    def add(self, pack: PackWriter, folder: Written) -> None:
        """Put a tree into a pack."""
        known = None if folder.base is None else self._chains.get(folder.base)
        chain = None if known is None else _longer(known, folder)
        if chain is None or not pack.add_run(chain):
            chain = (_ready(folder, whole_entry(TREE, folder.raw)),)
            pack.add_run(chain)
        self._made.append((folder.id, folder.base, chain))

    def remember(self) -> None:
        """Keep what was put into the last pack in place of what it replaces."""
        for id, base, chain in self._made:
            if base is not None:
                self._chains.pop(base, None)
            self._chains[id] = chain
        self._made = []
        for id in list(islice(self._chains, max(0, len(self._chains) - _MOST_CHAINS))):
            del self._chains[id]


def _longer(chain: _Chain, folder: Written) -> _Chain | None:
    """Return the chain with one more tree, or None where that one is better written whole."""
    if len(chain) > _MOST_STEPS or any(ready.id == folder.id for ready in chain):
        return None
    last, size = chain[-1], len(folder.raw)
    delta = encode_delta(last.size, size, pieces_of(last.size, folder.splices))
    if 2 * len(delta) > size:
        return None
    return *chain, _ready(folder, delta_entry(delta, len(last.entry)))


def _ready(folder: Written, entry: bytes) -> Ready:
    return Ready(folder.id, len(folder.raw), entry, crc32(entry))

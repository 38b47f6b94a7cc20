"""The index of a large run, kept as one shard a lane until the run's end: who writes where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property

from lanes.router import Router
from qodebase.paths import RepoPath
from qodebase.ports import SharedPath

MOST_IN_ONE = 5000
"""So many landings may write one index file anew; beyond, its bytes grow with the square of them."""

RULE = "sorted-index"


class Layout(StrEnum):
    """How the index is kept while a run goes on."""

    AUTO = "auto"
    SINGLE = "single"
    SHARDED = "sharded"


class IndexPaths:
    """Where the lines of each file go.

    Args:
        index: the one file of the end; empty: there is none.
        lanes: the lanes of which each has a shard; None: lines go into the index itself.
    """

    def __init__(self, index: RepoPath, lanes: Mapping[str, Sequence[str]] | None = None) -> None:
        self.index = index
        self._router = Router(lanes) if lanes is not None else None
        self._shards = {name: shard_path(index, name) for name in self._router.names} if self._router else {}

    @cached_property
    def shared(self) -> tuple[SharedPath, ...]:
        """Return the index, or its shards, bound to their rule."""
        if self._shards:
            return tuple(
                SharedPath(path=path, rule=RULE, lane=lane, compose_into=self.index)
                for lane, path in self._shards.items()
            )
        return (SharedPath(path=self.index, rule=RULE),) if self.index else ()

    @cached_property
    def all(self) -> frozenset[RepoPath]:
        """Return every path that holds lines."""
        return frozenset((self.index, *self._shards.values())) if self.index else frozenset()

    @property
    def shards(self) -> frozenset[RepoPath]:
        """Return the shards."""
        return frozenset(self._shards.values())

    def of(self, source: RepoPath) -> RepoPath:
        """Return where the lines of a source file go: the shard of the file's own lane, or the index."""
        return self._shards[self._router.lane(source)] if self._router else self.index


def is_sharded(layout: Layout, landings: int) -> bool:
    """Return whether a run of so many landings keeps shards."""
    return layout is Layout.SHARDED or (layout is Layout.AUTO and landings > MOST_IN_ONE)


def shard_path(index: RepoPath, lane: str) -> RepoPath:
    """Return a lane's shard: in the folder ``api`` beside the index, the name a file can have.

    >>> shard_path(RepoPath(b"docs/API_INDEX.md"), "src/vs")
    b'docs/api/src+vs.md'
    """
    name = "".join(_escaped(char) for char in lane)
    folder = index.rpartition(b"/")[0]
    return RepoPath(b"/".join([*([folder] if folder else []), b"api", name.encode() + b".md"]))


def _escaped(char: str) -> str:
    if char == "/":
        return "+"
    if char.isascii() and (char.isalnum() or char in "._-"):
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode(errors="surrogateescape"))

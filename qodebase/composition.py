"""The record of a commit that folds the shards of a shared path into it, kept as its git note."""

from __future__ import annotations

import msgspec

from qodebase.paths import CommitId, RepoPath
from qodebase.record import VERSION, read_fields, write_fields


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """What was folded; no intent is behind such a commit.

    Attributes:
        composes: the path, as in the commit's trailer.
        shards: what was folded into it and deleted.
        rule: what folded them.
        parent: the main tip that it landed on.
        at: seconds since the epoch on the run's clock.
    """

    v: int = VERSION
    run: str
    composes: RepoPath
    shards: tuple[RepoPath, ...]
    rule: str
    parent: CommitId
    at: float
    simulated: bool = False


def write_composition(composition: Composition) -> bytes:
    """Return the bytes of the note that holds it."""
    shards = f"{len(composition.shards)} shard" + ("s" if len(composition.shards) != 1 else "")
    return write_fields(f"{composition.composes.text}: composed of {shards} by rule:{composition.rule}.", composition)


def read_composition(note: bytes, *, source: str = "note") -> Composition:
    """Read it back.

    Raises:
        BadData: the note is none of ours; the message names the field.
    """
    return read_fields(note, Composition, source=source)

"""A collision as a value: what was made on which base, what main holds now, and how it was redone."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from qodebase.paths import RepoPath


class Entry(msgspec.Struct, frozen=True):
    """What a tree holds at a path: git's file mode and the object's 40 hex digits."""

    mode: int
    id: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a path; ``content`` is None where the path does not exist."""

    content: bytes | None
    mode: int = 0o100644


class Collision(msgspec.Struct, frozen=True, kw_only=True):
    """A path of a change whose entry on main moved between the change's base and now.

    Attributes:
        path: where.
        base, main, change: the three versions.
        idempotent: the job says that a hunk made alike by two intents is meant once.
    """

    path: RepoPath
    base: Side
    main: Side
    change: Side
    idempotent: bool = False


class Kind(StrEnum):
    """Why a path collided."""

    CONTENT = "content"
    SHARED = "shared"
    ADDED_TWICE = "added twice"
    DELETED = "deleted"
    MODE = "mode"
    MOVED = "moved"


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A replay that worked: the content of the path on the newest main."""

    content: bytes
    mode: int = 0o100644


class Declined(msgspec.Struct, frozen=True, kw_only=True):
    """A replay that could not prove its result."""

    why: str


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of the replay ladder on one path: ``by`` is ``merge``, ``rule:NAME`` or ``model:NAME``.

    ``follow`` declines where a rename cannot be followed.
    """

    by: str
    declined: str = ""


class Clash(msgspec.Struct, frozen=True, kw_only=True):
    """One region that main and the change both edited.

    Attributes:
        line: its first line on main, counted from 1.
        symbol: the innermost definition of main around it; empty at the top of a file.
        base, main, change: its three versions; bytes that are no UTF-8 are replaced.
    """

    line: int
    symbol: str
    base: str
    main: str
    change: str


class Collided(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a collision came to, for the journal and the record.

    Attributes:
        path: where.
        kind: why it collided.
        intents: the landed intents that moved the path since the base, newest last, at most eight.
        count: how many moved it in all.
        foreign: commits without an intent of this run that moved it.
        steps: the ladder's steps, in order; the last one resolved it unless it says why it declined.
        clashes: where merge and rules declined, the regions that both sides edited.
        moved_to: where the file is, when main or the change renamed it; None: it is at ``path``.
    """

    path: RepoPath
    kind: Kind
    intents: tuple[str, ...] = ()
    count: int = 0
    foreign: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    clashes: tuple[Clash, ...] = ()
    moved_to: RepoPath | None = None

    @property
    def where(self) -> str:
        """Return the path as text, with the place that it moved to."""
        return self.path.text if self.moved_to is None else f"{self.path.text} (now {self.moved_to.text})"

    @property
    def brief(self) -> Collided:
        """Return the same without the regions' texts, for a record."""
        return msgspec.structs.replace(self, clashes=()) if self.clashes else self

    @property
    def resolved_by(self) -> str:
        """Return what resolved it, or the empty text where every step declined."""
        return self.steps[-1].by if self.steps and not self.steps[-1].declined else ""

    def then(self, steps: Iterable[Step]) -> Collided:
        """Return the same collision with more steps."""
        return msgspec.structs.replace(self, steps=(*self.steps, *steps))

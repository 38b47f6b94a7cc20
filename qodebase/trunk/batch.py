"""The words of a landing: what goes in, what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NewType

import msgspec

from qodebase.change import Hunk
from qodebase.collision import Declined, Entry
from qodebase.errors import QodebaseError
from qodebase.paths import CommitId, RepoPath

ObjectId = NewType("ObjectId", str)
"""The 40 hex digits of any git object."""


class LandingRefused(QodebaseError):
    """A batch that no repository may take: a fault of the caller, and main did not move."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """Give a path a mode and either new content or an object that the repository already holds.

    ``before`` is the content that the landing expects at the path, where the caller has it at hand: it need not be
    read then.
    """

    mode: int
    content: bytes | None = None
    id: ObjectId | None = None
    before: bytes | None = None


class SharedEdit(msgspec.Struct, frozen=True, kw_only=True):
    """An edit of a shared path, redone on the tip when main moved under it.

    ``base`` is the entry that the edit was made on (None: the path did not exist) and ``change`` either the whole
    new content or hunks on the base's content. ``mode`` None keeps main's mode, and means 100644 for a new file.
    """

    path: RepoPath
    base: Entry | None
    change: bytes | tuple[Hunk, ...]
    mode: int | None = None


Redo = Callable[[SharedEdit, bytes | None], bytes | Declined]
"""Redo a shared edit on main's content (None: main does not hold the path); pure, called inside the step."""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Who made or committed something, and when: Unix seconds and an offset such as ``+0130``."""

    name: str
    mail: str
    time: int
    zone: str = "+0000"


class How(StrEnum):
    """How a shared path came to its content."""

    TAKEN = "taken"
    REDONE = "redone"


class SharedResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one shared edit: main's entry before the commit, the entry that the commit holds, and how."""

    how: How
    before: Entry | None
    after: Entry


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """One change on main: its commit, the commit below it, its tree, and what became of the shared paths."""

    commit: CommitId
    parent: CommitId
    tree: ObjectId
    shared: Mapping[RepoPath, SharedResult] = {}


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A landing that did not happen because main holds something else at these paths; nothing of it is on main."""

    paths: tuple[RepoPath, ...]
    why: str


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """One change as it shall stand on main; it lands whole or not at all.

    ``expects`` names what main must hold at each path (None: nothing); every path of ``edits`` must be in it, and
    more may be. An edit of None deletes. ``note`` gives the bytes of the commit's note once its place is known, and
    ``sign`` the armoured signature of a commit's bytes; both are called inside the step, again if it has to be taken
    again, so they must be pure. ``behind`` names a row of landings of which none may land once one before it has not;
    empty: it stands for itself.
    """

    message: str
    author: Person
    committer: Person
    edits: Mapping[RepoPath, Edit | None]
    expects: Mapping[RepoPath, Entry | None]
    note: Callable[[Landed], bytes]
    trailers: Sequence[tuple[str, str]] = ()
    shared: tuple[SharedEdit, ...] = ()
    sign: Callable[[bytes], bytes] | None = None
    behind: str = ""


class Push(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that was pushed: where branch and notes are now, how many commits it had, at which try."""

    tip: CommitId
    notes: str
    landings: int
    tries: int

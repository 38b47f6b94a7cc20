"""Where each path of a change lands on the newest main: where it was made, or where a rename took the file.

Main's renames are read commit by commit, as ``git log --follow`` does, so a file that moved and was then written anew
is still followed; the change's own are its rename operations, and what git would take for one.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from posixpath import splitext
from typing import NamedTuple, Protocol

from qodebase.change import Change, Rename
from qodebase.collision import Collision, Declined, Entry, Side
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from replay_rules.renames import Code, Moves, side_of


class Place(NamedTuple):
    """One path of a change and what is to be done with it.

    Attributes:
        path: the change's own path.
        target: where its content lands; the path itself unless main, or the change, renamed the file.
        edit: what the change makes of it.
        collision: how main moved under it; None where it did not.
        why: why it cannot be placed at all; else empty.
    """

    path: RepoPath
    target: RepoPath
    edit: Edit | None
    collision: Collision | None = None
    why: str = ""

    @property
    def touched(self) -> tuple[RepoPath, ...]:
        """Return the paths that main must hold as they were found: path and target."""
        return (self.path,) if self.target == self.path else (self.path, self.target)

    def edits(self, edit: Edit | None, now: Code) -> dict[RepoPath, Edit | None]:
        """Return what lands on ``now``: ``edit`` at the target, and an old place that main still has emptied."""
        left: dict[RepoPath, Edit | None] = {}
        if self.target != self.path and now.entry(self.path) is not None:
            left[self.path] = None
        return {**left, self.target: edit}


class Past(Protocol):
    """Main's history as far as following needs it; a position counts its commits."""

    def removal(self, path: RepoPath, after: int) -> tuple[int, Moves] | None:
        """Return the first commit after a position that took a path away: its position, and what moved in it."""


Follow = Callable[[RepoPath], RepoPath | Declined | None]
"""Where main moved a path that is gone: its place, None where it was deleted, or why that cannot be told."""


def follow(path: RepoPath, since: int, past: Past) -> RepoPath | Declined | None:
    """Return where a file is that stood at ``path`` at a position: the path itself where nothing took it away."""
    where, at = path, since
    while (removal := past.removal(where, at)) is not None:
        at, moves = removal
        target = moves.target(where)
        if target is None or isinstance(target, Declined):
            return target
        where = target
    return where


class Laid:
    """A tree with edits laid on it."""

    def __init__(self, tree: Code, edits: Mapping[RepoPath, Edit | None]) -> None:
        self._tree = tree
        self._edits = edits

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the edited tree holds at a path."""
        if path in self._edits:
            edit = self._edits[path]
            return None if edit is None else edit.entry
        return self._tree.entry(path)

    def read(self, path: RepoPath) -> bytes:
        """Return a content; raises `KeyError` where there is none."""
        if path in self._edits:
            edit = self._edits[path]
            if edit is None:
                raise KeyError(path)
            return edit.content
        return self._tree.read(path)


def renamed_by(change: Change, edits: Mapping[RepoPath, Edit | None], base: Code) -> dict[RepoPath, RepoPath]:
    """Return the files that a change moves to a new path: as its operations say, else as git would see it."""
    if all(edit is not None for edit in edits.values()):
        return {}
    origins: dict[RepoPath, RepoPath] = {}
    for operation in change.operations:
        if isinstance(operation, Rename):
            origins[operation.target] = origins.pop(operation.path, operation.path)
    moves = Moves(base, Laid(base, edits), edits)
    told = {source: target for target, source in origins.items() if source in moves.gone and target in moves.came}
    for source, target in told.items():
        del moves.gone[source], moves.came[target]
    seen = {source: moves.target(source) for source in moves.gone}
    return told | {source: target for source, target in seen.items() if isinstance(target, bytes)}


def placed(
    change: Change,
    edits: Mapping[RepoPath, Edit | None],
    base: Code,
    now: Code,
    follow: Follow,
    *,
    shared: Container[RepoPath] = frozenset(),
    idempotent: Callable[[RepoPath], bool] = lambda path: False,
) -> list[Place]:
    """Place every path of a change.

    Args:
        edits: what the change makes of its own paths on ``base``.
        now: the newest main.
        follow: where main moved a path that ``now`` does not hold.
        shared: paths that are redone at landing. Lines that a change writes there may name the file by its path, so a
            change that writes one does not follow.
        idempotent: whether what two intents make alike in a path is meant once.
    """
    return list(_Placing(change, edits, base, now, follow, shared, idempotent).places())


class _Placing(NamedTuple):
    change: Change
    edits: Mapping[RepoPath, Edit | None]
    base: Code
    now: Code
    follow: Follow
    shared: Container[RepoPath]
    idempotent: Callable[[RepoPath], bool]

    def places(self) -> Iterator[Place]:
        renamed = renamed_by(self.change, self.edits, self.base)
        carried = {target for source, target in renamed.items() if self._moved(source)}
        taken: set[RepoPath] = set()
        for path, edit in self.edits.items():
            if path in carried:
                continue
            place = self._renamed(path, renamed[path]) if renamed.get(path) in carried else self._edited(path, edit)
            if place.target in taken:
                place = Place(path, path, edit, why=f"two of its files went to {place.target.text}: author")
            if not place.why:
                taken.add(place.target)
            yield place

    def _moved(self, path: RepoPath) -> bool:
        return self.now.entry(path) != self.base.entry(path)

    def _edited(self, path: RepoPath, edit: Edit | None) -> Place:
        if not self._moved(path):
            return Place(path, path, edit)
        where = self._followed(path)
        if isinstance(where, Declined):
            return Place(path, path, edit, why=where.why)
        if where is None and edit is None and self.now.entry(path) is None and self.idempotent(path):
            return Place(path, path, edit)
        if where is None or where == path:
            return Place(path, path, edit, self._collision(path, path, path, edit))
        why = self._cannot_follow(path, where, edit)
        return Place(path, where, edit, None if why else self._collision(where, path, where, edit), why)

    def _cannot_follow(self, path: RepoPath, where: RepoPath, edit: Edit | None) -> str:
        if edit is None:
            return f"deleted here, moved on main to {where.text}: author"
        moved = f"moved on main to {where.text}"
        if where in self.edits or where in self.shared:
            return f"{moved}, which the change writes itself: author"
        if splitext(where)[1] != splitext(path)[1]:
            return f"{moved}, which is another kind of file: model"
        named = next((other for other in self.change.paths if other in self.shared), None)
        return "" if named is None else f"{moved}, and what it writes in {named.text} names the old path: model"

    def _renamed(self, path: RepoPath, target: RepoPath) -> Place:
        """Place a file that the change moves to ``target`` and that main has moved or edited as well."""
        edit = self.edits[target]
        why = ""
        main = path
        if self.now.entry(path) is None:
            where = self._followed(path)
            main = target
            if isinstance(where, Declined):
                why = where.why
            elif where is None:
                why = f"deleted on main, moved here to {target.text}: author"
            elif where != target:
                why = f"moved here to {target.text}, on main to {where.text}: author"
        elif self._moved(target):
            why = f"moved here to {target.text}, where main has another file now: author"
        if why:
            return Place(path, path, edit, why=why)
        return Place(path, target, edit, self._collision(target, path, main, edit))

    def _followed(self, path: RepoPath) -> RepoPath | Declined | None:
        if self.base.entry(path) is None or self.now.entry(path) is not None:
            return None
        return self.follow(path)

    def _collision(self, path: RepoPath, base: RepoPath, main: RepoPath, edit: Edit | None) -> Collision:
        return Collision(
            path=path,
            base=side_of(self.base, base),
            main=side_of(self.now, main),
            change=Side(content=None) if edit is None else Side(content=edit.content, mode=edit.mode),
            idempotent=self.idempotent(path),
        )

"""A change laid on a state, path by path: what collides, whether git merges it, and which step redid it."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from qodebase.change import SUBMODULE, Change
from qodebase.collision import Collision, Entry, Resolved, Side
from qodebase.edits import Edit, materialise
from qodebase.paths import RepoPath
from qodebase.ports import Tree

Rules = Callable[[RepoPath], Sequence[str]]
"""Which rules are tried on a path, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """What came of laying a change on a state.

    Attributes:
        edits: the change's paths on that state; None where every step declined.
        collided: its paths under which the state had moved since the change's base.
        conflicted: those of them that git does not merge.
        redone_by: what resolved each collided path, ``merge`` or ``rule:NAME``; empty where nothing did.
    """

    edits: Mapping[RepoPath, Edit | None] | None
    collided: tuple[RepoPath, ...]
    conflicted: tuple[RepoPath, ...]
    redone_by: Mapping[RepoPath, str]


class Ahead:
    """A tree with the edits of the changes that go before; only `entry` and `read` are asked."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._edits: dict[RepoPath, Edit | None] = {}

    def put(self, edits: Mapping[RepoPath, Edit | None]) -> None:
        """Lay edits on it."""
        self._edits |= edits

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what is at a path."""
        if path in self._edits:
            edit = self._edits[path]
            return None if edit is None else edit.entry
        return self._tree.entry(path)

    def read(self, path: RepoPath) -> bytes:
        """Return a content; raises `KeyError` where there is none."""
        edit = self._edits.get(path)
        return self._tree.read(path) if edit is None else edit.content


def lay(change: Change, base: Tree, now: Ahead, rules: Rules | None, shared: Container[RepoPath] = ()) -> Laid:
    """Lay a change on ``now``; a file that was renamed meanwhile is one that is gone.

    Args:
        base: the code at the change's base.
        rules: None: only git's merge is asked.
        shared: paths that are left out, as they are redone at landing.

    Raises:
        BadChange: the change does not fit its base.
    """
    own = materialise(change, base, lambda path: path not in shared)
    edits: dict[RepoPath, Edit | None] = {}
    conflicted = []
    redone_by: dict[RepoPath, str] = {}
    for path, edit in own.items():
        if base.entry(path) == now.entry(path):
            edits[path] = edit
            continue
        collision = Collision(path=path, base=_side(base, path), main=_side(now, path), change=_side_of(edit))
        if not merges(collision):
            conflicted.append(path)
        redone_by[path] = ""
        if rules is not None:
            redone_by[path], resolved = _climbed(collision, rules(path))
            edits[path] = None if resolved is None else Edit(resolved.mode, resolved.content)
    return Laid(
        edits=edits if all(redone_by.values()) else None,
        collided=tuple(redone_by),
        conflicted=tuple(conflicted),
        redone_by=redone_by,
    )


def merges(collision: Collision) -> bool:
    """Return whether git merges a path without a conflict.

    Git takes what both sides made alike, files that both added or both deleted included, whatever it meant.
    """
    from replay_rules.clean_merge import merge

    same = collision.main.content == collision.change.content and collision.main.mode == collision.change.mode
    return same or isinstance(merge(collision), Resolved)


def _climbed(collision: Collision, rules: Sequence[str]) -> tuple[str, Resolved | None]:
    from replay_rules.ladder import climb

    climbed = climb(collision, rules)
    return ("" if climbed.resolved is None else climbed.steps[-1].by), climbed.resolved


def _side(tree: Tree | Ahead, path: RepoPath) -> Side:
    entry = tree.entry(path)
    if entry is None or entry.mode == SUBMODULE:
        return Side(content=None)
    return Side(content=tree.read(path), mode=entry.mode)


def _side_of(edit: Edit | None) -> Side:
    return Side(content=None) if edit is None else Side(content=edit.content, mode=edit.mode)

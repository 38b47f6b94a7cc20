"""Renamed files of a real merge: one side renamed a file that the other side changed, or both renamed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from qodebase.collision import Declined, Entry, Side
from qodebase.paths import RepoPath
from replay_rules.renames import Moves

NOTHING = "0" * 40


class Blob(NamedTuple):
    """What a tree holds at a path; the mode is 0 and the id zeros where nothing is there."""

    mode: int
    id: str


Changed = Mapping[bytes, tuple[Blob, Blob]]
"""What differs between two commits: the old and the new blob by path."""

Read = Callable[[Blob], Side]


class Versions(NamedTuple):
    """One commit's version of what a side of a merge changed; see `replay_rules.renames.Code`."""

    changed: Changed
    which: int
    read_blob: Read

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the commit holds at a path."""
        if path not in self.changed:
            return None
        blob = self.changed[path][self.which]
        return Entry(blob.mode, blob.id) if blob.mode else None

    def read(self, path: RepoPath) -> bytes:
        """Return a file's content."""
        return self.read_blob(self.changed[path][self.which]).content or b""


class Renamed(NamedTuple):
    """A file that at least one side renamed.

    Attributes:
        old, new: its paths.
        blobs: the base's version, and those of both sides.
        by_git: what git's own merge makes of it, None where it conflicts.
        why: why it cannot be followed; else empty.
    """

    old: RepoPath
    new: RepoPath
    blobs: tuple[Blob, Blob, Blob]
    by_git: bytes | None
    why: str


@dataclass(frozen=True, kw_only=True)
class Renames:
    """The renamed files of one merge.

    Args:
        base, parents: its commits; ``sides`` is what each parent changed.
        git: runs a command of git and gives what it prints, whatever it ends with.
        read_blob: reads an object.
    """

    base: str
    parents: tuple[str, str]
    sides: tuple[Changed, Changed]
    git: Callable[..., bytes]
    read_blob: Read

    def __iter__(self) -> Iterator[Renamed]:
        for path in sorted(self.sides[0].keys() & self.sides[1].keys()):
            old = RepoPath(path)
            gone = [not side[old][1].mode for side in self.sides]
            if not any(gone):
                continue
            ours = [moves.target(old) for moves in self._moves]
            theirs = [RepoPath(pairs[old]) if old in pairs else None for pairs in self._by_git]
            new = next((one for one in (*ours, *theirs) if isinstance(one, RepoPath)), None)
            if new is not None and any(side[old][0].mode for side in self.sides):
                yield self._renamed(old, new, gone, ours)

    def _renamed(
        self, old: RepoPath, new: RepoPath, gone: list[bool], ours: list[RepoPath | Declined | None]
    ) -> Renamed:
        sides = tuple(
            (side[new][1] if new in side else Blob(0, NOTHING)) if is_gone else side[old][1]
            for side, is_gone in zip(self.sides, gone, strict=True)
        )
        blobs = (self.sides[0][old][0], sides[0], sides[1])
        return Renamed(old, new, blobs, self._merged_by_git(old, new), self._why(new, gone, ours))

    def _why(self, new: RepoPath, gone: list[bool], ours: list[RepoPath | Declined | None]) -> str:
        for side, target, is_gone in zip(self.sides, ours, gone, strict=True):
            if not is_gone and new in side:
                return "the new path is taken on the other side: author"
            if is_gone and isinstance(target, Declined):
                return target.why
            if is_gone and target != new:
                return "renamed on one side, elsewhere or deleted on the other: author"
        return ""

    def _merged_by_git(self, old: RepoPath, new: RepoPath) -> bytes | None:
        tree, conflicts = self._merge
        if {old, new} & conflicts:
            return None
        listed = self.git("ls-tree", "-z", tree, "--", new).partition(b"\0")[0].split()
        return self.read_blob(Blob(int(listed[0], 8), listed[2].decode())).content if listed else None

    @cached_property
    def _moves(self) -> list[Moves]:
        return [
            Moves(Versions(side, 0, self.read_blob), Versions(side, 1, self.read_blob), _paths(side))
            for side in self.sides
        ]

    @cached_property
    def _by_git(self) -> list[dict[bytes, bytes]]:
        found = []
        for parent in self.parents:
            words = ("diff-tree", "-r", "-z", "-M", "-l7000", "--name-status", "--diff-filter=R", self.base, parent)
            parts = self.git(*words).split(b"\0")[:-1]
            found.append(dict(zip(parts[1::3], parts[2::3], strict=True)))
        return found

    @cached_property
    def _merge(self) -> tuple[str, frozenset[bytes]]:
        """Return the tree that git's merge gives, and the paths that conflict in it."""
        words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *self.parents)
        tree, *conflicts = self.git(*words).split(b"\0")
        return tree.decode(), frozenset(filter(None, conflicts))


def _paths(side: Changed) -> list[RepoPath]:
    return [RepoPath(path) for path in side]

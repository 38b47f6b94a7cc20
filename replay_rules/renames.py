"""Where files went between two trees, so that a change to a file that main renamed can follow it.

As git's rename detection does: files that are gone are paired with files that came, equal ones first, then those of one
name that are at least three quarters alike, then the most alike, at least half. How much two files are alike is the
share of the larger one that stands in pieces which both have (lines, cut after 64 bytes), as git's ``diffcore-delta``
counts. Empty files have no identity, links only when equal. Unlike git, nothing is guessed: where two files fit nearly
as well, neither is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from stat import S_IFMT, S_ISREG
from typing import NamedTuple, Protocol

from qodebase.change import SUBMODULE
from qodebase.collision import Declined, Entry, Side
from qodebase.edits import blob_id
from qodebase.paths import RepoPath
from qodebase.ports import Tree
from replay_rules.hunks import lines_of

LEAST_ALIKE = 0.5
ALIKE_BY_NAME = 0.75
CLEAR_BY = 0.1
"""How much better than the next one the most alike of several files must be."""

_EMPTY = blob_id(b"")
_PIECE = 64
_BINARY_LOOK = 8000
_MOST_COMPARED = 1000
_MOST_BYTES = 8 << 20


class Code(Protocol):
    """What is asked of a tree here; see `qodebase.ports.Tree`."""

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the tree holds at a path, or None."""

    def read(self, path: RepoPath) -> bytes:
        """Return the content of a file; raises `KeyError` where there is none."""


class _Compared(NamedTuple):
    """Files that are gone and that came, with an own content each, and which of them one name pairs."""

    gone: list[RepoPath]
    came: list[RepoPath]
    named: dict[RepoPath, RepoPath]


class Moves:
    """What is gone and what came between two trees, and which of them are the same file.

    Args:
        before, after: the trees.
        touched: the paths that may differ between them.
        apart: paths that are never a file's new place.
    """

    def __init__(
        self, before: Code, after: Code, touched: Iterable[RepoPath], apart: Container[RepoPath] = frozenset()
    ) -> None:
        self._before = before
        self._after = after
        self.gone: dict[RepoPath, Entry] = {}
        self.came: dict[RepoPath, Entry] = {}
        for path in touched:
            was, now = before.entry(path), after.entry(path)
            if was is not None and now is None:
                self.gone[path] = was
            elif was is None and now is not None and path not in apart:
                self.came[path] = now
        self._held: dict[tuple[int, int], _Compared] = {}
        self._shares: dict[tuple[RepoPath, RepoPath], float] = {}
        self._pieces: dict[tuple[bool, RepoPath], tuple[Counter[bytes], int]] = {}

    def target(self, path: RepoPath) -> RepoPath | Declined | None:
        """Return where a file that is gone went, None where nothing like it came, or why it cannot be told."""
        own = self.gone.get(path)
        if own is None or own.id == _EMPTY:
            return None
        equal = [other for other, entry in self.came.items() if _is_same(own, entry)]
        if equal:
            twins = [other for other, entry in self.gone.items() if _is_same(own, entry)]
            return _of_equal(path, twins, equal)
        return self._of_like(path) if S_ISREG(own.mode) else None

    def _of_like(self, path: RepoPath) -> RepoPath | Declined | None:
        gone, came, named = self._compared()
        if max(len(gone), len(came)) > _MOST_COMPARED:
            return Declined(why="too many files came and went to tell where it went: author")
        taken = set(named.values())
        fits = {other: self._alike(path, other) for other in came if other not in taken}
        if path in named:
            best = named[path]
            least = self._alike(path, best)
        else:
            fits = {other: fit for other, fit in fits.items() if fit >= LEAST_ALIKE}
            if not fits:
                return None
            best = max(fits, key=lambda other: (fits[other], other))
            least = fits[best] - CLEAR_BY
        for other, fit in fits.items():
            if other != best and fit > least:
                return Declined(why=f"it may have moved to {best.text} or to {other.text}: author")
        for other in gone:
            if other != path and named.get(other, best) == best and self._alike(other, best) > least:
                return Declined(why=f"{best.text} may come from {other.text} as well: author")
        return best

    def _compared(self) -> _Compared:
        """Return the files to compare; asked anew when a pair was told and taken out."""
        sizes = len(self.gone), len(self.came)
        if sizes not in self._held:
            gone, came = self._open(self.gone, self.came), self._open(self.came, self.gone)
            few = max(len(gone), len(came)) <= _MOST_COMPARED
            self._held = {sizes: _Compared(gone, came, self._by_name(gone, came) if few else {})}
        return self._held[sizes]

    def _open(self, paths: dict[RepoPath, Entry], others: dict[RepoPath, Entry]) -> list[RepoPath]:
        """Return the files with content that have no equal on the other side."""
        known = {_EMPTY, *(entry.id for entry in others.values())}
        return [path for path, entry in paths.items() if S_ISREG(entry.mode) and entry.id not in known]

    def _by_name(self, gone: list[RepoPath], came: list[RepoPath]) -> dict[RepoPath, RepoPath]:
        """Map files that went to those that came under the same name, where either is one and they are alike enough."""
        names = [Counter(map(_name, paths)) for paths in (gone, came)]
        there = {_name(path): path for path in came}
        pairs = {path: there[_name(path)] for path in gone if names[0][_name(path)] == names[1][_name(path)] == 1}
        return {path: other for path, other in pairs.items() if self._alike(path, other) >= ALIKE_BY_NAME}

    def _alike(self, source: RepoPath, target: RepoPath) -> float:
        """Return the share of the larger content that stands in common pieces, 0 to 1."""
        known = self._shares.get((source, target))
        if known is None:
            known = self._shares[source, target] = self._share(source, target)
        return known

    def _share(self, source: RepoPath, target: RepoPath) -> float:
        left, left_size = self._counted(False, source)
        right, right_size = self._counted(True, target)
        larger = max(left_size, right_size)
        if not larger or min(left_size, right_size) < larger * LEAST_ALIKE:
            return 0.0
        return sum(len(piece) * count for piece, count in (left & right).items()) / larger

    def _counted(self, came: bool, path: RepoPath) -> tuple[Counter[bytes], int]:
        found = self._pieces.get((came, path))
        if found is None:
            content = (self._after if came else self._before).read(path)
            pieces = Counter[bytes]() if len(content) > _MOST_BYTES else _pieces(content)
            found = self._pieces[came, path] = (pieces, len(content))
        return found


def moves_between(before: Tree, after: Tree, apart: Container[RepoPath] = frozenset()) -> Moves:
    """Return what moved between two trees; every path of both is looked at."""
    return Moves(before, after, {path for tree in (before, after) for path, _ in tree.walk()}, apart)


def side_of(tree: Code, path: RepoPath) -> Side:
    """Return a tree's version of a path; a submodule is none."""
    entry = tree.entry(path)
    if entry is None or entry.mode == SUBMODULE:
        return Side(content=None)
    return Side(content=tree.read(path), mode=entry.mode)


def _of_equal(path: RepoPath, twins: list[RepoPath], equal: list[RepoPath]) -> RepoPath | Declined:
    """Pair equal files by name, then the one that is left with the one that is left."""
    by_name = {_name(other): other for other in equal}
    if len(by_name) == len(equal) and len({_name(twin) for twin in twins}) == len(twins):
        if _name(path) in by_name:
            return by_name[_name(path)]
        known = {_name(twin) for twin in twins}
        twins = [twin for twin in twins if _name(twin) not in by_name]
        equal = [other for other in equal if _name(other) not in known]
    if len(twins) == len(equal) == 1:
        return equal[0]
    return Declined(why=f"{len(twins)} equal files are gone and {len(equal)} came: author")


def _is_same(one: Entry, other: Entry) -> bool:
    alike = S_IFMT(one.mode) == S_IFMT(other.mode) if S_ISREG(one.mode) else one.mode == other.mode
    return alike and one.id == other.id


def _name(path: RepoPath) -> bytes:
    return path.rpartition(b"/")[2]


def _pieces(content: bytes) -> Counter[bytes]:
    """Count a content's lines, those over 64 bytes in pieces; a text's line ends count as one byte."""
    if b"\0" not in content[:_BINARY_LOOK]:
        content = content.replace(b"\r\n", b"\n")
    pieces: Counter[bytes] = Counter()
    for line in lines_of(content):
        if len(line) <= _PIECE:
            pieces[line] += 1
        else:
            pieces.update(line[start : start + _PIECE] for start in range(0, len(line), _PIECE))
    return pieces

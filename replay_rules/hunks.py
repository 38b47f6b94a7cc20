"""Two diffs of one base, and the regions that both of them touch.

Lines end at a line feed, as in git; a carriage return belongs to its line. A diff is Ratcliff and Obershelp's (the
longest common run first, `difflib`) between the common first and last lines, which are cut off before: so it is fast
on large files, and a different algorithm from git's.
"""

from __future__ import annotations

import io
import itertools
import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

try:
    from cydifflib import SequenceMatcher  # type: ignore[import-untyped]
except ImportError:
    # There are no wheels for every Python; the standard library's finds the same, in eight times the time.
    from difflib import SequenceMatcher

Lines = tuple[bytes, ...]

_MOST_WORK = 3_000_000
"""Pairs of equal lines that one search looks at, at most; to pass a line without one takes as long as `_LINE` pairs."""

_LINE = 20


class Block(NamedTuple):
    """A run that two sequences share: where it begins in each, and how long it is."""

    base: int
    side: int
    size: int


class Hunk(NamedTuple):
    """Base lines ``start`` to ``end`` (counted from 0, ``end`` not among them) become ``lines``."""

    start: int
    end: int
    lines: Lines


class Conflict(NamedTuple):
    """A region that both sides changed: base lines ``start`` to ``end``, and its three versions.

    Changes that only touch (one ends where the other starts, or both insert at one place) are one region, as in git.
    """

    start: int
    end: int
    base: Lines
    main: Lines
    change: Lines

    @property
    def inserts(self) -> bool:
        """Return whether both sides only insert at one place."""
        return self.start == self.end


def lines_of(content: bytes) -> list[bytes]:
    r"""Return the lines with their ends; the last one may lack it.

    >>> lines_of(b"a\r\nb")
    [b'a\r\n', b'b']
    """
    return io.BytesIO(content).readlines()


def hunks(base: Sequence[bytes], side: Sequence[bytes]) -> list[Hunk]:
    r"""Return what turns ``base`` into ``side``, ascending; no two hunks touch.

    >>> hunks([b"a\n", b"b\n"], [b"a\n", b"x\n", b"b\n"])
    [Hunk(start=1, end=1, lines=(b'x\n',))]
    """
    head = _common(base, side)
    tail = _common(base[head:][::-1], side[head:][::-1])
    found = whole_hunks(base[head : len(base) - tail], side[head : len(side) - tail])
    return [Hunk(head + hunk.start, head + hunk.end, hunk.lines) for hunk in found]


def whole_hunks(base: Sequence[bytes], side: Sequence[bytes]) -> list[Hunk]:
    """Return `hunks`, found without cutting off the common ends first; see `matched` for what takes too long."""
    found: list[Hunk] = []
    at = there = 0
    for start, first, size in [*matched(base, side), (len(base), len(side), 0)]:
        if at < start or there < first:
            found.append(Hunk(at, start, tuple(side[there:first])))
        at, there = start + size, first + size
    return found


def matched(base: Sequence[Hashable], side: Sequence[Hashable]) -> list[Block]:
    """Return the runs that two sequences share, ascending: the longest first, as `difflib` finds them.

    That takes time with the square of the length where many short runs are shared. Where it would take seconds, what
    stands once on either side is matched first, in the longest row that both keep, and runs are looked for between
    those; where even that is too much, what lies between two of them is taken as changed.
    """
    found = _longest_first(base, side)
    if found is not None:
        return found
    blocks: list[Block] = []
    at = there = 0
    for start, first in [*_landmarks(base, side), (len(base), len(side))]:
        blocks += _between(base, side, (at, start), (there, first))
        if start < len(base) and first < len(side):
            blocks.append(Block(start, first, 1))
        at, there = start + 1, first + 1
    return blocks


def _longest_first(base: Sequence[Hashable], side: Sequence[Hashable]) -> list[Block] | None:
    """Return what `matched` does, or None where it takes too long."""
    often = Counter(side)
    pairs = list(itertools.accumulate(map(often.get, base, itertools.repeat(0)), initial=0))
    left = _MOST_WORK
    if not pairs[-1]:
        return []
    matcher = SequenceMatcher(None, base, side, autojunk=False)
    pending = [(0, len(base), 0, len(side))]
    found: list[Block] = []
    while pending:
        start, end, first, last = pending.pop()
        left -= pairs[end] - pairs[start] + _LINE * (end - start)
        if left < 0:
            return None
        at, there, size = matcher.find_longest_match(start, end, first, last)
        if size:
            found.append(Block(at, there, size))
            pending += [(start, at, first, there)] if start < at and first < there else []
            more = at + size < end and there + size < last
            pending += [(at + size, end, there + size, last)] if more else []
    return sorted(found)


def _landmarks(base: Sequence[Hashable], side: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return where what stands once on either side stands, the longest row that ascends on both (patience)."""
    ours, theirs = Counter(base), Counter(side)
    where = {line: at for at, line in enumerate(side) if theirs[line] == 1 == ours[line]}
    ends: list[int] = []
    rows: list[tuple[tuple[int, int], int | None]] = []
    tops: list[int] = []
    for at, line in enumerate(base):
        if line not in where:
            continue
        there = where[line]
        pile = bisect_left(ends, there)
        rows.append(((at, there), tops[pile - 1] if pile else None))
        ends[pile : pile + 1] = [there]
        tops[pile : pile + 1] = [len(rows) - 1]
    row: list[tuple[int, int]] = []
    top = tops[-1] if tops else None
    while top is not None:
        place, top = rows[top]
        row.append(place)
    return row[::-1]


def _between(
    base: Sequence[Hashable], side: Sequence[Hashable], ours: tuple[int, int], theirs: tuple[int, int]
) -> list[Block]:
    """Return the runs between two landmarks: the common ends, and between those what can be found in time."""
    (start, end), (first, last) = ours, theirs
    head = _common(base[start:end], side[first:last])
    tail = _common(base[start + head : end][::-1], side[first + head : last][::-1])
    inner = (start + head, end - tail), (first + head, last - tail)
    found = _longest_first(base[slice(*inner[0])], side[slice(*inner[1])]) or []
    blocks = [Block(start, first, head)] if head else []
    blocks += [Block(inner[0][0] + at, inner[1][0] + there, size) for at, there, size in found]
    return [*blocks, Block(end - tail, last - tail, tail)] if tail else blocks


def _common(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    differ = map(operator.ne, left, right)
    return next(itertools.compress(itertools.count(), differ), min(len(left), len(right)))


def conflicts(base: Sequence[bytes], main: Sequence[bytes], change: Sequence[bytes]) -> list[Conflict]:
    r"""Return the regions that both sides changed, ascending; a region changed alike is among them.

    >>> conflicts([b"a\n", b"b\n"], [b"a\n", b"m\n", b"b\n"], [b"a\n", b"c\n", b"b\n"])
    [Conflict(start=1, end=1, base=(), main=(b'm\n',), change=(b'c\n',))]
    """
    left, right = hunks(base, main), hunks(base, change)
    found = []
    for start, end in _regions(left, right):
        ours, theirs = _inside(left, start, end), _inside(right, start, end)
        if ours and theirs:
            found.append(
                Conflict(
                    start,
                    end,
                    tuple(base[start:end]),
                    _applied(base, ours, start, end),
                    _applied(base, theirs, start, end),
                )
            )
    return found


def rebuild(
    base: Sequence[bytes], main: Sequence[bytes], change: Sequence[bytes], resolved: Sequence[Sequence[bytes]]
) -> list[bytes]:
    r"""Return the merged lines: what one side changed as it did, and each of `conflicts` as ``resolved`` says.

    >>> base, main, change = [b"a\n", b"b\n"], [b"a\n", b"m\n", b"b\n"], [b"a\n", b"c\n", b"B\n"]
    >>> len(conflicts(base, main, change))
    1
    >>> rebuild(base, main, change, [[b"m\n", b"c\n", b"B\n"]])
    [b'a\n', b'm\n', b'c\n', b'B\n']
    """
    left, right = hunks(base, main), hunks(base, change)
    answers = iter(resolved)
    out: list[bytes] = []
    at = 0
    for start, end in _regions(left, right):
        ours, theirs = _inside(left, start, end), _inside(right, start, end)
        out += base[at:start]
        out += next(answers) if ours and theirs else _applied(base, ours or theirs, start, end)
        at = end
    out += base[at:]
    return out


def _regions(left: Sequence[Hunk], right: Sequence[Hunk]) -> list[tuple[int, int]]:
    regions: list[tuple[int, int]] = []
    for start, end, _ in sorted([*left, *right], key=lambda hunk: (hunk.start, hunk.end)):
        if regions and start <= regions[-1][1]:
            regions[-1] = (regions[-1][0], max(end, regions[-1][1]))
        else:
            regions.append((start, end))
    return regions


def _inside(found: Sequence[Hunk], start: int, end: int) -> list[Hunk]:
    return [hunk for hunk in found if start <= hunk.start and hunk.end <= end]


def _applied(base: Sequence[bytes], inside: Sequence[Hunk], start: int, end: int) -> Lines:
    out: list[bytes] = []
    at = start
    for hunk in inside:
        out += base[at : hunk.start]
        out += hunk.lines
        at = hunk.end
    out += base[at:end]
    return tuple(out)

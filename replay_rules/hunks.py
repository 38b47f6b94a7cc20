"""Two diffs of one base, and the regions that both of them touch.

Lines end at a line feed, as in git; a carriage return belongs to its line. A diff is Ratcliff and Obershelp's (the
longest common run first, `difflib`) between the common first and last lines, which are cut off before: so it is fast
on large files, and a different algorithm from git's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

try:
    from cydifflib import SequenceMatcher  # type: ignore[import-untyped]
except ImportError:
    # There are no wheels for every Python; the standard library's finds the same, in eight times the time.
    from difflib import SequenceMatcher

Lines = tuple[bytes, ...]

_MOST_PAIRS = 2_000_000


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
    lines = content.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def hunks(base: Sequence[bytes], side: Sequence[bytes]) -> list[Hunk]:
    r"""Return what turns ``base`` into ``side``, ascending; no two hunks touch.

    >>> hunks([b"a\n", b"b\n"], [b"a\n", b"x\n", b"b\n"])
    [Hunk(start=1, end=1, lines=(b'x\n',))]
    """
    shorter = min(len(base), len(side))
    head = 0
    while head < shorter and base[head] == side[head]:
        head += 1
    tail = 0
    while tail < shorter - head and base[-1 - tail] == side[-1 - tail]:
        tail += 1
    found = whole_hunks(base[head : len(base) - tail], side[head : len(side) - tail])
    return [Hunk(head + hunk.start, head + hunk.end, hunk.lines) for hunk in found]


def whole_hunks(base: Sequence[bytes], side: Sequence[bytes]) -> list[Hunk]:
    """Return `hunks`, found without cutting off the common ends first.

    Where lines repeat so often that the search would take seconds, all is one hunk.
    """
    if not base or not side:
        return [Hunk(0, len(base), tuple(side))] if base or side else []
    often = Counter(side)
    if sum(often[line] for line in base) > _MOST_PAIRS:
        return [] if base == side else [Hunk(0, len(base), tuple(side))]
    codes = SequenceMatcher(None, base, side, autojunk=False).get_opcodes()
    return [Hunk(start, end, tuple(side[first:last])) for tag, start, end, first, last in codes if tag != "equal"]


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

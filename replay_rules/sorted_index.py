"""Rule ``sorted-index``: insert a change's lines again, by their keys, into the newest index.

An index is any heading, then one entry a line, each beginning ``- `PATH` `NAME` `` and sorted by the bytes of (PATH,
NAME). The change may only add entries. Invariant: in the result each new entry stands between a smaller and a greater
key, so what was sorted and unique stays so, and nothing but the new entries is added.
"""

from __future__ import annotations

import itertools

from qodebase.collision import Collision, Declined, Resolved

Key = tuple[bytes, bytes]

_ENTRY = b"- `"
_MANY = 100
"""So many added lines are merged in one pass over the whole index; fewer are each put at their place."""


def rule(collision: Collision) -> Resolved | Declined:
    """Re-insert the added entries.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = Side(content=b"# Index\\n\\n- `b.py` `g` function\\n")
    >>> main = Side(content=b"# Index\\n\\n- `a.py` `f` function\\n- `b.py` `g` function\\n")
    >>> change = Side(content=b"# Index\\n\\n- `b.py` `g` function\\n- `c.py` `h` function\\n")
    >>> print(rule(Collision(path=RepoPath(b"I.md"), base=base, main=main, change=change)).content.decode())
    # Index
    <BLANKLINE>
    - `a.py` `f` function
    - `b.py` `g` function
    - `c.py` `h` function
    <BLANKLINE>
    """
    base, main, change = collision.base.content, collision.main.content, collision.change.content
    if main is None or change is None:
        return Declined(why="the index was deleted")
    if collision.base.mode != collision.change.mode and collision.base.content is not None:
        return Declined(why="the change sets the index's file mode")
    added = _added(base, change)
    if isinstance(added, Declined):
        return added
    if added and main and _is_windows(added[0]) != _is_windows(main):
        return Declined(why="the line ends of the index and of the change differ: author")
    out = _with_many(main, added) if len(added) > _MANY else _with_few(main, added)
    if isinstance(out, Declined):
        return out
    return Resolved(content=out, mode=collision.main.mode)


def key_of(line: bytes) -> Key | None:
    """Return an entry's (path, name), or None where the line is no entry."""
    if not line.startswith(_ENTRY):
        return None
    path, _, rest = line[len(_ENTRY) :].partition(b"` `")
    name, closing, _ = rest.partition(b"`")
    return (path, name) if closing else None


def insert(index: bytes, line: bytes) -> bytes | Declined:
    """Return the index with one entry more, at its place; an equal entry that is there already is kept once."""
    at = place(index, line)
    if isinstance(at, Declined):
        return at
    return index if index.startswith(line, at) else index[:at] + line + index[at:]


def place(index: bytes, line: bytes) -> int | Declined:
    """Return the offset in bytes at which an entry belongs, or stands already, found by bisection."""
    key = key_of(line)
    if key is None or not line.endswith(b"\n"):
        return Declined(why="an added line is no index entry")
    if index and not index.endswith(b"\n"):
        return Declined(why="the index ends in the middle of a line")
    low, high = first_entry(index), len(index)
    while low < high:
        start = index.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = index.index(b"\n", start) + 1
        here = key_of(index[start:end])
        if here is None:
            return Declined(why="a line among the entries is no entry")
        if here == key:
            same = index[start:end] == line
            return start if same else Declined(why="the same entry with another text: author")
        if here < key:
            low = end
        else:
            high = start
    return low


def first_entry(index: bytes) -> int:
    """Return the offset in bytes of the first entry, or the length where there is none."""
    if index.startswith(_ENTRY):
        return 0
    at = index.find(b"\n" + _ENTRY)
    return len(index) if at < 0 else at + 1


def _is_windows(text: bytes) -> bool:
    """Return whether the first line ends as on Windows."""
    at = text.find(b"\n")
    return at > 0 and text[at - 1 : at] == b"\r"


def _with_few(index: bytes, lines: list[bytes]) -> bytes | Declined:
    for line in lines:
        inserted = insert(index, line)
        if isinstance(inserted, Declined):
            return inserted
        index = inserted
    return index


def _with_many(index: bytes, lines: list[bytes]) -> bytes | Declined:
    """Merge lines into an index; unlike a few lines at their places, this looks at every line that is there."""
    if index and not index.endswith(b"\n"):
        return Declined(why="the index ends in the middle of a line")
    start = first_entry(index)
    kept = _keyed(_lines(index[start:]))
    if kept is None:
        return Declined(why="a line among the entries is no entry")
    added = _keyed(lines)
    if added is None or not lines[-1].endswith(b"\n"):
        return Declined(why="an added line is no index entry")
    if any(left[0] >= right[0] for left, right in itertools.pairwise(kept)):
        return Declined(why="the index is not sorted")
    entries = [entry for entry, _ in itertools.groupby(sorted(kept + added))]
    if any(left[0] == right[0] for left, right in itertools.pairwise(entries)):
        return Declined(why="the same entry with another text: author")
    return index[:start] + b"".join(line for _, line in entries)


def _keyed(lines: list[bytes]) -> list[tuple[Key, bytes]] | None:
    """Return lines with their keys, or None where one is no entry."""
    keyed = [(key, line) for line in lines if (key := key_of(line)) is not None]
    return keyed if len(keyed) == len(lines) else None


def _added(base: bytes | None, change: bytes) -> list[bytes] | Declined:
    """Return the lines that the change adds to its base; anything else that it does is declined."""
    if base is None:
        return _lines(change[first_entry(change) :])
    start = _common(base, change)
    start = base.rfind(b"\n", 0, start) + 1
    size = len(change) - len(base)
    if size >= 0 and change[start + size :] == base[start:]:
        return _lines(change[start : start + size])
    kept, wanted = _lines(base), _lines(change)
    at = 0
    added = []
    for line in wanted:
        if at < len(kept) and line == kept[at]:
            at += 1
        else:
            added.append(line)
    return added if at == len(kept) else Declined(why="the change removes or edits lines of the index")


def _lines(text: bytes) -> list[bytes]:
    return [line + b"\n" for line in text.split(b"\n")[:-1]] if text.endswith(b"\n") else text.splitlines(keepends=True)


def _common(left: bytes, right: bytes) -> int:
    """Return the length of the common prefix, by bisection over slice compares."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

r"""Rule ``sorted-index-undo``: take the entries that a change removes out of the newest index, and nothing else.

The inverse of ``sorted-index``. Invariant: the result is the newest index without some of the removed lines, each of
which stood there to the letter; all others keep their order. A line that is gone already stays gone.
"""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.sorted_index import key_of, place


def rule(collision: Collision) -> Resolved | Declined:
    r"""Remove the entries.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = Side(content=b"# Index\n\n- `b.py` `g` function\n")
    >>> main = Side(content=b"# Index\n\n- `a.py` `f` function\n- `b.py` `g` function\n")
    >>> change = Side(content=b"# Index\n\n")
    >>> rule(Collision(path=RepoPath(b"INDEX.md"), base=base, main=main, change=change)).content
    b'# Index\n\n- `a.py` `f` function\n'
    """
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    if base is None or main is None or change is None:
        return Declined(why="the index is not there on every side: author")
    if collision.base.mode != collision.change.mode:
        return Declined(why="the change sets the index's file mode: author")
    removed = lines_without(base, change)
    if removed is None:
        return Declined(why="the change does more than removing lines of the index: author")
    for line in removed:
        if key_of(line) is None:
            return Declined(why="a removed line is no index entry: author")
        at = place(main, line)
        if isinstance(at, Declined):
            return at
        if main.startswith(line, at):
            main = main[:at] + main[at + len(line) :]
    return Resolved(content=main, mode=collision.main.mode)


def lines_without(before: bytes, after: bytes) -> list[bytes] | None:
    """Return the lines that ``before`` has beside those of ``after``; None where that lacks none and has others."""
    left = after.splitlines(keepends=True)
    at = 0
    removed = []
    for line in before.splitlines(keepends=True):
        if at < len(left) and line == left[at]:
            at += 1
        else:
            removed.append(line)
    return removed if at == len(left) else None

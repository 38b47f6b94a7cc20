"""Rule ``same-file``: a file that both sides added with the same bytes and mode is kept once.

Invariant: the result is byte for byte what each side added.
"""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved

APPLIES = ("*",)
ORDER = 50


def rule(collision: Collision) -> Resolved | Declined:
    r"""Keep one of two equal files.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> gone, added = Side(content=None), Side(content=b"")
    >>> rule(Collision(path=RepoPath(b"pkg/__init__.py"), base=gone, main=added, change=added))
    Resolved(content=b'', mode=33188)
    """
    main, change = collision.main, collision.change
    if collision.base.content is not None or main.content is None or change.content is None:
        return Declined(why="not added on both sides")
    if main != change:
        return Declined(why="both sides added the file, each another one: model")
    return Resolved(content=main.content, mode=main.mode)

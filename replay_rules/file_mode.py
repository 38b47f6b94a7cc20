"""Rule ``file-mode``: a file's mode follows the only side that changed it, its content the only side that changed that.

Invariant: content and mode are each what one side made of them, and the other side left them as they were.
"""

from __future__ import annotations

from stat import S_IFMT

from qodebase.collision import Collision, Declined, Resolved

APPLIES = ("*",)
ORDER = 100


def rule(collision: Collision) -> Resolved | Declined:
    r"""Take the changed mode with the changed content.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> plain, edited = Side(content=b"a\n"), Side(content=b"b\n")
    >>> executable = Side(content=b"a\n", mode=0o100755)
    >>> found = rule(Collision(path=RepoPath(b"run.sh"), base=plain, main=edited, change=executable))
    >>> found.content, oct(found.mode)
    (b'b\n', '0o100755')
    """
    base, main, change = collision.base, collision.main, collision.change
    if base.content is None or main.content is None or change.content is None:
        return Declined(why="the file is not on all sides: author")
    mode = merged_mode(collision)
    if isinstance(mode, Declined):
        return mode
    if main.content == base.content:
        return Resolved(content=change.content, mode=mode)
    if change.content == base.content:
        return Resolved(content=main.content, mode=mode)
    return Declined(why="both sides changed the content")


def merged_mode(collision: Collision) -> int | Declined:
    """Return the mode that the only side which changed it gave; a file and a link are never mixed."""
    base, main, change = collision.base, collision.main, collision.change
    kinds = {S_IFMT(side.mode) for side in (base, main, change) if side.content is not None}
    if len(kinds) > 1:
        return Declined(why="a file on one side, a link on another: author")
    if base.content is None:
        return main.mode if main.mode == change.mode else Declined(why="added with different modes: author")
    if main.mode == change.mode or change.mode == base.mode:
        return main.mode
    return change.mode if main.mode == base.mode else Declined(why="both sides changed the file mode: author")

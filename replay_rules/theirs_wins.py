"""Rule ``theirs-wins``: a control that guesses, to show what a gate finds; no job binds it.

Of lines that both sides changed it keeps the change's, as ``git merge-file --theirs`` does, so that main's are lost.
No invariant allows that, so none is asked (`UNPROVED`).
"""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.clean_merge import merge_file

UNPROVED = True


def rule(collision: Collision) -> Resolved | Declined:
    r"""Keep the change's side of every conflict.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> sides = [Side(content=text) for text in (b"a\n", b"b\n", b"c\n")]
    >>> rule(Collision(path=RepoPath(b"x"), base=sides[0], main=sides[1], change=sides[2])).content
    b'c\n'
    """
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    if base is None or main is None or change is None:
        return Declined(why="a side has no file: author")
    merged = merge_file(base, main, change, theirs_wins=True)
    if merged is None:
        return Declined(why="no text: author")
    return Resolved(content=merged, mode=collision.change.mode)

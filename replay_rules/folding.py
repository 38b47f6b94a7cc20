"""Folding: several contents of one kind become one, by the rule that their paths are bound to."""

from __future__ import annotations

from collections.abc import Sequence

from qodebase.collision import Collision, Declined, Side
from qodebase.paths import RepoPath
from replay_rules.registry import load_rule


def fold(path: RepoPath, contents: Sequence[bytes], rule: str) -> bytes | Declined:
    """Return what ``path`` holds once the later contents were added to the first, or why the rule declines.

    Neighbours are folded in pairs, then the results, so that k parts of together n bytes cost about n * log k.

    Raises:
        ValueError: there is nothing to fold.
    """
    if not contents:
        raise ValueError("nothing to fold")
    if len(contents) == 1:
        return contents[0]
    middle = len(contents) // 2
    main = fold(path, contents[:middle], rule)
    change = fold(path, contents[middle:], rule)
    if isinstance(main, Declined) or isinstance(change, Declined):
        return main if isinstance(main, Declined) else change
    both = Collision(
        path=path, base=Side(content=None), main=Side(content=main), change=Side(content=change), idempotent=True
    )
    outcome = load_rule(rule)(both)
    return outcome if isinstance(outcome, Declined) else outcome.content

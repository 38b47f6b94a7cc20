"""Path patterns in gitignore syntax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class BadPattern(QodebaseError):
    """A pattern that gitignore's syntax does not allow."""


def matcher(patterns: Sequence[str]) -> Callable[[RepoPath], bool]:
    """Return a function that says whether a path matches; later patterns win, ``!`` takes back.

    Raises:
        BadPattern: a pattern has no meaning; the message names it.
    """
    try:
        spec = _spec(tuple(patterns))
    except ValueError as error:
        raise BadPattern(f"pattern: {error}", hint="Patterns are written as in a .gitignore file.") from None
    return lambda path: spec.match_file(path.decode(errors="surrogateescape"))


@lru_cache(maxsize=256)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)

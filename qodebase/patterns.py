"""Path patterns in gitignore syntax."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath


class BadPattern(QodebaseError):
    """A pattern that gitignore's syntax does not allow."""


def matcher(patterns: Sequence[str]) -> Callable[[RepoPath], bool]:
    """Return a function that says whether a path matches; later patterns win, ``!`` takes back.

    Raises:
        BadPattern: a pattern has no meaning; the message names it.
    """
    import pathspec

    try:
        spec = pathspec.GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise BadPattern(f"pattern: {error}", hint="Patterns are written as in a .gitignore file.") from None
    return lambda path: spec.match_file(path.decode(errors="surrogateescape"))

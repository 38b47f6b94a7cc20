"""Who owns a path by a repository's CODEOWNERS, as GitHub reads it.

The first file of ``.github/``, the root and ``docs/`` counts, and in it the last pattern that matches. Patterns are
gitignore's, but that ``!`` and ``[...]`` mean nothing there (such lines are passed over) and ``folder/*`` takes the
files of the folder alone. A pattern without owners takes them away.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from qodebase.change import EXECUTABLE, REGULAR
from qodebase.paths import RepoPath
from qodebase.ports import Tree

PLACES = tuple(map(RepoPath, (b".github/CODEOWNERS", b"CODEOWNERS", b"docs/CODEOWNERS")))
_LARGEST = 3 << 20
_WORD = re.compile(r"(?:\\.|[^\s\\])+")

Owners = tuple[str, ...]


def owners_in(tree: Tree) -> Callable[[RepoPath], Owners] | None:
    """Return who owns each path, or None where the tree has no such file."""
    for place in PLACES:
        entry = tree.entry(place)
        if entry is not None and entry.mode in (REGULAR, EXECUTABLE):
            content = tree.read(place)
            return owners_by("" if len(content) > _LARGEST else content.decode(errors="replace"))
    return None


def owners_by(text: str) -> Callable[[RepoPath], Owners]:
    """Return who owns each path by a file of owners.

    >>> owner = owners_by("* @all\\n/docs/* @writers  # not below\\nbuild/\\n")
    >>> owner(RepoPath(b"docs/a.md")), owner(RepoPath(b"docs/api/a.md")), owner(RepoPath(b"x/build/y"))
    (('@writers',), ('@all',), ())
    """
    rules = []
    for line in text.splitlines():
        pattern, *owners = _WORD.findall(line) or [""]
        if not pattern or pattern[0] in "#!" or "[" in pattern:
            continue
        end = next((at for at, word in enumerate(owners) if word.startswith("#")), None)
        rules.append((_expression(re.sub(r"\\(.)", r"\1", pattern)), tuple(owners[:end])))
    rules.reverse()

    def owner(path: RepoPath) -> Owners:
        text = path.decode(errors="surrogateescape")
        return next((owners for expression, owners in rules if expression.fullmatch(text)), ())

    return owner


def _expression(pattern: str) -> re.Pattern[str]:
    """Return what a path must be to match a pattern."""
    folder = pattern.endswith("/")
    body = pattern.strip("/")
    anchored = "/" in pattern.rstrip("/")
    parts = [
        "(?:.*/)?" if part == "**/" else ".*" if part == "**" else "[^/]*" if part == "*" else "[^/]" if part == "?"
        else re.escape(part)
        for part in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", body)
    ]  # fmt: skip
    below = "/.*" if folder else "" if anchored and body.endswith("/*") else "(?:/.*)?"
    return re.compile(("" if anchored else "(?:.*/)?") + "".join(parts) + below, re.DOTALL)

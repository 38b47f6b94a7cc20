"""What stands in a fenced block as if it were a whole file, and is none."""

from __future__ import annotations

import re
from itertools import pairwise

from fleet.jobs.edit.answers import lines_of
from qodebase.paths import RepoPath

_DIFFS = (".diff", ".patch")
_HEADER = re.compile(r"diff --git |@@ -\d|--- \S.*\n\+\+\+ \S")
_BLOCK = re.compile(r"<{5,9} ?SEARCH\s*|>{5,9} ?REPLACE\s*")
_NUMBERED = re.compile(r"\s*(\d+)(?:[ \t:|].*)?")
_ENOUGH = 3


def fault_of_whole(path: RepoPath, before: str, text: str, info: str) -> str:
    """Return what the text of a block is instead of a whole file, or the empty text.

    Args:
        info: what stands behind the block's fence.
    """
    diff = _HEADER.match(text.lstrip("\n")) or info.split(" ")[0].lower() in ("diff", "patch")
    if diff and not path.text.endswith(_DIFFS) and not _HEADER.match(before):
        return "is a diff"
    there = set(lines_of(before))
    if any(_BLOCK.fullmatch(line) for line in lines_of(text) if line not in there):
        return "is search/replace blocks"
    return "has numbers before its lines" if _is_numbered(text) and not _is_numbered(before) else ""


def is_a_part(before: str, text: str, *, least: float, spare: int) -> str:
    """Return how much of a file a text has, where that is so little that it looks like a part; else the empty text.

    Args:
        least: the share of the lines that say something which it must have.
        spare: how many of them may be gone anyway.
    """
    was, now = (sum(1 for line in lines_of(one) if line.strip()) for one in (before, text))
    return f"{now} of {was} lines" if was - now > spare and now < least * was else ""


def _is_numbered(text: str) -> bool:
    """Return whether each line that says something begins with a number, one higher than that of the line before."""
    found = [_NUMBERED.fullmatch(line) for line in lines_of(text) if line.strip()]
    numbers = [int(one[1][:9]) for one in found if one]
    steps = all(0 < after - before <= _ENOUGH for before, after in pairwise(numbers))
    return len(numbers) == len(found) >= _ENOUGH and steps

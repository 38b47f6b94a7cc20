"""Rule ``parallel-inserts``: hunks that both sides inserted at one place of an unordered list, one behind the other.

Each hunk stays whole, main's first; lines are never mixed, which would tear entries of several lines apart. No text
says of itself that its order means nothing, so the rule is for paths that are known for it, and for those that a job
binds it to. Invariant: both sides only insert, no entry comes from both, the hunks are cut alike (blank lines and
brackets), and the lines of the result are main's and the change's without those that they share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.file_mode import merged_mode
from replay_rules.hunks import Conflict, conflicts, lines_of, rebuild
from replay_rules.parts import grammar_of

APPLIES = (".gitignore", ".dockerignore", "requirements*.txt", "AUTHORS", "CONTRIBUTORS")
ORDER = 400

_REQUIREMENT = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]*")


def rule(collision: Collision) -> Resolved | Declined:
    r"""Put both sides' hunks one behind the other.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> sides = [Side(content=b"*.pyc\n" + text) for text in (b"", b"dist/\n", b"out/\n")]
    >>> rule(Collision(path=RepoPath(b".gitignore"), base=sides[0], main=sides[1], change=sides[2])).content
    b'*.pyc\ndist/\nout/\n'
    """
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    mode = merged_mode(collision)
    if base is None or main is None or change is None or isinstance(mode, Declined):
        return Declined(why="a version or its mode is missing: author")
    if grammar_of(collision.path) is not None:
        return Declined(why="the order of code matters, and rules of its own look at it: model")
    if b"\0" in base + main + change:
        return Declined(why="binary: author")
    end = b"\r\n" if b"\r\n" in base or (not base and b"\r\n" in main) else b"\n"
    whole = [_closed(content, end) for content in (base, main, change)]
    if any(content.count(b"\n") != content.count(end) for content in whole):
        return Declined(why="the versions' line ends differ: author")
    lines = [lines_of(content) for content in whole]
    found = conflicts(lines[0], lines[1], lines[2])
    if not found:
        return Declined(why="nothing was inserted at one place: model")
    name = collision.path.rpartition(b"/")[2]
    for conflict in found:
        why = _objection(conflict, name)
        if why:
            return Declined(why=why)
    if name.startswith(b"requirements"):
        before, ours, theirs = map(_required, lines)
        if (ours - before) & (theirs - before):
            return Declined(why="both sides require one package: author")
    result = rebuild(lines[0], lines[1], lines[2], [(*conflict.main, *conflict.change) for conflict in found])
    wanted = Counter(lines[1])
    wanted.update(lines[2])
    wanted.subtract(lines[0])
    if Counter(result) != Counter({line: count for line, count in wanted.items() if count}):
        return Declined(why="the lines do not add up: model")
    content = b"".join(result)
    open_ended = [not text.endswith(b"\n") for text in (base, main, change)]
    last = open_ended[2] if open_ended[1] == open_ended[0] else open_ended[1]
    return Resolved(content=content[: -len(end)] if last and content else content, mode=mode)


def _objection(conflict: Conflict, name: bytes) -> str:
    if not conflict.inserts:
        return "both sides changed the same lines: model"
    main, change = conflict.main, conflict.change
    if {line.strip() for line in main if line.strip()} & {line.strip() for line in change if line.strip()}:
        return "both sides added the same line, which may be meant twice: model"
    if [_blank(main[0]), _blank(main[-1])] != [_blank(change[0]), _blank(change[-1])]:
        return "the hunks of both sides are cut differently: model"
    shapes = _brackets(main), _brackets(change)
    if shapes[0] != shapes[1] or shapes[0][1]:
        return "the hunks of both sides are no whole entries: model"
    if name in (b".gitignore", b".dockerignore") and any(line.lstrip().startswith(b"!") for line in (*main, *change)):
        return "an exception is added, whose place matters: model"
    if name.startswith(b"requirements"):
        return _options(main, change)
    return ""


def _options(main: Sequence[bytes], change: Sequence[bytes]) -> str:
    entries = [line for line in (*main, *change) if line.strip() and not line.lstrip().startswith(b"#")]
    return "" if all(map(_REQUIREMENT.match, entries)) else "an option is added, whose place may matter: model"


def _required(lines: Sequence[bytes]) -> set[bytes]:
    """Return the names of the packages that lines require, written alike."""
    found = (_REQUIREMENT.match(line) for line in lines)
    return {re.sub(rb"[-_.]+", b"-", match[0]).lower() for match in found if match}


def _brackets(run: Sequence[bytes]) -> tuple[bool, int]:
    """Return whether a run closes a bracket that it did not open, and how many more it opens than it closes."""
    depth = lowest = 0
    for letter in b"".join(run):
        if letter in b"([{":
            depth += 1
        elif letter in b")]}":
            depth -= 1
            lowest = min(lowest, depth)
    return lowest < 0, depth


def _blank(line: bytes) -> bool:
    return not line.strip()


def _closed(content: bytes, end: bytes) -> bytes:
    return content + end if content and not content.endswith(b"\n") else content

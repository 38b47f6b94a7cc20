"""What a change claims of its paths while a model redoes it: definitions by name where a file can be read, else all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from lanes.submission import Submission
from qodebase.edits import BadChange, materialise
from qodebase.paths import RepoPath
from replay_rules.grammars import language_of
from replay_rules.hunks import hunks, lines_of
from replay_rules.symbols import Definition, definitions

Parts = frozenset[str] | None
"""Names of definitions, and ``after NAME`` for what stands between two of them; None: the whole path."""

Claims = Mapping[RepoPath, Parts]
"""What a change claims of each path."""

_MOST_BYTES = 1 << 20


def paths_of(submission: Submission) -> set[RepoPath]:
    """Return the paths that a change touches or that its intent lets it touch, shared ones left out."""
    moved = (collided.moved_to for collided in submission.stuck_at if collided.moved_to is not None)
    return {*submission.intent.scope, *submission.change.paths, *moved} - submission.shared


def claimed(submission: Submission, paths: Iterable[RepoPath]) -> Claims:
    """Return what a change claims of some paths; a path that it may touch and does not yet is claimed whole."""
    wanted = set(paths)
    try:
        edits = materialise(submission.change, submission.fork, wanted.__contains__)
    except BadChange:
        edits = {}
    found: dict[RepoPath, Parts] = dict.fromkeys(wanted)
    for path, edit in edits.items():
        entry = submission.fork.entry(path)
        if edit is not None and entry is not None and entry.mode == edit.mode:
            found[path] = _edited(path, submission.fork.read(path), edit.content)
    return found


def meet(one: Parts, other: Parts) -> bool:
    """Return whether two claims of one path have something in common."""
    return one is None or other is None or not one.isdisjoint(other)


def _edited(path: RepoPath, base: bytes, content: bytes) -> Parts:
    language = language_of(path)
    if language is None or max(len(base), len(content)) > _MOST_BYTES:
        return None
    known = definitions(language, base)
    if not known:
        return None
    lines = lines_of(base)
    starts = list(accumulate(map(len, lines), initial=0))
    parts: set[str] = set()
    for hunk in hunks(lines, lines_of(content)):
        # Git merges no two edits whose lines touch.
        start, end = starts[max(0, hunk.start - 1)], starts[min(len(lines), hunk.end + 1)]
        parts |= _at(known, start, end)
    return frozenset(parts)


def _at(known: Sequence[Definition], start: int, end: int) -> set[str]:
    """Return the innermost definitions that share a byte with a range, or the place between two where it lies."""
    hit = [one for one in known if one.head < end and start < one.end]
    # They come in order of their start, an outer one before those within it.
    outer = (any(_holds(one, later) for later in hit[number:]) for number, one in enumerate(hit, 1))
    inner = {one.qualified for one, holds in zip(hit, outer, strict=True) if not holds}
    if inner:
        return inner
    before = [one for one in known if one.end <= start]
    return {f"after {before[-1].qualified if before else ''}"}


def _holds(outer: Definition, inner: Definition) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end

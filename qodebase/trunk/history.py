"""Walk commits down from a tip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from qodebase.trunk.commits import CommitFacts, parse_commit
from qodebase.trunk.objects import COMMIT, Objects


def read_commit(objects: Objects, id: str) -> CommitFacts:
    """Return what a commit says.

    Raises:
        MissingObject: the repository does not hold it, or it is no commit.
    """
    name = bytes.fromhex(id)
    return parse_commit(name, objects.content(name, COMMIT))


def shallow_commits(git: Path) -> frozenset[str]:
    """Return the commits whose parents a shallow clone left out."""
    try:
        return frozenset((git / "shallow").read_text().split())
    except FileNotFoundError:
        return frozenset()


def first_parents(objects: Objects, git: Path, tip: str, until: str | None = None) -> Iterator[CommitFacts]:
    """Yield the commits from ``tip`` down along first parents, without ``until`` and what is below it."""
    ends = shallow_commits(git)
    at: str | None = tip
    while at is not None and at != until:
        commit = read_commit(objects, at)
        yield commit
        at = commit.parents[0] if commit.parents and at not in ends else None


def reaches(objects: Objects, git: Path, tip: str, sought: str, onto: str | None) -> bool:
    """Say whether ``sought`` is ``tip`` or below it; nothing below ``onto``, its own ancestor, is looked at."""
    ends = shallow_commits(git)
    seen = {tip}
    waiting = [tip]
    while waiting:
        at = waiting.pop()
        if at == sought:
            return True
        if at == onto or at in ends:
            continue
        for parent in reversed(read_commit(objects, at).parents):
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False

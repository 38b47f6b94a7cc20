"""Find a run's intents again among the commits of a branch, after a squash, a rebase or cherry-picks.

Three things are asked, in this order: whom a message names in the run's trailers, wherever they stand in it; whether a
commit does to its own paths what the landing did (as ``git patch-id`` compares patches: without places and white
space, and here without the order of lines); whether it leaves there what the landing left, or its patch holds the
landing's among others. A message alone proves nothing: the commit must touch the intent's paths.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from qodebase.change import SUBMODULE
from qodebase.collision import Entry
from qodebase.commands.support.handover.asking import Diff, diffs_of
from qodebase.commands.support.handover.landed import Work
from qodebase.paths import CommitId, RepoPath
from qodebase.trailers import INTENT, RUN
from qodebase.trunk.objects import MissingObject
from qodebase.trunk.reader import Reader
from results.tree_diff import Differs

_NAMED = re.compile(rf"^[\s>*-]*({RUN}|{INTENT}): ?(.*?)\s*$", re.MULTILINE)
_KEPT = 4096


class By(StrEnum):
    """What an intent was found by."""

    TRAILERS = "trailers"
    PATCH = "patch"
    CONTENT = "content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A commit that may hold intents: the one below it, whom it names, what it takes back, what it changed."""

    commit: CommitId
    parent: CommitId | None
    named: frozenset[str]
    reverts: tuple[CommitId, ...]
    diff: Diff


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An intent on a commit."""

    work: Work
    candidate: Candidate
    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """An intent that no commit holds, and why."""

    work: Work
    why: str


def candidates_of(repository: Path, reader: Reader, commits: Sequence[CommitId], run: str) -> list[Candidate]:
    """Return commits with what they say of a run and what they changed."""
    diffs = diffs_of(repository, commits)
    found = []
    for id in commits:
        facts = reader.commit(id)
        found.append(
            Candidate(
                commit=id,
                parent=facts.parents[0] if facts.parents else None,
                named=named_in(facts.message, run),
                reverts=facts.reverts,
                diff=diffs.get(id, {}),
            )
        )
    return found


def standing(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the commits, oldest first as they are given, that no later one takes back."""
    dead: set[CommitId] = set()
    for candidate in reversed(candidates):
        if candidate.commit not in dead:
            dead.update(candidate.reverts)
    return [candidate for candidate in candidates if candidate.commit not in dead]


def named_in(message: str, run: str) -> frozenset[str]:
    """Return the intents of a run that a message names, each behind the last run named before it.

    >>> sorted(named_in("Merge\\n\\n* one\\n\\nQodebase-Run: r\\nQodebase-Intent: a\\n    Qodebase-Intent: b\\n", "r"))
    ['a', 'b']
    """
    named = set()
    at = ""
    for key, value in _NAMED.findall(message):
        if key == RUN:
            at = value
        elif at == run:
            named.add(value)
    return frozenset(named)


class Finder:
    """Find works among candidates.

    Args:
        candidates: the branch's commits, oldest first, merges left out.
        versions: other commits that land the same intents (exported ones), by intent.
        readers: repositories in which the contents lie.
    """

    def __init__(
        self, candidates: Sequence[Candidate], versions: Mapping[str, Sequence[Diff]], readers: Sequence[Reader]
    ) -> None:
        self._versions = versions
        self._readers = readers
        self._touching: defaultdict[RepoPath, list[Candidate]] = defaultdict(list)
        self._naming: defaultdict[str, list[Candidate]] = defaultdict(list)
        for candidate in candidates:
            for path in candidate.diff:
                self._touching[path].append(candidate)
            for intent in candidate.named:
                self._naming[intent].append(candidate)
        self._lines = lru_cache(_KEPT)(self._lines_of)

    def find(self, work: Work) -> Found | Missing:
        """Find one work; where several commits hold it, the oldest of those that are most like it."""
        versions = [work.own or work.shared, *self._versions.get(work.intent, ())]
        naming = self._naming.get(work.intent, [])
        paths = {path for version in versions for path in version}
        named = [candidate for candidate in naming if not paths.isdisjoint(candidate.diff)]
        if len(named) == 1:
            return Found(work=work, candidate=named[0], by=By.TRAILERS)
        for by, holds in ((By.PATCH, self._same), (By.CONTENT, self._within)):
            for version in versions:
                for candidate in named or self._with_all(version):
                    if version.keys() <= candidate.diff.keys() and all(
                        holds(version[path], candidate.diff[path]) for path in version
                    ):
                        return Found(work=work, candidate=candidate, by=By.TRAILERS if named else by)
        if named:
            return Found(work=work, candidate=named[0], by=By.TRAILERS)
        if naming:
            why = f"{naming[0].commit[:12]} names it and changes none of its files"
        else:
            why = "no commit names it, and none makes its change"
        return Missing(work=work, why=why)

    def _with_all(self, version: Diff) -> list[Candidate]:
        """Return the candidates that touch all paths of a version, oldest first."""
        touching = [self._touching.get(path, []) for path in version]
        if not touching:
            return []
        return [one for one in min(touching, key=len) if version.keys() <= one.diff.keys()]

    def _same(self, landed: Differs, there: Differs) -> bool:
        """Return whether a path was changed alike."""
        if (landed.before, landed.after) == (there.before, there.after):
            return True
        ours, theirs = self._patch(landed), self._patch(there)
        return ours is not None and any(ours) and ours == theirs

    def _within(self, landed: Differs, there: Differs) -> bool:
        """Return whether a path holds what the landing left, or the change holds the landing's."""
        if landed.after == there.after:
            return True
        ours, theirs = self._patch(landed), self._patch(there)
        return ours is not None and theirs is not None and any(ours) and ours[0] <= theirs[0] and ours[1] <= theirs[1]

    def _patch(self, differs: Differs) -> tuple[Counter[bytes], Counter[bytes]] | None:
        """Return the lines that a change takes and adds; None for what has no lines, or where one side is missing."""
        sides = [self._lines(entry) for entry in differs]
        if differs.after is None or any(side is None for side in sides):
            return None
        before, after = (side or Counter() for side in sides)
        return before - after, after - before

    def _lines_of(self, entry: Entry | None) -> Counter[bytes] | None:
        if entry is None:
            return Counter()
        if entry.mode == SUBMODULE:
            return None
        for reader in self._readers:
            try:
                content = reader.blob(entry.id)
            except MissingObject:
                continue
            return None if b"\0" in content else Counter(_written(content))
        return None


def _written(content: bytes) -> Iterator[bytes]:
    """Yield the lines of a content without white space, blank ones left out."""
    lines: Iterable[bytes] = (b"".join(line.split()) for line in content.splitlines())
    return (line for line in lines if line)

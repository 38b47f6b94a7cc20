"""Main's history since a run's base: the run's own landings, and other people's commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from qodebase import trailers
from qodebase.paths import CommitId
from qodebase.trunk.commits import CommitFacts
from qodebase.trunk.objects import MissingObject
from qodebase.trunk.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit of main, with what its trailers say; ``run`` and ``intent`` are empty where it has none.

    ``several`` names the intents of a commit that has more than one; it is no landing of a run then.
    """

    id: CommitId
    parent: CommitId | None
    tree: str
    run: str = ""
    intent: str = ""
    attempt: str = ""
    replay: str = ""
    lane: str = ""
    train: str = ""
    composes: str = ""
    reverts: tuple[str, ...] = ()
    undoes: str = ""
    several: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: CommitFacts) -> Commit:
        """Read a commit's trailers."""
        words = dict(facts.trailers)
        intents = tuple(value for key, value in facts.trailers if key == trailers.INTENT)
        return cls(
            id=facts.id,
            parent=facts.parents[0] if facts.parents else None,
            tree=facts.tree,
            run=words.get(trailers.RUN, ""),
            intent=intents[0] if len(intents) == 1 else "",
            attempt=words.get(trailers.ATTEMPT, ""),
            replay=words.get(trailers.REPLAY, ""),
            lane=words.get(trailers.LANE, ""),
            train=words.get(trailers.TRAIN, ""),
            composes=words.get(trailers.COMPOSE, ""),
            reverts=facts.reverts,
            undoes=words.get(trailers.UNDOES, ""),
            several=intents if len(intents) > 1 else (),
        )


@dataclass(frozen=True, kw_only=True)
class History:
    """Main along first parents, above the base and oldest first.

    Attributes:
        run: whose landings are ours.
        base, tip: the ends; ``reaches_base`` says whether the way down from the tip met the base.
        commits: all commits above the base (to the root, where it was not met).
    """

    run: str
    base: CommitId
    tip: CommitId
    commits: tuple[Commit, ...]

    @cached_property
    def reaches_base(self) -> bool:
        """Return whether main still stands on the run's base."""
        return (self.commits[0].parent if self.commits else self.tip) == self.base

    @cached_property
    def ours(self) -> tuple[Commit, ...]:
        """Return the commits that carry the run's trailers; one that lands a reverted intent again is a person's."""
        return tuple(commit for commit in self._claimed if commit.id not in self._relanded)

    @cached_property
    def composed(self) -> tuple[Commit, ...]:
        """Return the commits of the run that folded shards; no intent is behind them."""
        return tuple(commit for commit in self.commits if commit.run == self.run and commit.composes)

    @cached_property
    def undoing(self) -> tuple[Commit, ...]:
        """Return the commits by which other runs undid landings of this one, as they say themselves."""
        ours = {commit.id for commit in self.ours}
        return tuple(commit for commit in self.commits if commit.run != self.run and commit.undoes in ours)

    @cached_property
    def foreign(self) -> tuple[Commit, ...]:
        """Return all other commits."""
        ours = {commit.id for commit in (*self.ours, *self.composed, *self.undoing)}
        return tuple(commit for commit in self.commits if commit.id not in ours)

    @cached_property
    def landings(self) -> dict[str, list[Commit]]:
        """Return the commits that landed each intent; more than one is a doubled landing."""
        found: defaultdict[str, list[Commit]] = defaultdict(list)
        for commit in self.ours:
            found[commit.intent].append(commit)
        return dict(found)

    @cached_property
    def reverted(self) -> tuple[str, ...]:
        """Return the landed intents whose commit is reverted at the tip; a reverted revert counts as none."""
        dead = _reverted(self.commits)
        return tuple(commit.intent for commit in self.ours if commit.id in dead)

    @cached_property
    def _claimed(self) -> tuple[Commit, ...]:
        claimed = (commit for commit in self.commits if commit.run == self.run and commit.intent)
        return tuple(commit for commit in claimed if not commit.composes)

    @cached_property
    def _relanded(self) -> frozenset[CommitId]:
        first: dict[str, CommitId] = {}
        again = set()
        for place, commit in enumerate(self.commits):
            if commit.run == self.run and commit.intent:
                before = first.setdefault(commit.intent, commit.id)
                if before != commit.id and before in _reverted(self.commits[:place]):
                    again.add(commit.id)
        return frozenset(again)


def _reverted(commits: Sequence[Commit]) -> set[str]:
    """Return the commits that a later one reverts, unless that one is reverted itself."""
    dead: set[str] = set()
    for commit in reversed(commits):
        if commit.id not in dead:
            dead.update(commit.reverts)
    return dead


def merged_in(reader: Reader, line: Sequence[CommitFacts], wanted: Iterable[CommitId]) -> list[Commit]:
    """Return the commits that the merges of a line brought in, as far down as some of ``wanted`` may be among them.

    Args:
        line: commits along first parents, newest first.
    """
    seen = {facts.id for facts in line}
    missing = set(wanted) - seen
    found = []
    for merge in line:
        waiting = list(merge.parents[1:]) if missing else []
        while waiting:
            id = waiting.pop()
            if id in seen:
                continue
            seen.add(id)
            missing.discard(id)
            try:
                facts = reader.commit(id)
            except MissingObject:
                continue
            found.append(Commit.of(facts))
            waiting += facts.parents
    return found


def read_history(reader: Reader, *, run: str, base: CommitId, tip: CommitId) -> History:
    """Read main's history from ``tip`` down to ``base``, or to the root where ``base`` is not met."""
    commits = [Commit.of(facts) for facts in reader.log(tip, base)]
    return History(run=run, base=base, tip=tip, commits=tuple(reversed(commits)))

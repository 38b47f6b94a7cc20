"""The contract: the checks that every change is held to, whoever made it.

A job's standing checks are in force from the base on; those of an intent come in with its landing, and are ended by
the landing of an intent that retires them. One that is red on main is lost and holds nobody any more.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass

from lanes.fork import Main
from lanes.policy import Policy
from lanes.read_sets import Looked, Moved, ReadSets, Touched
from lanes.train import Member, Train
from qodebase.intent import Intent
from qodebase.paths import CommitId
from qodebase.ports import Judgement

_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Since when a check is in force: whose it is (empty: a standing one), by which commit, at which position."""

    intent: str = ""
    commit: CommitId | None = None
    position: int = 0


class Contract:
    """The checks in force with their read sets, and what landed since a train was merged.

    It moves in the event loop, in the same breath as the loop's view of main.

    Args:
        standing: checks of the job that no intent names.
        landed: intents that landed in earlier sittings with their commits, in order.
        out: checks that were lost, or never in force.
        watches: whether the job has checks at all; where it has none, nothing is kept.
    """

    def __init__(
        self,
        policy: Policy,
        main: Main,
        *,
        standing: Iterable[str] = (),
        landed: Iterable[tuple[Intent, CommitId]] = (),
        out: Container[str] = frozenset(),
        watches: bool = True,
    ) -> None:
        self._policy = policy
        self._main = main
        self.watches = watches
        self._reads = ReadSets()
        self._moved = Moved()
        self.in_force: dict[str, Clause] = {}
        self.unread: set[str] = set()
        """Checks in force whose read sets are not known yet."""
        if policy.contract:
            self.in_force = {name: Clause() for name in standing if name not in out}
        for intent, commit in landed:
            self._take(intent, Clause(intent=intent.id, commit=commit, position=main.position_of(commit)), out)
        self.unread.update(self.in_force)

    def wanted(self, train: Train) -> tuple[str, ...]:
        """Return what a train is judged by: its own checks, and those in force that look at what it touches."""
        own = train.checks
        if not self.in_force:
            return own
        return tuple(sorted({*own, *(self._reads.meeting(train.touched) - train.retires)}))

    def known_at(self, commit: CommitId, touched: Touched) -> set[str]:
        """Return the checks in force since a commit or longer that are known to look at what a change touches."""
        position = self._main.position_of(commit)
        return {name for name in self._reads.known_to_meet(touched) if self.in_force[name].position <= position}

    def stale(self, train: Train, judgement: Judgement) -> tuple[str, ...]:
        """Return which checks must run again because of what landed since a train was merged, and which run at all.

        Those are its checks that looked at what moved, and those in force that look at what it touches and were not
        run: what landed may have brought them, or what they read now.
        """
        main = self._main
        if not self._policy.read_sets or train.position == main.position:
            return ()
        if not judgement.checks and not self.in_force:
            return ()
        if main.moved_by_others(train.position):
            return self.wanted(train)
        moved = self._moved.since(train.position)
        stale = {name for name in judgement.checks if Looked.of(judgement, name).meets(moved)}
        stale.update(name for name in self.wanted(train) if name not in judgement.reads)
        return tuple(sorted(stale & {*self.in_force, *train.checks}))

    def judged(self, judgement: Judgement, *, whole: bool) -> None:
        """Keep what the checks of a train read that has landed; of one that landed in part that is not known."""
        for name in judgement.checks:
            if name in self.in_force:
                self.read(name, judgement if whole else None)

    def read(self, name: str, judgement: Judgement | None) -> None:
        """Keep what a check in force has looked at; None: that is not known."""
        self.unread.discard(name)
        self._reads.keep(name, Looked(None) if judgement is None else Looked.of(judgement, name))

    def moved_by_others(self) -> None:
        """Take in that somebody else moved main: what checks read is not known any more."""
        for name in self.in_force:
            self._reads.keep(name, Looked(None))
        self.unread.update(self.in_force)

    def landed(self, member: Member, commit: CommitId) -> None:
        """Take in a landing that main's view has just taken in: what it moved, ended and brought."""
        if not self.watches:
            return
        intent = member.submission.intent
        self._moved.landed(self._main.position, member.touched)
        self._take(intent, Clause(intent=intent.id, commit=commit, position=self._main.position), frozenset())

    def _take(self, intent: Intent, clause: Clause, out: Container[str]) -> None:
        for name in intent.retires:
            self.drop(name)
        for name in intent.checks if self._policy.contract else ():
            if name not in out:
                self.in_force.setdefault(name, clause)
                self._reads.keep(name, Looked(None))

    def drop(self, name: str) -> None:
        """Put a check out of force."""
        if self.in_force.pop(name, None) is not None:
            self.unread.discard(name)
            self._reads.drop(name)

    def suspects(self, train: Train, names: Collection[str], judgement: Judgement) -> set[str]:
        """Return the intents of the members that may have made these checks red.

        A member is suspected for its own checks; where a check is nobody's own, those are that touch what it read.
        """
        found = set()
        own = set(train.checks)
        for member in train.members:
            mine = member.submission.intent.checks
            if any(name in mine for name in names) or any(
                name not in own and Looked(judgement.reads.get(name)).meets(member.touched) for name in names
            ):
                found.add(member.submission.intent.id)
        return found

    def breaks(self, names: Sequence[str]) -> str:
        """Return in words that checks in force are broken, and whose they are."""
        return f"breaks {', '.join(map(self._told, names[:_NAMED]))}{' and more' * (len(names) > _NAMED)}"

    def _told(self, name: str) -> str:
        clause = self.in_force.get(name)
        if clause is None or not clause.intent:
            return f"{name} (it stands since before the run)"
        return f"{name} (of {clause.intent}, landed as {(clause.commit or '')[:12]})"

"""What an agent hands in, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from lanes.fork import Fork
from qodebase.change import Change
from qodebase.collision import Collided
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Postponed, Redone
from qodebase.record import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """The change is on main."""

    commit: CommitId


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBack:
    """The change did not land: why, and what its agent can act on (who moved what, and what clashes)."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """The change did not land, because somebody took it out of the lanes."""


Outcome = Landed | SentBack | Postponed | Withdrawn
"""What becomes of a change."""


@dataclass(slots=True, kw_only=True)
class Submission:
    """A change on its way through the lanes; owned by the lane that it waits in.

    Attributes:
        intent, attempt, agent, model: whose change it is.
        change: the operations; ``fork`` is the view of its base.
        plan: digests of prompt, answer and change, for the record.
        usage: what the attempt's calls cost so far; a model replay adds to it.
        admitted_at, answered_at, queued_at: seconds on the run's clock.
        replay: how many times a model redid it.
        collided: the collisions of this attempt so far.
        stuck_at: those that a model deals with now.
        order: its place among all submissions.
        lent: the rank of one that waits for what it holds.
        lanes: the lanes of its paths, in their fixed order.
        shared: the job's shared paths, which choose no lane.
        withdrawn: it is to be taken out at the next place where that is safe.
    """

    intent: Intent
    attempt: int
    agent: str
    model: str
    change: Change
    fork: Fork
    plan: dict[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    admitted_at: float = 0.0
    answered_at: float = 0.0
    queued_at: float = 0.0
    deterministic: bool = False
    simulated: bool = False
    replay: int = 0
    collided: list[Collided] = field(default_factory=list)
    stuck_at: tuple[Collided, ...] = ()
    order: int = 0
    lent: tuple[int, int] | None = None
    lanes: tuple[str, ...] = ()
    shared: frozenset[RepoPath] = frozenset()
    withdrawn: bool = False

    def take(self, redone: Redone) -> None:
        """Take over what a model's replay made, and what it used."""
        self.change = redone.change
        self.usage = self.usage + redone.usage
        self.plan = self.plan | redone.plan
        self.deterministic = self.deterministic and redone.deterministic
        self.simulated = self.simulated or redone.simulated

    @property
    def interrupts(self) -> bool:
        """Return whether it goes before a train that is being tested."""
        return self.rank[0] == 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """Return its place in a queue: priority first, then order of arrival; that of one that waits for it is lent.

        So it goes right before that one, and nothing between the two makes the more urgent one wait (priority
        inheritance: Sha, Rajkumar and Lehoczky, IEEE Transactions on Computers 39, 1990).
        """
        own = (self.intent.priority, self.order)
        return (*(own if self.lent is None else min(own, self.lent)), self.order)

    def lend(self, waiting: Submission) -> bool:
        """Go as early as one that waits for this one; return whether that changes its rank."""
        before = self.rank
        if waiting.rank < before:
            self.lent = waiting.rank[:2]
        return self.rank != before

"""A lane: the merge queue of one area of the code."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable
from typing import Protocol

from lanes.desk import Desk
from lanes.gate import Gate
from lanes.submission import Landed, SentBack, Submission, Withdrawn
from lanes.train import Builder, Stuck, Train
from qodebase import events
from qodebase.collision import Collided, Kind, Step
from qodebase.journal import Journal
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict
from qodebase.stoppable import Stoppable
from qodebase.trunk.tree import PathClash


class AllLanes(Protocol):
    """What a lane needs of the yard that it lies in."""

    desk: Desk
    builder: Builder
    gate: Gate
    journal: Journal
    train_max: int

    def new_train(self, lane: str) -> Train:
        """Return an empty train on the newest tip."""

    def must_wait(self, submission: Submission) -> bool:
        """Return whether a change waits for a replay that holds its paths."""

    def replay(self, stuck: Stuck) -> None:
        """Have a model redo a change."""

    def again(self, submission: Submission) -> None:
        """Queue a change again at its old rank."""

    def end(self, submission: Submission, outcome: Landed | SentBack | Withdrawn) -> None:
        """Report what became of a change."""

    def look_all(self, lanes: Iterable[str]) -> None:
        """Make lanes look at their heads again."""

    def all_parked(self, submission: Submission) -> bool:
        """Return whether every lane of a change waits at it."""

    def hold_all(self, submission: Submission, landed: asyncio.Event) -> None:
        """Take a change from the head of all its lanes, which hold until it is dealt with."""


class Lane:
    """Couple what waits into trains, have them judged, land them; each round lands or ejects something.

    A change over several lanes waits in each of them. Its first lane lands it, alone, once it is at the head of all;
    lanes look again at their heads whenever a queue changes, so a change of a higher priority cannot lock them.

    A change of priority 0 rides only with its like, and interrupts: a train of others that the gate judges is given up,
    and its members queue again at their old rank.
    """

    def __init__(self, name: str, yard: AllLanes) -> None:
        self.name = name
        self._yard = yard
        self._queue: list[tuple[tuple[int, int], Submission]] = []
        self._changed = asyncio.Event()
        self._held: asyncio.Event | None = None
        self._judging: Stoppable | None = None
        self.parked_at: Submission | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, submission: Submission) -> None:
        """Queue a submission by priority, then by arrival."""
        heapq.heappush(self._queue, (submission.rank, submission))
        if submission.interrupts and self._judging is not None:
            self._judging.stop()
        self.look()

    def look(self) -> None:
        """Make a waiting lane look at its head again."""
        self._changed.set()

    def waits_at(self, submission: Submission) -> bool:
        """Return whether the lane holds still at a change that is still its head."""
        return self.parked_at is submission and self._queue[0][1] is submission

    async def serve(self) -> None:
        """Take rounds until cancelled."""
        while True:
            if self._held is not None:
                await self._held.wait()
                self._held = None
            head = self._queue[0][1] if self._queue else None
            if self.parked_at is not head:
                self.parked_at = None
            if head is None:
                await self._wait()
            elif len(head.lanes) > 1:
                await self._meet(head)
            else:
                await self._round(self._take())

    def hold(self, landed: asyncio.Event) -> None:
        """Give up the head, which its first lane lands now; take no round before that is done."""
        heapq.heappop(self._queue)
        self.parked_at = None
        self._held = landed
        self.look()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _take(self) -> list[Submission]:
        """Take the members of the next train: the queue's front, up to the first that needs other lanes too."""
        taken = [heapq.heappop(self._queue)[1]]
        while self._queue and len(taken) < self._yard.train_max and len(self._queue[0][1].lanes) == 1:
            if self._queue[0][1].interrupts != taken[0].interrupts:
                break
            taken.append(heapq.heappop(self._queue)[1])
        return taken

    async def _meet(self, head: Submission) -> None:
        """Wait until all lanes of a change are at it; its first lane then lands it while the others hold."""
        if self.parked_at is None:
            self.parked_at = head
            self._yard.look_all(head.lanes)
        if head.lanes[0] != self.name or not self._yard.all_parked(head):
            await self._wait()
            return
        landed = asyncio.Event()
        self._yard.hold_all(head, landed)
        try:
            await self._round([head])
        finally:
            landed.set()

    async def _round(self, submissions: list[Submission]) -> None:
        yard = self._yard
        if self._interrupted(submissions):
            for submission in submissions:
                yard.again(submission)
            return
        train = yard.new_train(self.name)
        behind: list[Submission] = []
        for submission in submissions:
            if submission.withdrawn:
                yard.end(submission, Withdrawn())
                continue
            if yard.must_wait(submission):
                continue
            stuck = yard.builder.couple(train, submission)
            if stuck is not None and stuck.ahead:
                behind.append(submission)
            elif stuck is not None:
                yard.replay(stuck)
        if train.members:
            await self._judge_and_land(train)
        for submission in behind:
            yard.again(submission)

    async def _judge_and_land(self, train: Train) -> None:
        yard = self._yard
        try:
            tree = await yard.desk.tree_with(train.edits)
        except PathClash as clash:
            await self._part(train, clash)
            return
        members = tuple(member.submission.intent.id for member in train.members)
        where = {"actor": f"lane {self.name}", "lane": self.name, "train": train.name}
        yard.journal.write(events.TrainBuilt, members=members, tip=train.base, tree=tree, **where)
        judgement = await self._judged(train, tree)
        if judgement is None or any(member.submission.withdrawn for member in train.members):
            await self._round([member.submission for member in train.members])
            return
        yard.journal.write(
            events.Judged,
            tree=tree,
            verdict=str(judgement.verdict),
            checks=len(judgement.checks),
            flake=judgement.flake,
            **where,
        )
        if judgement.verdict is Verdict.GREEN:
            await self._land(train, judgement)
        elif len(train.members) == 1:
            yard.end(train.members[0].submission, SentBack(reason=_why(judgement)))
        else:
            await self._split(train)

    async def _judged(self, train: Train, tree: str) -> Judgement | None:
        """Return the gate's verdict, or None where a change that interrupts came meanwhile."""
        judgement = None
        if self._interrupted([member.submission for member in train.members]):
            return None
        async with Stoppable() as judging:
            self._judging = None if train.members[0].submission.interrupts else judging
            judgement = await self._yard.gate.judge(tree, train.checks)
        self._judging = None
        return judgement

    def _interrupted(self, submissions: list[Submission]) -> bool:
        """Return whether a change that interrupts waits, and these do not."""
        waits = bool(self._queue) and self._queue[0][1].interrupts
        return waits and not any(submission.interrupts for submission in submissions)

    async def _land(self, train: Train, judgement: Judgement) -> None:
        for member, outcome in zip(train.members, await self._yard.desk.land(train, judgement), strict=True):
            if outcome is None:
                self._yard.again(member.submission)
            elif isinstance(outcome, Stuck):
                self._yard.replay(outcome)
            else:
                self._yard.end(member.submission, Landed(commit=outcome))

    async def _part(self, train: Train, clash: PathClash) -> None:
        """Deal with a file and a folder of one name: the members go on apart, and one alone collides with main."""
        if len(train.members) > 1:
            await self._split(train)
            return
        member = train.members[0]
        collided = Collided(
            path=RepoPath(clash.path), kind=Kind.ADDED_TWICE, steps=(Step(by="merge", declined=clash.why),)
        )
        self._yard.replay(Stuck(submission=member.submission, collided=(*member.collided, collided)))

    async def _split(self, train: Train) -> None:
        """Find who makes a train red: its front half alone, then the rest behind what landed."""
        submissions = [member.submission for member in train.members]
        middle = len(submissions) // 2
        await self._round(submissions[:middle])
        await self._round(submissions[middle:])


def _why(judgement: Judgement) -> str:
    word = "checks failed" if judgement.verdict is Verdict.RED else "held by the gate"
    return f"{word}:\n{judgement.output}"

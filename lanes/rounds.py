"""The rounds of a lane: changes coupled into a train, judged, and landed or sent back."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from lanes.desk import Desk, Stale
from lanes.judging import Judge, Ruling, together
from lanes.policy import Policy
from lanes.prefetch import Ahead
from lanes.replays import Replays
from lanes.sizes import TrainSize
from lanes.submission import Landed, SentBack, Submission, Withdrawn
from lanes.train import Builder, Stuck, Train
from qodebase import events
from qodebase.collision import Collided, Kind, Step
from qodebase.journal import Journal
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Judgement
from qodebase.stoppable import Stoppable
from qodebase.trunk.tree import PathClash


class AllLanes(Protocol):
    """What a lane needs of the yard that it lies in."""

    desk: Desk
    builder: Builder
    judge: Judge
    replays: Replays
    journal: Journal
    policy: Policy

    def new_train(self, lane: str) -> Train:
        """Return an empty train on the newest tip."""

    def again(self, submission: Submission) -> None:
        """Queue a change again at its old rank."""

    def end(self, submission: Submission, outcome: Landed | SentBack | Withdrawn) -> None:
        """Report what became of a change."""

    def look_all(self, lanes: Iterable[str]) -> None:
        """Make lanes look at their heads again."""

    def interrupted(self, lanes: Iterable[str]) -> bool:
        """Return whether a change that interrupts waits in one of these lanes."""

    def stopped(self, submission: Submission) -> bool:
        """Return whether one of its lanes does not take a change now."""

    def all_parked(self, submission: Submission) -> bool:
        """Return whether every lane of a change waits at it."""

    def hold_all(self, submission: Submission, landed: asyncio.Event) -> None:
        """Take a change from the head of all its lanes, which hold until it is dealt with."""


class Waiting(Protocol):
    """What waits in a lane."""

    def take(self, most: int, like: Submission | None = None) -> list[Submission]:
        """Take members of the next train."""


class Rounds:
    """Take the rounds of one lane; each lands or ejects something.

    While a train is at the gate the next one is coupled on what it will leave; see `lanes.prefetch`.
    """

    def __init__(self, lane: str, yard: AllLanes, waiting: Waiting) -> None:
        self.lane = lane
        self._yard = yard
        self._waiting = waiting
        self._size = TrainSize(yard.policy.train_max)
        self._judging: Stoppable | None = None
        self._ahead: Ahead | None = None
        self._next: Ahead | None = None
        self._landed: set[str] = set()

    @property
    def begun(self) -> bool:
        """Return whether there is a train that was made ahead."""
        return self._next is not None

    def interrupt(self) -> None:
        """Give up the train at the gate, for a change that interrupts."""
        if self._judging is not None:
            self._judging.stop()

    async def take(self) -> None:
        """Take a round with the train that was made ahead, or with what waits."""
        ahead, self._next = self._next, None
        self._landed.clear()
        if ahead is None:
            await self._round(self._waiting.take(self._size.now), first=True)
        elif self._interrupted(ahead.submissions):
            self._all_again([*ahead.submissions, *ahead.behind])
        else:
            train = ahead.train
            more = self._waiting.take(self._size.now - len(ahead), train.members[0].submission)
            behind = [*ahead.behind, *await self._couple(train, more)]
            await self._judge_and_land(train, first=True, guessed=True)
            self._all_again(behind)
        self._settle()

    async def take_alone(self, submission: Submission) -> None:
        """Take a round with one change, which is the head of all its lanes."""
        await self._round([submission])

    def look_ahead(self) -> None:
        """Couple what waits on what the train at the gate will leave."""
        ahead = self._ahead
        if ahead is None:
            return
        for submission in self._waiting.take(self._size.now - len(ahead), ahead.train.before[0].submission):
            if ahead.follows(submission):
                ahead.behind.append(submission)
                continue
            stuck = self._coupled(ahead.train, submission, ahead.behind)
            if stuck is not None and self._yard.policy.inside:
                ahead.behind.append(submission)
            elif stuck is not None:
                self._yard.replays.begin(stuck, ahead.guess)

    async def _round(
        self, submissions: list[Submission], *, first: bool = False, waits: bool = True, doubt: Collection[str] = ()
    ) -> None:
        """Couple changes into a train and bring it to its end.

        Args:
            first: the lane took them for a whole train, and may make the next one ahead.
            waits: a change waits for a replay that holds its paths; the parts of a train that was split are ahead of
                those that began since.
            doubt: checks that flipped on a longer train.
        """
        if self._interrupted(submissions):
            self._all_again(submissions)
            return
        train = self._yard.new_train(self.lane)
        behind = await self._couple(train, submissions, waits=waits)
        if train.members:
            await self._judge_and_land(train, first=first, doubt=doubt)
        self._all_again(behind)

    def _all_again(self, submissions: Iterable[Submission]) -> None:
        for submission in submissions:
            self._yard.again(submission)

    async def _couple(self, train: Train, submissions: Iterable[Submission], *, waits: bool = True) -> list[Submission]:
        """Couple changes; return those that must come behind the train."""
        behind: list[Submission] = []
        for submission in submissions:
            stuck = self._coupled(train, submission, behind, waits=waits)
            if stuck is None:
                continue
            if not self._yard.policy.inside:
                self._yard.replays.begin(stuck)
            elif await self._yard.replays.inside(stuck):
                stuck = self._coupled(train, submission, behind, waits=False)
                if stuck is not None:
                    behind.append(submission)
        return behind

    def _coupled(
        self, train: Train, submission: Submission, behind: list[Submission], *, waits: bool = True
    ) -> Stuck | None:
        """Couple one change, unless it is to come behind the train; return one that a model must redo."""
        yard = self._yard
        if submission.withdrawn:
            yard.end(submission, Withdrawn())
            return None
        if waits and yard.replays.must_wait(submission):
            return None
        if self._ends_checks_of(train, submission):
            behind.append(submission)
            return None
        stuck = yard.builder.couple(train, submission)
        if stuck is not None and stuck.ahead:
            behind.append(submission)
            return None
        return stuck

    def _ends_checks_of(self, train: Train, submission: Submission) -> bool:
        """Return whether a change ends checks that those ahead of it may have to be judged by.

        These are their own, and where shared paths may be declined those in force too: the others could land without
        the one that ends them.
        """
        retires = set(submission.intent.retires)
        if not retires or not train.members:
            return False
        in_force = self._yard.desk.contract.in_force if submission.shared else ()
        return not retires.isdisjoint((*train.checks, *in_force))

    async def _judge_and_land(
        self, train: Train, *, first: bool, doubt: Collection[str] = (), guessed: bool = False
    ) -> None:
        """Have a train judged and land it, or deal with what stood against that."""
        try:
            became = await self._tried(train, doubt, first=first, guessed=guessed)
        finally:
            self._yard.desk.let_go(train)
        submissions = [member.submission for member in train.members]
        if became is None:
            await self._round(submissions, waits=False, doubt=doubt)
        elif isinstance(became, PathClash):
            await self._part(train, became, doubt)
        elif not isinstance(became, Ruling):
            if first:
                self._size.green(len(train.members))
            self._report(train, became)
        elif not train.fits(self._yard.desk.main):
            # It was judged on a tree that took back what somebody put on main.
            self._all_again(submissions)
        else:
            if first:
                self._size.red(len(train.members))
            await self._refuse(train, became, doubt)

    async def _tried(
        self, train: Train, doubt: Collection[str], *, first: bool, guessed: bool
    ) -> Sequence[CommitId | Stuck | None] | Ruling | PathClash | None:
        """Have a train judged and land it; what landed meanwhile may ask for some checks to run again.

        Returns:
            What became of its members; or what stands against it: a red ruling, or a file and a folder of one name.
            None: it is to be made anew without who was withdrawn, or behind a change that interrupts.
        """
        only: Sequence[str] | None = None
        judgement: Judgement | None = None
        while True:
            try:
                tree = await self._built(train, guessed=guessed)
            except PathClash as clash:
                return clash
            ruling = await self._judged(train, tree, only, doubt, first=first)
            if ruling is None or any(member.submission.withdrawn for member in train.members):
                return None
            if not ruling.green:
                return ruling
            judgement = ruling.judgement if judgement is None else together(judgement, ruling.judgement)
            became = await self._yard.desk.land(train, judgement)
            if not isinstance(became, Stale):
                return became
            only = became.checks
            train.position = self._yard.desk.main.position

    async def _built(self, train: Train, *, guessed: bool) -> str:
        """Lay a train on the newest main; return the tree."""
        yard = self._yard
        train.base = yard.desk.main.tip
        tree = await yard.desk.tree_with(train.edits)
        members = tuple(member.submission.intent.id for member in train.members)
        where = {"actor": f"lane {self.lane}", "lane": self.lane, "train": train.name}
        yard.journal.write(
            events.TrainBuilt,
            members=members,
            tip=train.base,
            tree=tree,
            size=self._size.now,
            guessed=guessed,
            **where,
        )
        return tree

    async def _judged(
        self, train: Train, tree: str, only: Sequence[str] | None, doubt: Collection[str], *, first: bool
    ) -> Ruling | None:
        """Return the verdict, or None where a change that interrupts came meanwhile."""
        ruling = None
        judge = self._yard.judge
        if self._interrupted([member.submission for member in train.members]):
            return None
        if not judge.has_work(train):
            return await judge.judge(train, tree)
        async with Stoppable() as stoppable, asyncio.TaskGroup() as tasks:
            self._judging = None if train.members[0].submission.interrupts else stoppable
            judging = tasks.create_task(judge.judge(train, tree, only=only, doubt=doubt), name=f"gate of {train.name}")
            if first and self._yard.policy.prefetch and self._ahead is None:
                await asyncio.sleep(0)
                self._ahead = Ahead(self._yard.desk.main, train, self._yard.new_train(self.lane))
                self.look_ahead()
            ruling = await judging
        self._judging = None
        return ruling

    def _interrupted(self, submissions: Sequence[Submission]) -> bool:
        """Return whether a change that interrupts waits in a lane of these, and these do not."""
        lanes = submissions[0].lanes if submissions else ()
        return self._yard.interrupted(lanes) and not any(submission.interrupts for submission in submissions)

    def _settle(self) -> None:
        """Keep the train that was made ahead where the one before it landed whole; else its members queue again."""
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return
        ahead.guess.settle(self._landed)
        main = self._yard.desk.main
        train = ahead.train
        whole = all(member.submission.intent.id in self._landed for member in train.before)
        if train.members and whole and train.fits(main):
            train.before, train.position = (), main.position
            self._next = ahead
        else:
            self._all_again([*ahead.submissions, *ahead.behind])

    def _report(self, train: Train, became: Sequence[CommitId | Stuck | None]) -> None:
        for member, outcome in zip(train.members, became, strict=True):
            if outcome is None:
                self._yard.again(member.submission)
            elif isinstance(outcome, Stuck):
                self._yard.replays.begin(outcome)
            else:
                self._landed.add(member.submission.intent.id)
                self._yard.end(member.submission, Landed(commit=outcome))

    async def _part(self, train: Train, clash: PathClash, doubt: Collection[str]) -> None:
        """Deal with a file and a folder of one name: the members go on apart, and one alone collides with main."""
        if len(train.members) > 1:
            await self._split(train, set(), doubt)
            return
        member = train.members[0]
        collided = Collided(
            path=RepoPath(clash.path), kind=Kind.ADDED_TWICE, steps=(Step(by="merge", declined=clash.why),)
        )
        self._yard.replays.begin(Stuck(submission=member.submission, collided=(*member.collided, collided)))

    async def _refuse(self, train: Train, ruling: Ruling, doubt: Collection[str]) -> None:
        """Send back who made a train red; of several it is found by splitting."""
        judge = self._yard.judge
        if len(train.members) == 1:
            self._yard.end(train.members[0].submission, SentBack(reason=judge.why(train, ruling)))
            return
        names = ruling.broken or ruling.doubted
        suspects = judge.contract.suspects(train, names, ruling.judgement)
        await self._split(train, suspects, {*doubt, *ruling.doubted})

    async def _split(self, train: Train, suspects: Collection[str], doubt: Collection[str]) -> None:
        """Take a train in two parts, the second behind what landed of the first: the suspects, or else one half."""
        submissions = [member.submission for member in train.members]
        parts = [[one for one in submissions if (one.intent.id in suspects) is guilty] for guilty in (False, True)]
        if not all(parts):
            middle = len(submissions) // 2
            parts = [submissions[:middle], submissions[middle:]]
        for part in parts:
            await self._round(part, waits=False, doubt=doubt)

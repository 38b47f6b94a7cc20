"""The landing desk: what the lanes have ready goes to the trunk in one batch a step.

Batches form by what is waiting: a lone train lands at once, a flood in large packs. The trunk works in the desk's one
thread; everything that the event loop reads is moved by the desk after the step, in the loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from lanes.contract import Contract
from lanes.fork import Main
from lanes.policy import Policy
from lanes.read_sets import Looked, Touched
from lanes.step import LandingStep, Outcome, Place, Terms, to_trunk
from lanes.train import Stuck, Train
from qodebase import events
from qodebase.edits import Edit, blob_id
from qodebase.journal import Journal
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Clock, Judgement, Tree
from qodebase.trunk import batch as trunk_batch
from qodebase.trunk.landing import Trunk

T = TypeVar("T")

_BATCH = 1000

_TURNS = 3
"""Turns of the loop from a train's tree to its place at the desk, where there is nothing to check."""

_PATIENCE = 3
"""So often the checks of a train may have to run again before it goes first."""

Tell = Callable[[str, str, Mapping[RepoPath, Edit | None]], None]
"""Hears of a tree that exists only as edits on main: its id, the id of main's tree, and the edits."""


def unheard(tree: str, base: str, edits: Mapping[RepoPath, Edit | None]) -> None:
    """Take a tree that nobody wants to hear of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A judged train that has not landed: something did meanwhile that these checks look at."""

    checks: tuple[str, ...]


Became = list[CommitId | Stuck | None] | Stale
"""What became of a train: of each member, or of all together."""


@dataclass(slots=True, kw_only=True)
class _Ticket:
    """A judged train at the desk."""

    train: Train
    judgement: Judgement
    done: asyncio.Future[Became]

    def tell(self, became: Became) -> None:
        """Say what became of it, where somebody still waits."""
        if not self.done.done():
            self.done.set_result(became)


class Desk:
    """Land trains; one desk a run owns the trunk and its thread.

    ``tell`` hears of each tree that is to be judged. Before main moves, what a train's checks looked at is compared
    with what landed since it was merged; nothing else moves main between that comparison and the step.

    A train whose checks had to run again and again goes first: until it has landed or is given up, trains that would
    make them run once more wait. Others could else land for ever faster than its checks run.
    """

    def __init__(
        self,
        *,
        terms: Terms,
        trunk: Trunk,
        main: Main,
        journal: Journal,
        clock: Clock,
        open_tree: Callable[[CommitId], Tree],
        between: Callable[[CommitId, CommitId], Iterable[CommitId]],
        sync: Callable[[], None],
        tell: Tell = unheard,
        contract: Contract | None = None,
    ) -> None:
        self.main = main
        self._terms = terms
        self._trunk = trunk
        self._journal = journal
        self._clock = clock
        self._open_tree = open_tree
        self._between = between
        self._sync = sync
        self._tell = tell
        self.contract = Contract(Policy(), main, watches=False) if contract is None else contract
        self._queue: asyncio.Queue[_Ticket] = asyncio.Queue()
        self._stale: Counter[str] = Counter()
        self._first: _Ticket | None = None
        self._behind: list[_Ticket] = []
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="trunk")

    async def tree_with(self, edits: Mapping[RepoPath, Edit | None]) -> str:
        """Return the id of the tree that main would have with these edits."""
        wanted = {path: to_trunk(edit) for path, edit in edits.items()}

        def made() -> str:
            tree = self._trunk.tree_with(wanted)
            self._tell(tree, self._trunk.tip_tree, edits)
            return tree

        return await self._in_thread(made)

    async def land(self, train: Train, judgement: Judgement) -> Became:
        """Land a judged train.

        Returns:
            For each member its commit, None where paths moved meanwhile, or what it is stuck at where coupling it again
            would come to the same: a rule declined a shared path. `Stale` where checks must run again first.
        """
        done: asyncio.Future[Became] = asyncio.get_running_loop().create_future()
        await self._queue.put(_Ticket(train=train, judgement=judgement, done=done))
        return await done

    def let_go(self, train: Train) -> None:
        """Take in that a train has landed, or that its lane has given it up."""
        del self._stale[train.name]
        if self._first is not None and self._first.train is train:
            self._first = None
            behind, self._behind = self._behind, []
            for ticket in behind:
                self._queue.put_nowait(ticket)

    async def serve(self) -> None:
        """Take steps until cancelled; a step that was begun is always finished and reported."""
        while True:
            tickets = [await self._queue.get()]
            await self._thread_is_free()
            while not self._queue.empty() and sum(len(ticket.train.members) for ticket in tickets) < _BATCH:
                tickets.append(self._queue.get_nowait())
            if self._trunk.living:
                await self._look_out()
            if ready := self._ready(tickets):
                await self._step(ready)

    async def _thread_is_free(self) -> None:
        """Wait for the trees that the thread is asked for already; most of their trains come along in this step.

        It would begin behind them in any case, and one large step costs less than several small ones.
        """
        if not self._clock.simulated:
            await self._in_thread(lambda: None)
            for _ in range(_TURNS):
                await asyncio.sleep(0)

    def _ready(self, tickets: Sequence[_Ticket]) -> list[_Ticket]:
        """Return the trains that may land in one step; others go back to their lanes, or wait for the next step."""
        ready: list[_Ticket] = []
        for ticket in tickets:
            if not ticket.judgement.checks and not self.contract.in_force:
                ready.append(ticket)
            elif not ticket.train.fits(self.main):
                ticket.tell([None for _ in ticket.train.members])
            elif stale := self.contract.stale(ticket.train, ticket.judgement):
                self._put_off(ticket)
                ticket.tell(Stale(checks=stale))
            elif self._waits(ticket):
                self._behind.append(ticket)
            elif any(_meet(ticket, other) for other in ready):
                self._queue.put_nowait(ticket)
            else:
                ready.append(ticket)
        return ready

    def _put_off(self, ticket: _Ticket) -> None:
        name = ticket.train.name
        self._stale[name] += 1
        if self._stale[name] >= _PATIENCE and (self._first is None or self._first.train is ticket.train):
            self._first = ticket

    def _waits(self, ticket: _Ticket) -> bool:
        """Return whether a train is to wait for the one that goes first."""
        first = self._first
        if first is None or first.train is ticket.train or ticket.train.members[0].submission.interrupts:
            return False
        return _meet(first, ticket)

    async def _look_out(self) -> None:
        """Bring the view to what others pushed, so that trains are compared with it before they land on it."""
        tip = await self._in_thread(self._trunk.refresh)
        if tip != self.main.tip:
            self._meet_foreign(tip)

    def close(self) -> None:
        """End the thread after the step that is under way."""
        self._thread.shutdown(wait=True)

    async def _step(self, tickets: Sequence[_Ticket]) -> None:
        places = [
            Place(member=member, train=ticket.train, judgement=ticket.judgement)
            for ticket in tickets
            for member in ticket.train.members
        ]
        step = LandingStep(self._terms, self.main, places, self._clock.now())
        taken = asyncio.ensure_future(self._in_thread(lambda: self._land(step)))
        try:
            outcomes = await asyncio.shield(taken)
        except asyncio.CancelledError:
            self._report(places, await taken, step.latest)
            raise
        commits = iter(self._report(places, outcomes, step.latest))
        for ticket in tickets:
            became = [next(commits) for _ in ticket.train.members]
            ticket.tell(became)
            self.contract.judged(ticket.judgement, whole=all(isinstance(one, str) for one in became))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._clock.simulated:
            # In the loop, so that the order of events does not hang on how fast the thread is.
            return work()
        with self._clock.working():
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _land(self, step: LandingStep) -> list[Outcome]:
        self._sync()
        return step.take(self._trunk)

    def _report(
        self, places: Sequence[Place], outcomes: Sequence[Outcome], latest: Mapping[RepoPath, bytes]
    ) -> list[CommitId | Stuck | None]:
        """Take the step's outcome into the loop's view and the journal; runs in the loop."""
        commits: list[CommitId | Stuck | None] = []
        for place, outcome in zip(places, outcomes, strict=True):
            submission = place.member.submission
            if isinstance(outcome, trunk_batch.Moved):
                commits.append(place.stuck_at(outcome))
                continue
            commits.append(outcome.commit)
            if outcome.parent != self.main.tip:
                self._meet_foreign(outcome.parent)
            where = {
                "actor": "trunk",
                "intent": submission.intent.id,
                "attempt": submission.attempt,
                "lane": place.train.lane,
                "train": place.train.name,
            }
            for collided in (*place.member.collided, *place.collided.values()):
                self._journal.write(events.CollisionMet, collided=collided, replay=submission.replay, **where)
            self._journal.write(
                events.Landed, commit=outcome.commit, parent=outcome.parent, replay=submission.replay, **where
            )
            entries = {path: None if edit is None else edit.entry for path, edit in place.member.edits.items()}
            for path, result in outcome.shared.items():
                entries[path] = result.after
            self.main.advance(submission.intent.id, outcome.commit, entries)
            self.contract.landed(place.member, outcome.commit)
        if self._trunk.tip != self.main.tip:
            self._meet_foreign(self._trunk.tip)
        tell_pushed(self._trunk, self._journal)
        for path, content in latest.items():
            now = self.main.entry(path)
            if now is not None and now.id == blob_id(content):
                self.main.keep(path, content)
        return commits

    def _meet_foreign(self, tip: CommitId) -> None:
        """Begin the view again on a tip that someone else made."""
        commits = tuple(self._between(self.main.tip, tip))
        self._journal.write(events.Foreign, actor="trunk", commits=commits)
        self.main.reset(self._open_tree(tip), commits)
        self.contract.moved_by_others()


def tell_pushed(trunk: Trunk, journal: Journal) -> None:
    """Journal what a trunk pushed, behind the landings that it pushed."""
    for push in trunk.pushed():
        journal.write(
            events.Pushed, actor="trunk", tip=push.tip, notes=push.notes, landings=push.landings, tries=push.tries
        )


def _meet(one: _Ticket, other: _Ticket) -> bool:
    """Return whether one of two trains edits what the other edits, or touches what its checks looked at."""
    same = not one.train.edits.keys().isdisjoint(other.train.edits)
    return same or _looks(one, other.train.touched) or _looks(other, one.train.touched)


def _looks(ticket: _Ticket, touched: Touched) -> bool:
    judgement = ticket.judgement
    if not judgement.checks or not Looked(judgement.read).meets(touched):
        return False
    return any(Looked.of(judgement, name).meets(touched) for name in judgement.checks)

"""The landing desk: what the lanes have ready goes to the trunk in one batch a step.

Batches form by what is waiting: a lone train lands at once, a flood in large packs. The trunk works in the desk's one
thread; everything that the event loop reads is moved by the desk after the step, in the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from lanes.fork import Fork, Main
from lanes.submission import Submission
from lanes.train import Member, Stuck, Train
from qodebase import events
from qodebase.change import AnyOperation, Hunk, Patch, Write
from qodebase.collision import Collided, Collision, Declined, Kind, Side, Step
from qodebase.edits import Edit, blob_id, materialise
from qodebase.journal import Journal
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Clock, Judgement, SharedPath, Tree
from qodebase.record import Record, Times, write_note
from qodebase.trailers import ATTEMPT, INTENT, LANE, REPLAY, RUN, TRAIN
from qodebase.trunk import batch as trunk_batch
from qodebase.trunk.landing import Trunk
from replay_rules.ladder import climb_shared

T = TypeVar("T")

_BATCH = 1000
_EIGHT = 8


@dataclass(slots=True, kw_only=True)
class _Ticket:
    """A judged train at the desk."""

    train: Train
    judgement: Judgement
    done: asyncio.Future[list[CommitId | Stuck | None]]


@dataclass(slots=True, kw_only=True)
class _Place:
    """One member in a step: where it stands, and what the step found out about its shared paths."""

    member: Member
    train: Train
    judgement: Judgement
    collided: dict[RepoPath, Collided] = field(default_factory=dict)


class Desk:
    """Land trains; one desk a run owns the trunk and its thread."""

    def __init__(
        self,
        *,
        run: str,
        trunk: Trunk,
        main: Main,
        shared: Sequence[SharedPath],
        journal: Journal,
        clock: Clock,
        author: Callable[[Submission], trunk_batch.Person],
        open_tree: Callable[[CommitId], Tree],
        between: Callable[[CommitId, CommitId], Iterable[CommitId]],
        sync: Callable[[], None],
        sign: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.main = main
        self._run = run
        self._trunk = trunk
        self._rules = {path.path: path.rule for path in shared}
        self._journal = journal
        self._clock = clock
        self._author = author
        self._open_tree = open_tree
        self._between = between
        self._sync = sync
        self._sign = sign
        self._latest: dict[RepoPath, bytes] = {}
        self._queue: asyncio.Queue[_Ticket] = asyncio.Queue()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="trunk")

    async def tree_with(self, edits: Mapping[RepoPath, Edit | None]) -> str:
        """Return the id of the tree that main would have with these edits."""
        wanted = {path: _to_trunk(edit) for path, edit in edits.items()}
        return await self._in_thread(lambda: self._trunk.tree_with(wanted))

    async def land(self, train: Train, judgement: Judgement) -> list[CommitId | Stuck | None]:
        """Land a judged train.

        Returns:
            For each member its commit, None where its own paths moved meanwhile, or what it is stuck at where coupling
            it again would come to the same: a rule declined a shared path.
        """
        done: asyncio.Future[list[CommitId | Stuck | None]] = asyncio.get_running_loop().create_future()
        await self._queue.put(_Ticket(train=train, judgement=judgement, done=done))
        return await done

    async def serve(self) -> None:
        """Take steps until cancelled; a step that was begun is always finished and reported."""
        while True:
            tickets = [await self._queue.get()]
            while not self._queue.empty() and sum(len(ticket.train.members) for ticket in tickets) < _BATCH:
                tickets.append(self._queue.get_nowait())
            await self._step(tickets)

    def close(self) -> None:
        """End the thread after the step that is under way."""
        self._thread.shutdown(wait=True)

    async def _step(self, tickets: Sequence[_Ticket]) -> None:
        places = [
            _Place(member=member, train=ticket.train, judgement=ticket.judgement)
            for ticket in tickets
            for member in ticket.train.members
        ]
        step = asyncio.ensure_future(self._in_thread(lambda: self._land(places)))
        try:
            outcomes = await asyncio.shield(step)
        except asyncio.CancelledError:
            self._report(places, await step)
            raise
        commits = iter(self._report(places, outcomes))
        for ticket in tickets:
            mine = [next(commits) for _ in ticket.train.members]
            if not ticket.done.done():
                ticket.done.set_result(mine)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._clock.simulated:
            # In the loop, so that the order of events does not hang on how fast the thread is.
            return work()
        with self._clock.working():
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _land(self, places: Sequence[_Place]) -> list[trunk_batch.Landed | trunk_batch.Moved]:
        """Take one step; runs in the trunk's thread."""
        self._sync()
        made_by: dict[int, _Place] = {}
        passed: dict[RepoPath, dict[str, None]] = {}
        now = self._clock.now()
        landings = [self._landing(place, made_by, passed, now) for place in places]

        def redo(edit: trunk_batch.SharedEdit, content: bytes | None) -> bytes | Declined:
            return self._redo(made_by[id(edit)], edit, content, passed)

        return self._trunk.land(landings, redo)

    def _landing(
        self, place: _Place, made_by: dict[int, _Place], passed: dict[RepoPath, dict[str, None]], now: float
    ) -> trunk_batch.Landing:
        member, submission = place.member, place.member.submission
        shared = [
            _shared_edit(operation, submission.fork)
            for operation in submission.change.operations
            if operation.path in self._rules
        ]
        made_by.update((id(edit), place) for edit in shared)

        def note(landed: trunk_batch.Landed) -> bytes:
            for edit in shared:
                passed.setdefault(edit.path, {})[submission.intent.id] = None
            return write_note(self._record(place, landed, now))

        person = self._author(submission)
        return trunk_batch.Landing(
            message=f"{submission.intent.asked}\n",
            trailers=(
                (RUN, self._run),
                (INTENT, submission.intent.id),
                (ATTEMPT, str(submission.attempt)),
                (LANE, place.train.lane),
                (TRAIN, place.train.name),
                (REPLAY, str(submission.replay)),
            ),
            author=person,
            committer=person,
            edits={path: _to_trunk(edit) for path, edit in member.edits.items()},
            expects=member.expects,
            shared=tuple(shared),
            note=note,
            sign=self._sign,
        )

    def _redo(
        self,
        place: _Place,
        edit: trunk_batch.SharedEdit,
        content: bytes | None,
        passed: Mapping[RepoPath, dict[str, None]],
    ) -> bytes | Declined:
        submission = place.member.submission
        path = edit.path
        wanted = materialise(submission.change, submission.fork, lambda other: other == path)[path]
        before = submission.fork.entry(path)
        collision = Collision(
            path=path,
            base=Side(content=None) if before is None else Side(content=submission.fork.read(path), mode=before.mode),
            main=Side(content=content),
            change=Side(content=None) if wanted is None else Side(content=wanted.content, mode=wanted.mode),
            idempotent=True,
        )
        rule = self._rules[path]
        climbed = climb_shared(collision, rule)
        intents = self.main.movers(path, submission.fork.position) + list(passed.get(path, {}))
        place.collided[path] = Collided(
            path=path,
            kind=Kind.SHARED,
            intents=tuple(intents[-_EIGHT:]),
            count=len(intents),
            steps=climbed.steps,
        )
        if climbed.resolved is None:
            return Declined(why=climbed.steps[-1].declined)
        self._latest[path] = climbed.resolved.content
        return climbed.resolved.content

    def _record(self, place: _Place, landed: trunk_batch.Landed, now: float) -> Record:
        submission = place.member.submission
        return Record(
            run=self._run,
            intent=submission.intent.id,
            asked=submission.intent.asked,
            agent=submission.agent,
            model=submission.model,
            deterministic=submission.deterministic,
            simulated=submission.simulated or self._clock.simulated,
            attempt=submission.attempt,
            replay=submission.replay,
            lane=place.train.lane,
            train=place.train.name,
            base=submission.change.base,
            parent=landed.parent,
            tree=place.judgement.tree,
            verdict=str(place.judgement.verdict),
            checks=place.judgement.checks,
            collisions=(*submission.collided, *place.member.collided, *place.collided.values()),
            symbols=submission.change.symbols,
            plan=submission.plan,
            usage=submission.usage,
            times=Times(
                admitted=submission.admitted_at,
                answered=submission.answered_at,
                queued=submission.queued_at,
                landed=now,
            ),
        )

    def _report(
        self,
        places: Sequence[_Place],
        outcomes: Sequence[trunk_batch.Landed | trunk_batch.Moved],
    ) -> list[CommitId | Stuck | None]:
        """Take the step's outcome into the loop's view and the journal; runs in the loop."""
        commits: list[CommitId | Stuck | None] = []
        for place, outcome in zip(places, outcomes, strict=True):
            submission = place.member.submission
            if isinstance(outcome, trunk_batch.Moved):
                commits.append(_stuck(place, outcome))
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
        if self._trunk.tip != self.main.tip:
            self._meet_foreign(self._trunk.tip)
        for path, content in self._latest.items():
            now = self.main.entry(path)
            if now is not None and now.id == blob_id(content):
                self.main.keep(path, content)
        self._latest.clear()
        return commits

    def _meet_foreign(self, tip: CommitId) -> None:
        """Begin the view again on a tip that someone else made."""
        self._journal.write(events.Foreign, actor="trunk", commits=tuple(self._between(self.main.tip, tip)))
        self.main.reset(self._open_tree(tip))


def _stuck(place: _Place, moved: trunk_batch.Moved) -> Stuck | None:
    """Return what a member is stuck at, or None where main holds something else at its own paths."""
    if all(path in place.member.expects for path in moved.paths):
        return None
    declined = [collided for collided in place.collided.values() if not collided.resolved_by]
    declined = declined or [
        Collided(path=path, kind=Kind.SHARED, steps=(Step(by="trunk", declined=moved.why),)) for path in moved.paths
    ]
    return Stuck(submission=place.member.submission, collided=tuple(declined))


def _shared_edit(operation: AnyOperation, fork: Fork) -> trunk_batch.SharedEdit:
    match operation:
        case Patch(path=path, hunks=hunks):
            change: bytes | tuple[Hunk, ...] = hunks
            mode = None
        case Write(path=path, content=content, mode=mode):
            change = content
        case _:
            raise ValueError(f"{type(operation).__name__} of the shared path {operation.path.text}")
    return trunk_batch.SharedEdit(path=path, base=fork.entry(path), change=change, mode=mode)


def _to_trunk(edit: Edit | None) -> trunk_batch.Edit | None:
    return None if edit is None else trunk_batch.Edit(mode=edit.mode, content=edit.content)

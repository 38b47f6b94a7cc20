"""All lanes of a run: submissions in, outcomes out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lanes.desk import Desk
from lanes.gate import Gate
from lanes.lane import Lane
from lanes.reservations import Reservations
from lanes.router import Router
from lanes.submission import Landed, SentBack, Submission, Withdrawn
from lanes.train import Builder, Stuck, Train
from qodebase import events
from qodebase.collision import Collided, Declined, Step
from qodebase.journal import Journal
from qodebase.paths import RepoPath
from qodebase.ports import Clock, Postponed, Redo, ReplayRequest
from qodebase.stoppable import Stoppable
from replay_rules.conflict import described

Outcome = Landed | SentBack | Postponed | Withdrawn


class Yard:
    """Own the lanes and their tasks; `submit` hands a change in, and its future brings the outcome."""

    def __init__(
        self,
        *,
        router: Router,
        desk: Desk,
        builder: Builder,
        gate: Gate,
        journal: Journal,
        clock: Clock,
        redo: Redo | None,
        shared: Iterable[RepoPath],
        train_max: int,
        sitting: int,
        replays: int = 3,
    ) -> None:
        self.desk = desk
        self.builder = builder
        self.gate = gate
        self.journal = journal
        self.train_max = train_max
        self._clock = clock
        self._redo = redo
        self._router = router
        self._shared = frozenset(shared)
        self._sitting = sitting
        self._replays = replays
        self._lanes = {name: Lane(name, self) for name in router.names}
        self._reservations = Reservations()
        self._submissions: dict[str, Submission] = {}
        self._outcomes: dict[str, asyncio.Future[Outcome]] = {}
        self._replaying: dict[str, Stoppable] = {}
        self._trains = 0
        self._order = 0
        self._tasks: asyncio.TaskGroup | None = None

    async def serve(self) -> None:
        """Run the desk and all lanes until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            tasks.create_task(self.desk.serve(), name="desk")
            for name, lane in self._lanes.items():
                tasks.create_task(lane.serve(), name=f"lane {name}")

    def submit(self, submission: Submission) -> asyncio.Future[Outcome]:
        """Queue a change in the lanes of its paths; the future brings its outcome."""
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._outcomes[submission.intent.id] = outcome
        self._submissions[submission.intent.id] = submission
        self._order += 1
        submission.order = self._order
        submission.shared = self._shared
        submission.queued_at = self._clock.now()
        self._queue(submission)
        return outcome

    def withdraw(self, intent: str) -> None:
        """Take an intent's change out of the lanes where that is safe: one that is landing lands.

        Its outcome comes as ever, when a lane has met it; a model's replay of it is stopped at once.
        """
        submission = self._submissions.get(intent)
        if submission is None:
            return
        submission.withdrawn = True
        if (replay := self._replaying.get(intent)) is not None:
            replay.stop()

    def waiting(self) -> dict[str, int]:
        """Return how many changes wait in each lane."""
        return {name: len(lane) for name, lane in self._lanes.items()}

    def again(self, submission: Submission) -> None:
        """Queue a change again at its old rank: main moved under it between gate and landing."""
        self._queue(submission)

    def end(self, submission: Submission, outcome: Outcome) -> None:
        """Report what became of a change; those that waited for its paths go on."""
        for waiting in self._reservations.release(submission):
            self._queue(waiting)
        del self._submissions[submission.intent.id]
        future = self._outcomes.pop(submission.intent.id)
        if not future.done():
            future.set_result(outcome)

    def new_train(self, lane: str) -> Train:
        """Return an empty train on the newest tip."""
        self._trains += 1
        return Train(name=f"{lane}#{self._sitting}.{self._trains}", lane=lane, base=self.desk.main.tip)

    def look_all(self, lanes: Iterable[str]) -> None:
        """Make lanes look at their heads again."""
        for name in lanes:
            self._lanes[name].look()

    def all_parked(self, submission: Submission) -> bool:
        """Return whether every lane of a change waits at it."""
        return all(self._lanes[name].waits_at(submission) for name in submission.lanes)

    def hold_all(self, submission: Submission, landed: asyncio.Event) -> None:
        """Take a change from the head of all its lanes; they hold until it is dealt with."""
        for name in submission.lanes:
            self._lanes[name].hold(landed)

    def must_wait(self, submission: Submission) -> bool:
        """Return whether a model redoes something on a path of this change; it is queued again after that."""
        if not self._reservations.blocked(submission):
            return False
        self._reservations.wait(submission)
        return True

    def replay(self, stuck: Stuck) -> None:
        """Have a model redo what merge and rules could not, beside whatever the lane does next."""
        if self._tasks is None:
            raise RuntimeError("the yard is not serving")
        if stuck.submission.withdrawn:
            self.end(stuck.submission, Withdrawn())
            return
        stuck.submission.stuck_at = stuck.collided
        if self.must_wait(stuck.submission):
            return
        self._reservations.hold(stuck.submission)
        self._tasks.create_task(self._replay(stuck), name=f"replay {stuck.submission.intent.id}")

    def _queue(self, submission: Submission) -> None:
        submission.lanes = self._router.lanes(path for path in submission.change.paths if path not in submission.shared)
        self.journal.write(
            events.Queued,
            actor=submission.agent,
            intent=submission.intent.id,
            attempt=submission.attempt,
            lane=submission.lanes[0],
            lanes=submission.lanes,
            priority=submission.intent.priority,
        )
        for name in submission.lanes:
            self._lanes[name].add(submission)

    async def _replay(self, stuck: Stuck) -> None:
        submission = stuck.submission
        dealt_with = False
        async with Stoppable() as replaying:
            self._replaying[submission.intent.id] = replaying
            if not submission.withdrawn:
                await self._redo_with_model(stuck)
                dealt_with = True
        del self._replaying[submission.intent.id]
        if not dealt_with:
            self.end(submission, Withdrawn())

    async def _redo_with_model(self, stuck: Stuck) -> None:
        submission = stuck.submission
        tried: list[Step] = []
        while self._redo is not None and submission.replay < self._replays and not stuck.for_author:
            intent = self.desk.main.placed(submission.intent)
            if isinstance(intent, Declined):
                tried.append(Step(by="follow", declined=intent.why))
                break
            submission.replay += 1
            fork = self.desk.main.fork({*intent.scope, *submission.change.paths}, self._shared)
            request = ReplayRequest(
                intent=intent,
                attempt=submission.attempt,
                change=submission.change,
                collided=stuck.collided,
                since=tuple(intent for collided in stuck.collided for intent in collided.intents),
                replay=submission.replay,
                failed=tried[-1].declined if tried else "",
            )
            redone = await self._redo.redo(request, fork)
            if isinstance(redone, Postponed):
                self._postpone(submission, redone)
                return
            if isinstance(redone, Declined):
                tried.append(Step(by="model", declined=redone.why))
                continue
            tried.append(Step(by=f"model:{redone.model}"))
            self._write(stuck, tried)
            submission.fork = fork
            submission.take(redone)
            self.again(submission)
            return
        self._write(stuck, tried)
        met = submission.collided[-len(stuck.collided) :]
        self.end(submission, SentBack(reason=_why(met), detail=_detail(met)))

    def _postpone(self, submission: Submission, postponed: Postponed) -> None:
        """Give a change up for this sitting; a later one hands it in as it was made."""
        self.journal.write(
            events.Postponed,
            actor=f"lane {submission.lanes[0]}",
            intent=submission.intent.id,
            attempt=submission.attempt,
            lane=submission.lanes[0],
            why=postponed.why,
        )
        self.end(submission, postponed)

    def _write(self, stuck: Stuck, tried: Iterable[Step]) -> None:
        """Journal what a model's turn came to, for every path that was stuck."""
        submission = stuck.submission
        for collided in stuck.collided:
            whole = collided.then(tried)
            submission.collided.append(whole)
            self.journal.write(
                events.CollisionMet,
                actor=f"lane {submission.lanes[0]}",
                intent=submission.intent.id,
                attempt=submission.attempt,
                lane=submission.lanes[0],
                collided=whole,
                replay=submission.replay,
            )


def _why(collisions: Iterable[Collided]) -> str:
    return "collided and could not be redone: " + " | ".join(
        f"{collided.where}: " + "; ".join(f"{step.by}: {step.declined}" for step in collided.steps)
        for collided in collisions
    )


def _detail(collisions: Iterable[Collided]) -> str:
    """Return what an agent can act on: who moved each path, and the three versions of what clashes."""
    lines = []
    for collided in collisions:
        movers = ", ".join((*collided.intents, *collided.foreign))
        lines += [f"{collided.where} was moved by {movers}"] if movers else []
        there = collided.moved_to or collided.path
        lines += [described(there.text, collided.clashes)] if collided.clashes else []
    return "\n".join(lines)

"""All lanes of a run: submissions in, outcomes out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lanes.desk import Desk
from lanes.judging import Judge
from lanes.lane import Lane
from lanes.policy import Policy
from lanes.replays import Ends, Replays
from lanes.router import Router
from lanes.submission import Outcome, Submission
from lanes.train import Builder, Train
from qodebase import events
from qodebase.journal import Journal
from qodebase.paths import RepoPath
from qodebase.ports import Clock, Redo


class Yard:
    """Own the lanes and their tasks; `submit` hands a change in, and its future brings the outcome."""

    def __init__(
        self,
        *,
        router: Router,
        desk: Desk,
        builder: Builder,
        judge: Judge,
        journal: Journal,
        clock: Clock,
        redo: Redo | None,
        shared: Iterable[RepoPath],
        policy: Policy,
        sitting: int,
    ) -> None:
        self.desk = desk
        self.builder = builder
        self.judge = judge
        self.journal = journal
        self.policy = policy
        self._clock = clock
        self._router = router
        self._shared = frozenset(shared)
        self._sitting = sitting
        ends = Ends(again=self.again, sooner=self._sooner, end=self.end)
        self.replays = Replays(desk.main, redo, journal, ends, shared=self._shared, most=policy.most_replays)
        self._lanes = {name: Lane(name, self) for name in router.names}
        self._submissions: dict[str, Submission] = {}
        self._outcomes: dict[str, asyncio.Future[Outcome]] = {}
        self._trains = 0
        self._order = 0

    async def serve(self) -> None:
        """Run the desk and all lanes until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self.replays.tasks = tasks
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
        self.replays.withdraw(intent)

    def waiting(self) -> dict[str, int]:
        """Return how many changes wait in each lane."""
        return {name: len(lane) for name, lane in self._lanes.items()}

    def pause(self, lane: str) -> None:
        """Begin no further train in a lane until `go_on`."""
        self._lanes[lane].pause()
        self.look_all(self._lanes)

    def drain(self, lane: str) -> None:
        """Bring to its end what waits in a lane; what comes later waits until `go_on`."""
        self._lanes[lane].drain(self._order)
        self._take_in_all()

    def go_on(self, lane: str) -> None:
        """Let a lane that was paused or drained go on."""
        self._lanes[lane].go_on()
        self._take_in_all()

    def again(self, submission: Submission) -> None:
        """Queue a change again at its old rank: main moved under it between gate and landing."""
        self._queue(submission)

    def end(self, submission: Submission, outcome: Outcome) -> None:
        """Report what became of a change; those that waited for its paths go on."""
        for waiting in self.replays.reservations.release(submission):
            self._queue(waiting)
        del self._submissions[submission.intent.id]
        future = self._outcomes.pop(submission.intent.id)
        if not future.done():
            future.set_result(outcome)

    def new_train(self, lane: str) -> Train:
        """Return an empty train on the newest tip."""
        self._trains += 1
        main = self.desk.main
        return Train(name=f"{lane}#{self._sitting}.{self._trains}", lane=lane, base=main.tip, position=main.position)

    def look_all(self, lanes: Iterable[str]) -> None:
        """Make lanes look at their heads again."""
        for name in lanes:
            self._lanes[name].look()

    def interrupted(self, lanes: Iterable[str]) -> bool:
        """Return whether a change that interrupts waits in one of these lanes."""
        return any(self._lanes[name].interrupted for name in lanes)

    def stopped(self, submission: Submission) -> bool:
        """Return whether one of its lanes does not take a change now."""
        return any(self._lanes[name].stops(submission) for name in submission.lanes)

    def all_parked(self, submission: Submission) -> bool:
        """Return whether every lane of a change waits at it."""
        return all(self._lanes[name].waits_at(submission) for name in submission.lanes)

    def hold_all(self, submission: Submission, landed: asyncio.Event) -> None:
        """Take a change from the head of all its lanes; they hold until it is dealt with."""
        for name in submission.lanes:
            self._lanes[name].hold(landed, self._lanes[submission.lanes[0]])

    def _sooner(self, submission: Submission) -> None:
        for name in submission.lanes:
            self._lanes[name].sort()

    def _take_in_all(self) -> None:
        for lane in self._lanes.values():
            lane.take_in()

    def _queue(self, submission: Submission) -> None:
        paths = [path for path in submission.change.paths if path not in submission.shared]
        submission.lanes = self._router.lanes(paths)
        self.journal.write(
            events.Queued,
            actor=submission.agent,
            intent=submission.intent.id,
            attempt=submission.attempt,
            lane=submission.lanes[0],
            lanes=submission.lanes,
            priority=submission.intent.priority,
            widened_by=tuple(
                next(path for path in paths if self._router.lane(path) == lane) for lane in submission.lanes[1:]
            ),
        )
        for name in submission.lanes:
            self._lanes[name].add(submission)

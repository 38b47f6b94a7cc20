"""Model replays: changes that merge and rules could not redo, asked again beside the lanes or inside one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lanes.fork import Fork, Main
from lanes.prefetch import Guess
from lanes.reservations import Reservations
from lanes.submission import Outcome, SentBack, Submission, Withdrawn
from lanes.train import Stuck
from qodebase import events
from qodebase.change import Change
from qodebase.collision import Collided, Declined, Step
from qodebase.intent import Intent
from qodebase.journal import Journal
from qodebase.paths import RepoPath
from qodebase.ports import Postponed, Redo, RedoAhead, Redone, ReplayRequest, ThrownAway
from qodebase.record import Usage
from qodebase.stoppable import Stoppable
from replay_rules.conflict import described


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Where a replay's change goes on: ``again`` queues it, ``end`` reports what became of it.

    ``sooner`` hears that one that may wait in its lanes has an earlier place in them now.
    """

    again: Callable[[Submission], None]
    sooner: Callable[[Submission], None]
    end: Callable[[Submission, Outcome], None]


class Replays:
    """Have a model redo changes; each holds what it claims from the first question to its landing.

    Args:
        most: how often a model may redo a change within one attempt.
        shared: the job's shared paths.
    """

    def __init__(
        self,
        main: Main,
        redo: Redo | None,
        journal: Journal,
        ends: Ends,
        *,
        shared: frozenset[RepoPath],
        most: int,
    ) -> None:
        self.reservations = Reservations()
        self.tasks: asyncio.TaskGroup | None = None
        self._main = main
        self._redo = redo
        ahead: object = redo
        self._redo_ahead = ahead if isinstance(ahead, RedoAhead) else None
        self._journal = journal
        self._ends = ends
        self._shared = shared
        self._most = most
        self._under_way: dict[str, Stoppable] = {}

    def withdraw(self, intent: str) -> None:
        """Stop the replay of an intent, if there is one."""
        if (replay := self._under_way.get(intent)) is not None:
            replay.stop()

    def must_wait(self, submission: Submission) -> bool:
        """Return whether a model redoes something that this change claims too; it is queued again after that."""
        if not self.reservations.blocked(submission):
            return False
        self._all_again(self.reservations.wait(submission))
        for holder in self.reservations.holders(submission):
            if holder.lend(submission):
                self._ends.sooner(holder)
        return True

    def begin(self, stuck: Stuck, guess: Guess | None = None) -> None:
        """Have a model redo a change, beside whatever its lane does next.

        Args:
            guess: the state that main is expected to come to, on which the change collided; None: main as it is.
        """
        if self.tasks is None:
            raise RuntimeError("the yard is not serving")
        if self._may_begin(stuck):
            self.tasks.create_task(self._beside(stuck, guess), name=f"replay {stuck.submission.intent.id}")

    async def inside(self, stuck: Stuck) -> bool:
        """Have a model redo a change while its lane waits; return whether it is to be coupled again."""
        return self._may_begin(stuck) and await self._replayed(stuck, None)

    def _may_begin(self, stuck: Stuck) -> bool:
        """Hold what a change claims, unless it is withdrawn or must wait for that."""
        submission = stuck.submission
        if submission.withdrawn:
            self._ends.end(submission, Withdrawn())
            return False
        submission.stuck_at = stuck.collided
        return not self.must_wait(submission) and self.reservations.hold(submission)

    async def _beside(self, stuck: Stuck, guess: Guess | None) -> None:
        if await self._replayed(stuck, guess):
            self._ends.again(stuck.submission)

    async def _replayed(self, stuck: Stuck, guess: Guess | None) -> bool:
        """Return whether a change goes back to its lanes; else its outcome is reported."""
        submission = stuck.submission
        again: bool | None = None
        async with Stoppable() as replaying:
            self._under_way[submission.intent.id] = replaying
            if not submission.withdrawn:
                again = await (self._redone(stuck, []) if guess is None else self._redone_ahead(stuck, guess))
        del self._under_way[submission.intent.id]
        if again is None:
            self._ends.end(submission, Withdrawn())
        return bool(again)

    async def _redone(self, stuck: Stuck, tried: list[Step]) -> bool:
        submission = stuck.submission
        while self._redo is not None and submission.replay < self._most and not stuck.for_author:
            intent = self._main.placed(submission.intent)
            if isinstance(intent, Declined):
                tried.append(Step(by="follow", declined=intent.why))
                break
            submission.replay += 1
            fork = self._main.fork({*intent.scope, *submission.change.paths}, self._shared)
            redone = await self._redo.redo(_request(stuck, intent, submission.replay, tried), fork)
            if isinstance(redone, Postponed):
                self._postpone(submission, redone)
                return False
            if isinstance(redone, Declined):
                tried.append(Step(by="model", declined=redone.why))
                continue
            self._take(stuck, redone, fork, tried)
            return True
        self._write(stuck, tried)
        met = submission.collided[-len(stuck.collided) :]
        self._ends.end(submission, SentBack(reason=_why(met), detail=_detail(met)))
        return False

    async def _redone_ahead(self, stuck: Stuck, guess: Guess) -> bool:
        """Redo a change on a guessed state; where main does not come to it, what the model said is thrown away.

        Once main has come to it, the replay is one on that state, and what lands after that is dealt with as ever.
        """
        submission = stuck.submission
        intent = self._main.placed(submission.intent)
        if self._redo_ahead is None or isinstance(intent, Declined) or not self._may_guess(stuck):
            await guess.over.wait()
            self._all_again(self.reservations.rest(submission))
            return True
        paths = {*intent.scope, *submission.change.paths}
        fork = guess.fork(paths)
        request = _request(stuck, intent, submission.replay + 1, ())
        came: Fork | None = None

        async def settled(change: Change) -> Change | None:
            await guess.over.wait()
            return None if came is None else change.on(came.commit)

        outcome: Redone | Declined | Postponed | ThrownAway | None = None
        async with Stoppable() as asking:

            def look() -> None:
                nonlocal came
                if guess.right(fork, request.since):
                    came = self._main.fork(paths, self._shared)
                else:
                    asking.stop()

            guess.when_over(look)
            try:
                outcome = await self._redo_ahead.redo_ahead(request, fork, settled)
                if isinstance(outcome, Declined | Postponed):
                    await guess.over.wait()
            finally:
                guess.forget(look)
        if outcome is None or isinstance(outcome, ThrownAway) or came is None:
            if not isinstance(outcome, Postponed):
                self._waste(submission, outcome)
            self._all_again(self.reservations.rest(submission))
            return True
        if isinstance(outcome, Postponed):
            self._postpone(submission, outcome)
            return False
        submission.replay += 1
        if isinstance(outcome, Declined):
            return await self._redone(stuck, [Step(by="model", declined=outcome.why)])
        self._take(stuck, outcome, came, [])
        return True

    def _all_again(self, submissions: Iterable[Submission]) -> None:
        for submission in submissions:
            self._ends.again(submission)

    def _may_guess(self, stuck: Stuck) -> bool:
        """Return whether a guess can hold; what shared paths will be is only known when their changes have landed."""
        submission = stuck.submission
        plain = submission.shared.isdisjoint(submission.change.paths)
        return plain and submission.replay < self._most and not stuck.for_author

    def _take(self, stuck: Stuck, redone: Redone, fork: Fork, tried: list[Step]) -> None:
        tried.append(Step(by=f"model:{redone.model}"))
        self._write(stuck, tried)
        stuck.submission.fork = fork
        stuck.submission.take(redone)

    def _waste(self, submission: Submission, outcome: Redone | Declined | ThrownAway | None) -> None:
        """Count what a model did on a state that main did not come to."""
        unknown = Usage(calls=1, cost_usd=None)
        usage = outcome.usage if isinstance(outcome, Redone | ThrownAway) else unknown
        submission.usage = submission.usage + usage
        self._journal.write(
            events.Wasted,
            **_where(submission),
            replay=submission.replay + 1,
            why="its prompt named a change that did not land, or main moved otherwise",
            calls=usage.calls,
            cost_usd=usage.cost_usd,
        )

    def _postpone(self, submission: Submission, postponed: Postponed) -> None:
        """Give a change up for this sitting; a later one hands it in as it was made."""
        self._journal.write(
            events.Postponed,
            **_where(submission),
            why=postponed.why,
        )
        self._ends.end(submission, postponed)

    def _write(self, stuck: Stuck, tried: Iterable[Step]) -> None:
        """Journal what a model's turn came to, for every path that was stuck."""
        submission = stuck.submission
        for collided in stuck.collided:
            whole = collided.then(tried)
            submission.collided.append(whole)
            self._journal.write(
                events.CollisionMet,
                **_where(submission),
                collided=whole,
                replay=submission.replay,
            )


def _request(stuck: Stuck, intent: Intent, replay: int, tried: Sequence[Step]) -> ReplayRequest:
    return ReplayRequest(
        intent=intent,
        attempt=stuck.submission.attempt,
        change=stuck.submission.change,
        collided=stuck.collided,
        since=tuple(intent for collided in stuck.collided for intent in collided.intents),
        replay=replay,
        failed=tried[-1].declined if tried else "",
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


def _where(submission: Submission) -> dict[str, Any]:
    """Return the fields of every event about a change in its lane."""
    lane = submission.lanes[0]
    return {"actor": f"lane {lane}", "intent": submission.intent.id, "attempt": submission.attempt, "lane": lane}

"""An agent: it takes one intent after the other from question to change, and hears what became of it."""

from __future__ import annotations

from collections.abc import Callable

from fleet.admission import Queue
from fleet.attempts import Attempts
from fleet.calls import Calls, usage_of
from fleet.making import Made, make_change
from lanes.fork import Main
from lanes.submission import Landed, SentBack, Submission
from lanes.yard import Yard
from qodebase import events
from qodebase.intent import Ending, Intent
from qodebase.journal import Journal
from qodebase.ports import Answer, Clock, Failure, Job, Model, NoAnswer, Unusable, Wait
from qodebase.record import Usage
from qodebase.state import IntentState

_OUT_OF_REACH = (Failure.PROVIDER, Failure.TIMEOUT, Failure.RATE)
_GIVEN_UP_AFTER = 20


class Agents:
    """What all agents of a run share; `work` is one of them.

    ``unreached`` counts the intents that were left pending because no call of the sitting had reached the model.
    """

    def __init__(
        self,
        *,
        job: Job,
        model: Model,
        calls: Calls,
        yard: Yard,
        main: Main,
        queue: Queue,
        journal: Journal,
        attempts: Attempts,
        clock: Clock,
        state: Callable[[str], IntentState],
        tries: int,
    ) -> None:
        self._job = job
        self._model = model
        self._calls = calls
        self._yard = yard
        self._main = main
        self._queue = queue
        self._journal = journal
        self._attempts = attempts
        self._clock = clock
        self._state = state
        self._tries = tries
        self._reached = False
        self.unreached = 0
        self._shared = tuple(shared.path for shared in job.shared)

    async def work(self, number: int) -> None:
        """Take intents until there are no more."""
        name = f"agent-{number}"
        while True:
            got = self._queue.next()
            if got is None:
                return
            if isinstance(got, Wait):
                await self._queue.changed()
                continue
            await self._take(got, name)
            self._queue.ended()

    async def _take(self, intent: Intent, agent: str) -> None:
        """Bring one intent to its ending; a change that an earlier sitting made is handed in again as it is.

        An intent whose model cannot be reached, and never could in this sitting, stays pending: that says nothing of
        the intent. After so many of them no more are admitted.
        """
        state = self._state(intent.id)
        attempt = max(1, state.attempt)
        while True:
            submission = self._held(intent, state) or await self._attempt(intent, attempt, agent)
            if submission is None:
                return
            if isinstance(submission, Unusable):
                self._end(intent, attempt, agent, submission.ending, submission.why)
                return
            outcome = await self._yard.submit(submission)
            match outcome:
                case Landed():
                    return
                case SentBack(reason=reason) if attempt >= self._tries:
                    self._end(intent, attempt, agent, Ending.SENT_BACK, reason)
                    return
            attempt += 1
            state = IntentState(intent=intent)

    def _held(self, intent: Intent, state: IntentState) -> Submission | None:
        if not state.change_ref:
            return None
        change = self._attempts.change(state.change_ref)
        plan = {}
        usage = Usage()
        model = self._model.name
        for number, answered in state.answered.items():
            if answered.attempt != state.attempt:
                continue
            usage = usage + usage_of(answered)
            plan = {"prompt": state.asked[number].prompt, "answer": answered.answer}
            model = answered.model
        return Submission(
            intent=intent,
            attempt=max(1, state.attempt),
            agent=state.agent,
            model=model,
            change=change,
            fork=self._main.fork_at(change.base, {*intent.scope, *change.paths, *self._shared}),
            plan={**plan, "change": state.change_digest},
            usage=usage,
            admitted_at=state.admitted_at,
            answered_at=state.answered_at,
            deterministic=self._model.deterministic,
            simulated=self._model.simulated,
            replay=state.replay,
            collided=list(state.collided),
        )

    async def _attempt(self, intent: Intent, attempt: int, agent: str) -> Submission | Unusable | None:
        fork = self._main.fork(intent.scope, self._shared)
        where = {"actor": agent, "intent": intent.id, "attempt": attempt}
        admitted = self._journal.write(events.Admitted, base=fork.commit, **where)
        prompt = self._job.prompt(intent, fork)
        called = await self._calls.ask(intent.id, attempt, agent, prompt, purpose="fresh")
        answered_at = self._clock.now()
        if self._out_of_reach(called.outcome):
            return None
        made = make_change(self._job, intent, called.outcome, fork, self._shared)
        if not isinstance(made, Made):
            return made
        kept = self._attempts.keep(made.change)
        self._journal.write(
            events.ChangeMade,
            base=fork.commit,
            change=kept.digest,
            ref=kept.ref,
            paths=made.change.paths,
            proof=made.proof,
            sanitised=made.sanitised,
            **where,
        )
        return Submission(
            intent=intent,
            attempt=attempt,
            agent=agent,
            model=called.outcome.model,
            change=made.change,
            fork=fork,
            plan={**called.plan, "change": kept.digest},
            usage=called.usage,
            admitted_at=admitted.at,
            answered_at=answered_at,
            deterministic=self._model.deterministic,
            simulated=self._model.simulated,
        )

    def _out_of_reach(self, outcome: Answer | NoAnswer) -> bool:
        if isinstance(outcome, Answer) or outcome.failure not in _OUT_OF_REACH:
            self._reached = True
        if self._reached:
            return False
        self.unreached += 1
        if self.unreached >= _GIVEN_UP_AFTER:
            self._queue.drain()
        return True

    def _end(self, intent: Intent, attempt: int, agent: str, ending: Ending, reason: str) -> None:
        self._journal.write(events.Ended, actor=agent, intent=intent.id, attempt=attempt, ending=ending, reason=reason)

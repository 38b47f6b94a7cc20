"""An agent: it takes one intent after the other from question to change, and hears what became of it."""

from __future__ import annotations

from collections.abc import Callable

from fleet.admission import Queue
from fleet.attempts import Attempts
from fleet.calls import Called, Calls, usage_of
from fleet.channels import Channels
from fleet.making import Made
from fleet.sent_back_text import bounded, with_sent_back
from fleet.verifying import Verifier
from fleet.workshop.shop import Workshop
from lanes.fork import Main
from lanes.router import SharedByLane
from lanes.submission import Landed, SentBack, Submission
from lanes.yard import Yard
from qodebase import events
from qodebase.collision import Declined
from qodebase.intent import Ending, Intent
from qodebase.journal import Journal
from qodebase.ports import Answer, Clock, Failure, NoAnswer, Postponed, Unusable, Wait
from qodebase.record import Usage
from qodebase.segments import BadSegment
from qodebase.state import IntentState
from qodebase.stoppable import Stoppable

_OUT_OF_REACH = (Failure.PROVIDER, Failure.TIMEOUT, Failure.RATE)
_NOT_SENT = (Failure.SECRET, Failure.NEVER_SENT)
_GIVEN_UP_AFTER = 20


class Agents:
    """What all agents of a run share; `work` is one of them.

    ``unreached`` counts the intents that were left pending because the model turned everybody away, or no call of the
    sitting had reached it.
    """

    def __init__(
        self,
        *,
        workshop: Workshop,
        channels: Channels,
        calls: Calls,
        yard: Yard,
        main: Main,
        queue: Queue,
        journal: Journal,
        attempts: Attempts,
        clock: Clock,
        state: Callable[[str], IntentState],
        shared: SharedByLane,
        most_attempts: int,
        verifier: Verifier,
    ) -> None:
        self._workshop = workshop
        self._channels = channels
        self._calls = calls
        self._yard = yard
        self._main = main
        self._queue = queue
        self._journal = journal
        self._attempts = attempts
        self._clock = clock
        self._state = state
        self._most_attempts = most_attempts
        self._verifier = verifier
        self._reached = False
        self._asking: dict[str, Stoppable] = {}
        self.at_work: set[str] = set()
        self.unreached = 0
        self._in_a_row = 0
        self._shared = shared

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
            self.at_work.add(got.id)
            await self._take(got, name)
            self.at_work.discard(got.id)
            self._queue.ended(got.id)

    def cancel(self, intent: str) -> None:
        """End the work on an intent where that is safe: its call is cancelled, its change leaves the lanes."""
        if (asking := self._asking.get(intent)) is not None:
            asking.stop()
        else:
            self._yard.withdraw(intent)

    async def _take(self, intent: Intent, agent: str) -> None:
        """Bring one intent to its ending; a change that an earlier sitting made is handed in again as it is.

        An intent whose model turned everybody away, or was never reached in this sitting, stays pending: that says
        nothing of the intent. After so many of them in a row no more are admitted.
        """
        state = self._state(intent.id)
        attempt = max(1, state.attempt)
        while True:
            if state.sent_back is not None and state.sent_back.attempt == attempt:
                if attempt >= self._most_attempts:
                    self._end(intent, attempt, agent, Ending.SENT_BACK, state.sent_back.reason)
                    return
                attempt += 1
            submission = self._held(intent, state) or await self._attempt(intent, attempt, agent, state.sent_back)
            if self._cancelled(intent, attempt, agent) or submission is None:
                return
            if isinstance(submission, SentBack):
                self._send_back(intent, attempt, agent, submission.reason)
                continue
            if isinstance(submission, Unusable):
                if self._channels.escalate is None or attempt >= self._most_attempts:
                    self._end(intent, attempt, agent, submission.ending, submission.why)
                    return
                self._send_back(intent, attempt, agent, submission.why)
                continue
            outcome = await self._yard.submit(submission)
            if isinstance(outcome, Landed):
                return
            if isinstance(outcome, SentBack):
                self._send_back(intent, attempt, agent, outcome.reason, outcome.detail)
            if self._cancelled(intent, attempt, agent):
                return
            if isinstance(outcome, Postponed):
                self.unreached += not self._calls.budget.reached
                return

    def _held(self, intent: Intent, state: IntentState) -> Submission | None:
        if not state.has_change:
            return None
        try:
            change = self._attempts.change(state.change_ref, state.change_digest)
        except BadSegment:
            # A power cut may take a change and leave its event.
            return None
        plan = {}
        usage = Usage()
        asked = []
        name = self._channels.fresh.model.name
        for number, answered in state.answered.items():
            if answered.attempt != state.attempt:
                continue
            usage = usage + usage_of(answered)
            plan = {"prompt": state.asked[number].prompt, "answer": answered.answer}
            asked.append(self._channels.named(answered.model).model)
            name = answered.model
        return Submission(
            intent=intent,
            attempt=max(1, state.attempt),
            agent=state.agent,
            model=name,
            change=change,
            fork=self._main.fork_at(change.base, {*intent.scope, *change.paths, *self._shared.of(intent.scope)}),
            plan={**plan, "change": state.change_digest},
            usage=usage,
            admitted_at=state.admitted_at,
            answered_at=state.answered_at,
            deterministic=all(model.deterministic for model in asked),
            simulated=any(model.simulated for model in asked),
            replay=state.replay,
            collided=list(state.collided),
        )

    async def _attempt(
        self, intent: Intent, attempt: int, agent: str, sent_back: events.SentBack | None
    ) -> Submission | SentBack | Unusable | None:
        given = intent.given if attempt == 1 else None
        placed = self._main.placed(intent) if given is None else intent
        intent = intent if isinstance(placed, Declined) else placed
        shared = self._shared.of(intent.scope)
        if given is None:
            fork = self._main.fork(intent.scope, shared)
        else:
            fork = self._main.fork_at(given.base, (*intent.scope, *shared))
        where = {"actor": agent, "intent": intent.id, "attempt": attempt}
        admitted = self._journal.write(events.Admitted, base=fork.commit, **where)
        if isinstance(placed, Declined):
            return Unusable(ending=Ending.SENT_BACK, why=placed.why)
        asked = self._asked_of_job(intent, attempt)
        prompting = await self._workshop.prompt(asked, fork, shared)
        prompt, packed = prompting.prompt, prompting.packed
        if sent_back is not None:
            prompt, packed = with_sent_back(prompt, sent_back), None
        called = None
        async with Stoppable() as asking:
            self._asking[intent.id] = asking
            called = await self._calls.ask(
                intent.id,
                attempt,
                agent,
                prompt,
                purpose="fresh",
                fork=fork,
                paths=(*intent.scope, *(() if sent_back is None else shared)),
                packed=packed,
            )
        del self._asking[intent.id]
        if called is None:
            return None
        answered_at = self._clock.now()
        if called.postponed:
            self._journal.write(events.Postponed, why=called.postponed, **where)
            return None
        if self._out_of_reach(called):
            return None
        making = await self._workshop.change(asked, called.outcome, fork, shared)
        made = making.made
        if not isinstance(made, Made):
            return made
        fault = await self._verifier.fault(intent, made.change, fork)
        kept = self._attempts.keep(made.change, making.packed)
        told = {"base": fork.commit, "change": kept.digest, "ref": kept.ref, "paths": made.change.paths, **where}
        if fault:
            self._journal.write(events.Unverified, **told)
            return SentBack(reason=f"did not do on its own fork: {fault}")
        self._journal.write(events.ChangeMade, proof=made.proof, sanitised=made.sanitised, **told)
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
            deterministic=called.deterministic,
            simulated=called.simulated,
        )

    def _out_of_reach(self, called: Called) -> bool:
        outcome = called.outcome
        if isinstance(outcome, Answer):
            self._in_a_row = 0
        if isinstance(outcome, NoAnswer) and outcome.failure in _NOT_SENT:
            return False
        if isinstance(outcome, Answer) or outcome.failure not in _OUT_OF_REACH:
            self._reached = True
        if self._reached and not called.turned_away:
            return False
        self.unreached += 1
        self._in_a_row += 1
        if self._in_a_row >= _GIVEN_UP_AFTER:
            self._queue.drain()
        return True

    def _asked_of_job(self, intent: Intent, attempt: int) -> Intent:
        """Return an intent as its job is asked about it: where the change that it came with did not do, without it.

        A model that only hands such a change back is given it again.
        """
        model = self._channels.choose("fresh", attempt=attempt).model
        return intent.anew() if attempt > 1 and getattr(model, "redoes", True) else intent

    def _cancelled(self, intent: Intent, attempt: int, agent: str) -> bool:
        """End an intent that a person has cancelled; return whether one has."""
        reason = self._state(intent.id).cancelled
        if reason:
            self._end(intent, attempt, agent, Ending.CANCELLED, reason)
        return bool(reason)

    def _send_back(self, intent: Intent, attempt: int, agent: str, reason: str, detail: str = "") -> None:
        self._journal.write(
            events.SentBack,
            actor=agent,
            intent=intent.id,
            attempt=attempt,
            reason=bounded(reason),
            detail=bounded(detail),
        )

    def _end(self, intent: Intent, attempt: int, agent: str, ending: Ending, reason: str) -> None:
        self._journal.write(events.Ended, actor=agent, intent=intent.id, attempt=attempt, ending=ending, reason=reason)

"""Ask a model with patience: through the gate, each try reported before and after, retried where that may help."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol

from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from fleet.concurrency import is_overloaded
from fleet.models.cached import WithCache
from fleet.scrub import Scrub
from fleet.throttle import Throttle, expected_tokens
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Clock, Failure, Model, NoAnswer, Prompt

_SILENT_S = 5.0
"""Seconds without an answer to anybody after which failures of several questions mean that the provider is down."""

_DOUBLINGS = 64
"""Waits have long stopped growing by then; a rate limit may turn a call away more often than a float can double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a call is tried again.

    Attributes:
        tries: calls in all, those left out that a rate limit or a provider that is down turned away: they say nothing
            of the question.
        first_s, longest_s: the wait after the first try, which doubles up to the longest; each is drawn from its
            upper half. It does not double for a reply that makes no sense while others are answered.
        total_s: seconds of waiting in all; a provider that asks for more is not asked again.
        rate_pause_s: how long the whole fleet keeps still after a 429 that does not say how long.
    """

    tries: int = 7
    first_s: float = 0.5
    longest_s: float = 60.0
    total_s: float = 300.0
    rate_pause_s: float = 1.0


class Before(Protocol):
    """Is told of a try, from 1, right before the call is made; the call waits for it."""

    def __call__(self, number: int, /) -> Awaitable[None] | None: ...


class After(Protocol):
    """Is told how a try ended, and its seconds on the clock."""

    def __call__(self, number: int, outcome: Answer | NoAnswer, latency_s: float, /) -> Awaitable[None] | None: ...


class Permit(Protocol):
    """Says whether a call may be made; each method returns why not, or the empty text."""

    async def reserve(self) -> str:
        """Wait until the call may be made; is asked before the gate."""

    def late(self) -> str:
        """Look again right before the call; is asked behind the gate."""


_SCRUB = Scrub()
"""Models from outside may hand on what a provider said as it is."""


class Screen(Protocol):
    """Looks at an answer before it is told or kept, and may turn it into none."""

    def __call__(self, answer: Answer, /) -> Answer | NoAnswer: ...


class Asker:
    """One model as the whole fleet asks it.

    Args:
        model: the model; the cache of a `WithCache` is looked at before the gate.
        throttle: the gate; None: none.
    """

    def __init__(
        self, model: Model, clock: Clock, *, patience: Patience | None = None, throttle: Throttle | None = None
    ) -> None:
        self.model = model
        self._asked: Model = model.inner if isinstance(model, WithCache) else model
        self._patience = patience or Patience()
        self._clock = clock
        self._throttle = throttle
        self._heard_at: float | None = None
        self._failing: set[str] = set()
        self._retrying = AsyncRetrying(
            sleep=clock.sleep,
            retry=retry_if_result(_worth_retrying),
            wait=self._wait,
            stop=self._stop,
            retry_error_callback=_last_outcome,
        )

    async def ask(
        self,
        prompt: Prompt,
        *,
        before: Before,
        after: After,
        permit: Permit | None = None,
        screen: Screen | None = None,
    ) -> Answer | NoAnswer:
        """Return the answer, or why there is none after the last try.

        ``before`` and ``after`` come in pairs; a call that is cancelled has no ``after``. An answer from the cache is
        one try, and needs no permit. A call without a permit is not made; that ends the question too. What ``screen``
        makes of an answer, also of one from the cache, is what is told, kept and returned.

        Raises:
            QodebaseError: no other call would do better (a wrong key, say); its ``after`` has been called.
        """
        if isinstance(self.model, WithCache):
            started = self._clock.now()
            found = await self.model.lookup(prompt)
            if found is not None:
                screened = screen(found) if screen is not None else found
                await _told(before(1))
                await _told(after(1, screened, self._clock.now() - started))
                return screened
        count = _Count()
        outcome = await self._try(prompt, count, before, after, permit, screen)
        if _worth_retrying(outcome):
            count.first = outcome
            outcome = await self._retrying(self._next, prompt, count, before, after, permit, screen)
        if isinstance(self.model, WithCache):
            await self.model.keep(prompt, outcome)
        return outcome

    @property
    def _down(self) -> bool:
        """Return whether the provider, which did answer, has answered nobody for a while and fails several."""
        silent = self._heard_at is not None and self._clock.now() - self._heard_at >= _SILENT_S
        return silent and len(self._failing) > 1

    def turned_away(self, outcome: Answer | NoAnswer) -> bool:
        """Return whether a question that ended so was turned away as all others are now, which says nothing of it."""
        if isinstance(outcome, NoAnswer) and outcome.failure is Failure.RATE:
            return True
        return _worth_retrying(outcome) and self._down

    def _hear(self, prompt: Prompt, outcome: Answer | NoAnswer) -> None:
        if _worth_retrying(outcome):
            self._failing.add(prompt.digest)
        else:
            self._failing.clear()
            self._heard_at = self._clock.now()

    async def _next(self, prompt: Prompt, count: _Count, *told: Any) -> Answer | NoAnswer:
        """Take the next try; the first was taken without the machinery of retrying, which most calls never need."""
        first, count.first = count.first, None
        return await self._try(prompt, count, *told) if first is None else first

    async def _try(
        self,
        prompt: Prompt,
        count: _Count,
        before: Before,
        after: After,
        permit: Permit | None,
        screen: Screen | None,
    ) -> Answer | NoAnswer:
        if permit is not None and (why := await permit.reserve()):
            return self._not_made(why)
        count.tries += 1
        number = count.tries
        tokens = 0
        if self._throttle is not None:
            tokens = expected_tokens(prompt) if self._throttle.counts_tokens else 0
            await self._throttle.enter(tokens)
        outcome: Answer | NoAnswer | None = None
        try:
            if permit is not None and (why := permit.late()):
                if self._throttle is not None:
                    self._throttle.settle(tokens, 0)
                return self._not_made(why)
            if (heard := before(number)) is not None:
                await heard
            started = self._clock.now()
            try:
                outcome = await self._asked.answer(prompt)
                if isinstance(outcome, NoAnswer):
                    outcome = outcome.saying(_SCRUB(outcome.why))
                elif screen is not None:
                    outcome = screen(outcome)
            except QodebaseError as error:
                error.message = _SCRUB(error.message)
                error.args = (error.message,)
                ended = NoAnswer(failure=Failure.PROVIDER, why=error.message, model=self.model.name)
                await _told(after(number, ended, self._clock.now() - started))
                raise
        finally:
            if self._throttle is not None:
                self._throttle.leave(overloaded=None if outcome is None else is_overloaded(outcome))
        if self._throttle is not None:
            self._obey(self._throttle, outcome, tokens)
        self._hear(prompt, outcome)
        # What may have been paid uses up its try.
        overloaded = is_overloaded(outcome)
        paid = not overloaded or outcome.cost_usd is None
        count.doublings += overloaded or self._heard_at is None or self._heard_at < started
        count.turned_away += not paid and self.turned_away(outcome)
        if (heard := after(number, outcome, self._clock.now() - started)) is not None:
            await heard
        return outcome

    def _not_made(self, why: str) -> NoAnswer:
        return NoAnswer(failure=Failure.CAP, why=why, model=self.model.name)

    def _obey(self, throttle: Throttle, outcome: Answer | NoAnswer, tokens: int) -> None:
        used = outcome.input_tokens + outcome.output_tokens
        if used or (isinstance(outcome, NoAnswer) and outcome.cost_usd == 0):
            throttle.settle(tokens, used)
        if isinstance(outcome, Answer) or not outcome.retry:
            return
        if outcome.failure is Failure.RATE or outcome.retry_after_s is not None:
            asked = outcome.retry_after_s
            throttle.pause(min(self._patience.rate_pause_s if asked is None else asked, self._patience.total_s))

    def _wait(self, state: RetryCallState) -> float:
        """Return what a rate limit asks for, else a time that doubles and is not below what the provider asks for.

        Jitter comes from the prompt, not the call order.
        """
        outcome, prompt = _last_outcome(state), state.args[0]
        count: _Count = state.args[1]
        jitter = _fraction(f"{prompt.digest}:{state.attempt_number}")
        grown = self._patience.first_s * 2.0 ** min(max(count.doublings - 1, 0), _DOUBLINGS)
        own = min(grown, self._patience.longest_s) * (0.5 + jitter / 2)
        if isinstance(outcome, NoAnswer) and outcome.retry_after_s is not None:
            asked = outcome.retry_after_s + jitter * self._patience.first_s
            return asked if outcome.failure is Failure.RATE else max(own, asked)
        return own

    def _stop(self, state: RetryCallState) -> bool:
        waited = state.idle_for + state.upcoming_sleep
        count: _Count = state.args[1]
        return count.tries - count.turned_away >= self._patience.tries or waited > self._patience.total_s


@dataclass(slots=True)
class _Count:
    """The tries of one question, what came of the first, and how many were turned away, or call for a longer wait."""

    tries: int = 0
    first: Answer | NoAnswer | None = None
    turned_away: int = 0
    doublings: int = 0


def _worth_retrying(outcome: Any) -> bool:
    return isinstance(outcome, NoAnswer) and outcome.retry


def _last_outcome(state: RetryCallState) -> Any:
    assert state.outcome is not None
    return state.outcome.result()


def _fraction(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest()) / float(1 << 48)


async def _told(heard: Awaitable[None] | None) -> None:
    if heard is not None:
        await heard

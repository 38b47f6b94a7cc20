"""Ask a model with patience: through the gate, each try reported before and after, retried where that may help."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol

from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from fleet.models.cached import WithCache
from fleet.throttle import Throttle, expected_tokens
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Clock, Failure, Model, NoAnswer, Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a call is tried again.

    Attributes:
        tries: calls in all.
        first_s, longest_s: the wait after the first try, which doubles up to the longest; each is drawn from its
            upper half.
        total_s: seconds of waiting in all; a provider that asks for more is not asked again.
        rate_pause_s: how long the whole fleet keeps still after a 429 that does not say how long.
    """

    tries: int = 6
    first_s: float = 1.0
    longest_s: float = 60.0
    total_s: float = 300.0
    rate_pause_s: float = 1.0


class Before(Protocol):
    """Is told of a try, from 1, right before the call is made; the call waits for it."""

    def __call__(self, number: int, /) -> Awaitable[None] | None: ...


class After(Protocol):
    """Is told how a try ended, and its seconds on the clock."""

    def __call__(self, number: int, outcome: Answer | NoAnswer, latency_s: float, /) -> Awaitable[None] | None: ...


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
        self._retrying = AsyncRetrying(
            sleep=clock.sleep,
            retry=retry_if_result(_worth_retrying),
            wait=self._wait,
            stop=self._stop,
            retry_error_callback=_last_outcome,
        )

    async def ask(self, prompt: Prompt, *, before: Before, after: After) -> Answer | NoAnswer:
        """Return the answer, or why there is none after the last try.

        ``before`` and ``after`` come in pairs; a call that is cancelled has no ``after``. An answer from the cache is
        one try.

        Raises:
            QodebaseError: no other call would do better (a wrong key, say); its ``after`` has been called.
        """
        if isinstance(self.model, WithCache):
            started = self._clock.now()
            found = await self.model.lookup(prompt)
            if found is not None:
                await _told(before(1))
                await _told(after(1, found, self._clock.now() - started))
                return found
        outcome: Answer | NoAnswer = await self._retrying(self._try, prompt, _Count(), before, after)
        if isinstance(self.model, WithCache):
            await self.model.keep(prompt, outcome)
        return outcome

    async def _try(self, prompt: Prompt, count: _Count, before: Before, after: After) -> Answer | NoAnswer:
        count.value += 1
        number = count.value
        tokens = 0
        if self._throttle is not None:
            tokens = expected_tokens(prompt)
            await self._throttle.enter(tokens)
        await _told(before(number))
        started = self._clock.now()
        try:
            outcome = await self._asked.answer(prompt)
        except QodebaseError as error:
            ended = NoAnswer(failure=Failure.PROVIDER, why=error.message, model=self.model.name)
            await _told(after(number, ended, self._clock.now() - started))
            raise
        if self._throttle is not None:
            self._obey(self._throttle, outcome, tokens)
        await _told(after(number, outcome, self._clock.now() - started))
        return outcome

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
        """Return what the provider asks for, else a doubling time; jitter comes from the prompt, not the call order."""
        outcome, prompt = _last_outcome(state), state.args[0]
        jitter = _fraction(f"{prompt.digest}:{state.attempt_number}")
        grown = self._patience.first_s * 2.0 ** (state.attempt_number - 1)
        own = min(grown, self._patience.longest_s) * (0.5 + jitter / 2)
        if isinstance(outcome, NoAnswer) and outcome.retry_after_s is not None:
            return outcome.retry_after_s + jitter * self._patience.first_s
        return own

    def _stop(self, state: RetryCallState) -> bool:
        waited = state.idle_for + state.upcoming_sleep
        return state.attempt_number >= self._patience.tries or waited > self._patience.total_s


@dataclass(slots=True)
class _Count:
    """The tries of one question."""

    value: int = 0


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

"""Calls of models, each journalled before it is made; prompts and answers kept; no question asked twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from fleet.retry import Asker
from qodebase import events
from qodebase.codec import JSON
from qodebase.journal import Journal
from qodebase.ports import Answer, NoAnswer, Prompt
from qodebase.record import Usage
from qodebase.segments import SegmentReader, SegmentWriter
from qodebase.state import IntentState


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What came of a question: the outcome, what all its calls used, and the digests for the record."""

    outcome: Answer | NoAnswer
    usage: Usage
    plan: dict[str, str]


class Calls:
    """Ask one model for a run.

    Args:
        asker: the model with its gate and patience.
        journal: where each call is written before it is made.
        store, kept: where prompts and answers go, and where they are read back.
        states: the run so far; answers in it are not asked for again.
        numbers: hands out the run's call numbers.
    """

    def __init__(
        self,
        asker: Asker,
        *,
        journal: Journal,
        store: SegmentWriter,
        kept: SegmentReader,
        states: Iterable[IntentState],
        numbers: CallNumbers,
    ) -> None:
        self._asker = asker
        self._journal = journal
        self._store = store
        self._kept = kept
        self._numbers = numbers
        self._held: dict[tuple[str, int | None, str], events.Answered] = {}
        for state in states:
            for number, answered in state.answered.items():
                asked = state.asked.get(number)
                if answered.outcome == "answer" and asked is not None:
                    self._held[state.intent.id, asked.attempt, asked.prompt] = answered

    async def ask(self, intent: str, attempt: int, agent: str, prompt: Prompt, *, purpose: str) -> Called:
        """Return the answer that the run already holds, or ask the model."""
        digest = prompt.digest
        held = self._held.get((intent, attempt, digest))
        if held is not None:
            return self._again(held, digest)
        where = {"actor": agent, "intent": intent, "attempt": attempt}
        model = self._asker.model.name
        ref = self._store.put(JSON.encode(prompt.messages)).text
        usage = Usage()
        call = 0

        def before(number: int, /) -> None:
            nonlocal call
            call = self._numbers.next()
            self._journal.write(events.Asked, call=call, purpose=purpose, model=model, prompt=digest, ref=ref, **where)

        def after(number: int, outcome: Answer | NoAnswer, latency_s: float, /) -> None:
            nonlocal usage
            usage = usage + usage_of(outcome)
            text = outcome.text if isinstance(outcome, Answer) else ""
            self._journal.write(
                events.Answered,
                call=call,
                outcome="answer" if isinstance(outcome, Answer) else str(outcome.failure),
                why="" if isinstance(outcome, Answer) else outcome.why,
                source=outcome.source if isinstance(outcome, Answer) else "provider",
                model=outcome.model,
                input_tokens=outcome.input_tokens,
                cached_tokens=outcome.cached_tokens,
                output_tokens=outcome.output_tokens,
                cost_usd=outcome.cost_usd,
                latency_s=latency_s,
                answer=_digest(text),
                ref=self._store.put(text.encode()).text if text else "",
                **where,
            )

        outcome = await self._asker.ask(prompt, before=before, after=after)
        return Called(outcome=outcome, usage=usage, plan=_plan(digest, outcome))

    def _again(self, held: events.Answered, digest: str) -> Called:
        answer = Answer(
            text=self._kept.get(held.ref).decode(),
            model=held.model,
            input_tokens=held.input_tokens,
            cached_tokens=held.cached_tokens,
            output_tokens=held.output_tokens,
            cost_usd=held.cost_usd,
            source="run",
        )
        return Called(outcome=answer, usage=usage_of(answer), plan=_plan(digest, answer))


class CallNumbers:
    """The numbers of a run's calls, from 1 on over all its sittings."""

    def __init__(self, last: int) -> None:
        self._last = last

    def next(self) -> int:
        """Return the next number."""
        self._last += 1
        return self._last


def usage_of(outcome: Answer | NoAnswer | events.Answered) -> Usage:
    """Return what one call used, from its outcome or from the journal."""
    return Usage(
        calls=1,
        input_tokens=outcome.input_tokens,
        cached_tokens=outcome.cached_tokens,
        output_tokens=outcome.output_tokens,
        cost_usd=outcome.cost_usd,
    )


def _plan(prompt: str, outcome: Answer | NoAnswer) -> dict[str, str]:
    return {"prompt": prompt, **({"answer": _digest(outcome.text)} if isinstance(outcome, Answer) else {})}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest() if text else ""

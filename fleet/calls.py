"""Calls of models, each journalled before it is made; prompts and answers kept; no question asked twice."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from fleet.budget import Budget
from fleet.channels import Channel, Channels
from fleet.guard import Cleared, Guard, Withheld, is_screened
from fleet.retry import Asker
from qodebase import events
from qodebase.caps import Most
from qodebase.codec import JSON
from qodebase.errors import QodebaseError
from qodebase.journal import Journal
from qodebase.paths import RepoPath
from qodebase.ports import Answer, Clock, Failure, NoAnswer, Prompt, Tree
from qodebase.record import Usage
from qodebase.segments import BadSegment, SegmentReader, SegmentWriter
from qodebase.state import IntentState


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What came of a question: the outcome, what all its calls used, the digests for the record, and who was asked.

    ``turned_away`` says that the provider turned it away as it does all others now, which says nothing of the question.
    """

    outcome: Answer | NoAnswer
    usage: Usage
    plan: dict[str, str]
    deterministic: bool = False
    simulated: bool = False
    turned_away: bool = False

    @property
    def postponed(self) -> str:
        """Return why a call was not made, which leaves the intent pending; empty where all were made."""
        outcome = self.outcome
        return outcome.why if isinstance(outcome, NoAnswer) and outcome.failure is Failure.CAP else ""

    @property
    def away(self) -> str:
        """Return why the provider turned the question away, which leaves the intent pending too; or the empty text."""
        return self.outcome.why if self.turned_away and isinstance(self.outcome, NoAnswer) else ""


class Calls:
    """Ask the models of a run.

    Args:
        channels: who is asked for what.
        budget: lets calls be made.
        journal: where each call is written before it is made.
        store, kept: where prompts and answers go, and where they are read back.
        states: the run so far; answers in it are not asked for again.
        numbers: hands out the run's call numbers.
        guard: looks at what is sent and what comes back; None: nobody does.
        keep_texts: keep the texts of prompts and answers; else only their digests, and an answer that a kill came
            after is asked for again.
    """

    def __init__(
        self,
        channels: Channels,
        clock: Clock,
        *,
        budget: Budget,
        journal: Journal,
        store: SegmentWriter,
        kept: SegmentReader,
        states: Iterable[IntentState],
        numbers: CallNumbers,
        guard: Guard | None = None,
        keep_texts: bool = True,
    ) -> None:
        self._channels = channels
        self._askers = {id(channel): Asker(channel.model, clock, throttle=channel.throttle) for channel in channels.all}
        self.budget = budget
        self.journal = journal
        self.numbers = numbers
        self._store = store
        self._kept = kept
        self._guard = guard
        self._keep_texts = keep_texts
        self._held: dict[tuple[str, int | None, str], events.Answered] = {}
        for state in states:
            for number, answered in state.answered.items():
                asked = state.asked.get(number)
                if answered.outcome == "answer" and answered.ref and asked is not None:
                    self._held[state.intent.id, asked.attempt, asked.prompt] = answered

    async def ask(
        self,
        intent: str,
        attempt: int,
        agent: str,
        prompt: Prompt,
        *,
        purpose: str,
        failed: bool = False,
        fork: Tree | None = None,
        paths: Iterable[RepoPath] = (),
        packed: bytes | None = None,
    ) -> Called:
        """Return the answer that the run already holds, or ask the model that the purpose calls for.

        Args:
            purpose: ``fresh`` or ``replay``.
            failed: a replay before this one failed.
            fork, paths: the code that the prompt was made from, and the paths whose text it may show.
            packed: the prompt's messages as segments hold them, where they were packed already.
        """
        channel = self._channels.choose(purpose, attempt=attempt, failed=failed)
        where = {"actor": agent, "intent": intent, "attempt": attempt}
        given = prompt
        cleared = self._clear(prompt, channel, fork, paths, where)
        if isinstance(cleared, Withheld):
            none = NoAnswer(failure=cleared.failure, why=cleared.why, model=channel.model.name)
            return _called(none, Usage(), {"prompt": prompt.digest}, channel)
        prompt = cleared.prompt
        digest = prompt.digest
        held = self._held.get((intent, attempt, digest))
        if held is not None and (answer := self._again(held)) is not None:
            return _called(answer, usage_of(answer), {"prompt": digest, "answer": held.answer}, channel)
        question = _Question(
            self,
            channel.most(prompt),
            fresh=purpose == "fresh" and attempt == 1,
            free=getattr(channel.model, "free", False),
            asked={
                "purpose": purpose,
                "model": channel.model.name,
                "prompt": digest,
                "ref": self._keep_prompt(prompt, packed if prompt is given else None),
                "limit": prompt.max_output_tokens,
            },
            where=where,
        )
        try:
            outcome = await self._askers[id(channel)].ask(
                prompt,
                before=question.before,
                after=question.after,
                permit=question,
                screen=self._screen(cleared, channel),
            )
        except asyncio.CancelledError:
            question.cut_off()
            raise
        finally:
            question.release()
        away = self._askers[id(channel)].turned_away(outcome)
        plan = {"prompt": digest, **({"answer": question.digest} if isinstance(outcome, Answer) else {})}
        return _called(outcome, question.usage, plan, channel, turned_away=away)

    def keep(self, content: bytes) -> str:
        """Keep a prompt or an answer; return where, or the empty text where texts are not kept."""
        return self._store.put(content).text if self._keep_texts else ""

    def _keep_prompt(self, prompt: Prompt, packed: bytes | None) -> str:
        if packed is None or not self._keep_texts:
            return self.keep(JSON.encode(prompt.messages))
        return self._store.put_packed(packed).text

    def _clear(
        self,
        prompt: Prompt,
        channel: Channel,
        fork: Tree | None,
        paths: Iterable[RepoPath],
        where: dict[str, Any],
    ) -> Cleared | Withheld:
        """Return a prompt as it may be sent, and journal what was taken out, or why it is not sent."""
        if self._guard is None or channel.model.local:
            return Cleared(prompt=prompt)
        cleared = self._guard.clear(prompt, fork, paths)
        if isinstance(cleared, Withheld):
            how, why, shown = "refused", cleared.failure, cleared.shown
        else:
            how, why, shown = "redacted", Failure.SECRET, cleared.replaced
        if shown:
            self.journal.write(events.Withheld, how=how, why=str(why), shown=shown, **where)
        return cleared

    def _screen(self, cleared: Cleared, channel: Channel) -> Callable[[Answer], Answer | NoAnswer] | None:
        """Return what looks at answers; None: nobody does."""
        if self._guard is None or not is_screened(channel.model):
            return None
        return partial(self._guard.screen, cleared)

    def _again(self, held: events.Answered) -> Answer | None:
        """Return an answer that the run holds; None where its text is lost: a power cut may leave its event alone."""
        try:
            text = self._kept.get(held.ref)
        except BadSegment:
            return None
        if hashlib.sha256(text).hexdigest() != held.answer:
            return None
        return Answer(
            text=text.decode(),
            model=held.model,
            input_tokens=held.input_tokens,
            cached_tokens=held.cached_tokens,
            output_tokens=held.output_tokens,
            cost_usd=held.cost_usd,
            source="run",
        )


class _Question:
    """One question on its way: each of its calls is reserved, journalled, made, journalled again and settled."""

    def __init__(
        self, calls: Calls, most: Most, *, fresh: bool, free: bool, asked: dict[str, Any], where: dict[str, Any]
    ) -> None:
        self.usage = Usage()
        self.digest = ""
        self._calls = calls
        self._most = most
        self._fresh = fresh
        self._free = free
        self._asked = asked
        self._where = where
        self._reserved = False
        self._open = 0

    async def reserve(self) -> str:
        """Wait until a call may be made; return why it may not, or the empty text."""
        why = await self._calls.budget.reserve(self._most, fresh=self._fresh)
        self._reserved = not why
        return why

    def late(self) -> str:
        """Return why the call may not be made after all, or the empty text."""
        return self._calls.budget.late()

    @property
    def _uses(self) -> bool:
        return self._reserved and not self._free

    def release(self) -> None:
        """Give back what a call that has ended, or was never made, reserved."""
        if self._reserved:
            self._reserved = False
            self._calls.budget.release(self._most, fresh=self._fresh)
            self._fresh = False

    def before(self, number: int, /) -> None:
        """Journal a call that is about to be made; an answer from the cache uses nothing.

        A call that uses something is with the operating system before it is made, and its end before anything is made
        of it, so that a kill loses neither.
        """
        self._open = self._calls.numbers.next()
        most = self._most if self._reserved else Most()
        self._calls.journal.write(
            events.Asked, call=self._open, most_tokens=most.tokens, most_usd=most.usd, **self._asked, **self._where
        )
        if self._uses:
            self._calls.journal.flush()

    def after(self, number: int, outcome: Answer | NoAnswer, latency_s: float, /) -> None:
        """Journal how a call ended."""
        used = usage_of(outcome)
        self.usage = self.usage + used if self.usage.calls else used
        if isinstance(outcome, Answer):
            text = outcome.text.encode()
            self.digest = hashlib.sha256(text).hexdigest() if text else ""
            said = {
                "outcome": "answer",
                "source": outcome.source,
                "named": outcome.named,
                "answer": self.digest,
                "ref": self._calls.keep(text) if text else "",
            }
        else:
            said = {"outcome": str(outcome.failure), "why": outcome.why}
        self._calls.journal.write(
            events.Answered,
            call=self._open,
            model=outcome.model,
            input_tokens=outcome.input_tokens,
            cached_tokens=outcome.cached_tokens,
            output_tokens=outcome.output_tokens,
            cost_usd=outcome.cost_usd,
            latency_s=latency_s,
            **said,
            **self._where,
        )
        if self._uses:
            self._calls.journal.flush()
        self._open = 0
        self.release()

    def cut_off(self) -> None:
        """Journal that a call was cancelled under way; a journal that fails then has its own say."""
        if self._open:
            with suppress(QodebaseError):
                self._calls.journal.write(events.CutOff, call=self._open, model=self._asked["model"], **self._where)


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


def _called(
    outcome: Answer | NoAnswer, usage: Usage, plan: dict[str, str], channel: Channel, *, turned_away: bool = False
) -> Called:
    model = channel.model
    return Called(
        outcome=outcome,
        usage=usage,
        plan=plan,
        deterministic=model.deterministic,
        simulated=model.simulated,
        turned_away=turned_away,
    )

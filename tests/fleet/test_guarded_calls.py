"""Calls with a guard: what is journalled, sent, kept and asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from fleet.budget import Budget
from fleet.cache import AnswerCache
from fleet.calls import Called, CallNumbers, Calls
from fleet.channels import Channel, Channels
from fleet.guard import Guard, SecretsUse
from fleet.models.cached import Cached, CacheMode, WithCache
from fleet.spending import Spending
from qodebase import events
from qodebase.caps import NO_CAPS
from qodebase.clock import VirtualClock
from qodebase.intent import Intent
from qodebase.journal import Journal, read_events
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt
from qodebase.segments import SegmentReader, SegmentWriter
from qodebase.state import RunState
from tests.support.made_secrets import SECRETS

SECRET = SECRETS["Stripe Access Key"]


class Far:
    """A language model elsewhere that says what it is told to, and keeps what it was sent."""

    name, deterministic, simulated, local = "far", False, False, False

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.sent: list[str] = []

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        self.sent.append(prompt.messages[0].text)
        return Answer(text=self.answers.pop(0), model=self.name, input_tokens=5, output_tokens=2, cost_usd=0.5)

    async def close(self) -> None:
        """Hold nothing."""


class Sitting:
    """One sitting of a run of one intent whose model is elsewhere."""

    def __init__(self, root: Path, far: Far, guard: Guard, *, keep_texts: bool, cached: bool) -> None:
        self.path = root / "journal.jsonl"
        self.clock = VirtualClock()
        self.state = RunState([Intent(id="x", asked="", scope=())])
        self.state.apply_all(read_events(self.path) if self.path.exists() else [])
        self.journal = Journal(self.path, run="run-1", clock=self.clock, listeners=(self.state.apply,))
        self.store, self.kept = SegmentWriter(root / "attempts"), SegmentReader(root / "attempts")
        cache = Cached(cache=AnswerCache(root / "cache", self.clock), scope="far")
        self.model = WithCache(far, cache, CacheMode.USE) if cached else far
        self.calls = Calls(
            Channels(fresh=Channel(model=self.model)),
            self.clock,
            budget=Budget(NO_CAPS, self.clock, Spending(), closed=lambda: None),
            journal=self.journal,
            store=self.store,
            kept=self.kept,
            states=self.state.intents.values(),
            numbers=CallNumbers(self.state.calls),
            guard=guard,
            keep_texts=keep_texts,
        )

    def ask(self, text: str) -> Called:
        prompt = Prompt(messages=(Message(role="user", text=text),), max_output_tokens=9)

        async def asked() -> Called:
            try:
                return await self.calls.ask("x", 1, "agent-1", prompt, purpose="fresh")
            finally:
                if isinstance(self.model, WithCache):
                    await self.model.cached.cache.close()

        with asyncio.Runner(loop_factory=self.clock.new_event_loop) as runner:
            return runner.run(asked())

    def kinds(self) -> list[type[events.Event]]:
        return [type(event) for event in read_events(self.path)]


@contextmanager
def sitting(
    root: Path, far: Far, guard: Guard | None = None, *, keep_texts: bool = True, cached: bool = False
) -> Iterator[Sitting]:
    one = Sitting(root, far, guard or Guard(), keep_texts=keep_texts, cached=cached)
    yield one
    one.kept.close()
    one.store.close()
    one.journal.close()


def holds(root: Path, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in root.rglob("*") if path.is_file())


def test_a_prompt_with_a_secret_is_no_call_and_its_event_names_kind_and_place(tmp_path: Path) -> None:
    far = Far()
    with sitting(tmp_path, far) as one:
        called = one.ask(f"a = 1\nkey = '{SECRET}'")
        (event,) = read_events(one.path)
    assert isinstance(called.outcome, NoAnswer)
    assert called.outcome.failure is Failure.SECRET
    assert called.usage.calls == 0
    assert isinstance(event, events.Withheld)
    assert (event.how, event.why, event.intent) == ("refused", "secret", "x")
    assert event.shown == ("Stripe Access Key in line 2 of the prompt",)
    assert far.sent == []
    assert not holds(tmp_path, SECRET)


def test_a_redacted_prompt_is_what_is_sent_kept_and_digested(tmp_path: Path) -> None:
    far = Far("fine")
    with sitting(tmp_path, far, Guard(secrets=SecretsUse.REDACT)) as one:
        one.ask(f"key = '{SECRET}'")
        told, asked, _ = read_events(one.path)
        assert isinstance(told, events.Withheld)
        assert isinstance(asked, events.Asked)
        kept = msgspec.json.decode(one.kept.get(asked.ref), type=tuple[Message, ...])
    sent = "key = '[secret: Stripe Access Key]'"
    assert (told.how, far.sent, kept[0].text) == ("redacted", [sent], sent)
    assert asked.prompt == Prompt(messages=kept, max_output_tokens=9).digest


def test_a_redacted_question_that_was_answered_before_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    far = Far("fine")
    for _ in range(2):
        with sitting(tmp_path, far, Guard(secrets=SecretsUse.REDACT)) as one:
            outcome = one.ask(f"key = '{SECRET}'").outcome
        assert isinstance(outcome, Answer)
        assert outcome.text == "fine"
    assert len(far.sent) == 1


def test_an_answer_with_a_new_secret_is_journalled_as_paid_and_not_cached(tmp_path: Path) -> None:
    far = Far(f"Use {SECRET}", f"Use {SECRET}")
    for _ in range(2):
        with sitting(tmp_path, far, cached=True) as one:
            called = one.ask("how?")
            answered = list(read_events(one.path))[-1]
        assert isinstance(called.outcome, NoAnswer)
        assert isinstance(answered, events.Answered)
        assert (answered.outcome, answered.cost_usd, answered.ref) == ("secret", 0.5, "")
    assert len(far.sent) == 2
    assert not holds(tmp_path, SECRET)


def test_an_answer_from_the_cache_is_looked_at_too(tmp_path: Path) -> None:
    far = Far(f"Use {SECRET}")
    with sitting(tmp_path, far, Guard(secrets=SecretsUse.ALLOW), cached=True) as one:
        assert isinstance(one.ask("how?").outcome, Answer)
    one.path.unlink()
    with sitting(tmp_path, far, cached=True) as one:
        outcome = one.ask("how?").outcome
    assert isinstance(outcome, NoAnswer)
    assert outcome.failure is Failure.SECRET
    assert len(far.sent) == 1


@pytest.mark.parametrize(("keep", "times"), [(True, 1), (False, 2)])
def test_an_answer_whose_text_was_not_kept_is_asked_for_again_after_a_kill(
    tmp_path: Path, keep: bool, times: int
) -> None:
    far = Far("fine", "fine")
    for _ in range(2):
        with sitting(tmp_path, far, keep_texts=keep) as one:
            assert isinstance(one.ask("how?").outcome, Answer)
    assert len(far.sent) == times
    refs = [event.ref for event in read_events(one.path) if isinstance(event, events.Asked | events.Answered)]
    assert all(refs) if keep else not any(refs)


def test_without_texts_the_cache_still_saves_the_second_question(tmp_path: Path) -> None:
    far = Far("fine")
    for _ in range(2):
        with sitting(tmp_path, far, keep_texts=False, cached=True) as one:
            outcome = one.ask("how?").outcome
        assert isinstance(outcome, Answer)
    assert outcome.source == "cache"
    assert len(far.sent) == 1

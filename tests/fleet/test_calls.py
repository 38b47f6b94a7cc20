from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from fleet.budget import Budget
from fleet.cache import AnswerCache
from fleet.calls import Called, CallNumbers, Calls
from fleet.channels import Channel, Channels
from fleet.models.cached import Cached, CacheMode, WithCache
from fleet.models.registry import Price
from fleet.spending import Spending
from qodebase import events
from qodebase.caps import NO_CAPS, Caps
from qodebase.clock import VirtualClock
from qodebase.errors import QodebaseError
from qodebase.intent import Intent
from qodebase.journal import Journal, read_events
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt
from qodebase.record import Usage
from qodebase.segments import SegmentReader, SegmentWriter
from qodebase.state import RunState


def prompt_of(text: str) -> Prompt:
    return Prompt(messages=(Message(role="user", text=text),), max_output_tokens=9)


class Scripted:
    """Gives its outcomes in order and looks at the journal as each call comes."""

    deterministic, simulated, local = True, True, True

    def __init__(self, journal: Path, *outcomes: Answer | NoAnswer | QodebaseError, name: str = "scripted") -> None:
        self.name = name
        self.outcomes = list(outcomes)
        self.journal = journal
        self.seen: list[type[events.Event]] = []

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        self.seen.append(type(list(read_events(self.journal))[-1]))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, QodebaseError):
            raise outcome
        return outcome

    async def close(self) -> None:
        pass


class Sitting:
    """One sitting of a run of one intent."""

    def __init__(
        self,
        root: Path,
        *outcomes: Answer | NoAnswer | QodebaseError,
        caps: Caps,
        price: Price | None,
        others: bool,
        gathers: bool,
    ) -> None:
        path = root / "journal.jsonl"
        self.clock = VirtualClock()
        self.state = RunState([Intent(id="x", asked="", scope=()), Intent(id="y", asked="", scope=())])
        self.state.apply_all(read_events(path) if path.exists() else [])
        self.budget = Budget(caps, self.clock, Spending(), closed=lambda: None)
        self.store = SegmentWriter(root / "attempts", gathers=gathers)
        self.reader = SegmentReader(root / "attempts")
        self.journal = Journal(
            path,
            run="run-1",
            clock=self.clock,
            listeners=(self.state.apply, self.budget.apply),
            later=(lambda flush: None) if gathers else None,
            first=self.store.flush,
        )
        self.model = Scripted(path, *outcomes)
        self.others = [Scripted(path, ANSWER, name=name) for name in ("again", "large")] if others else []
        redo, large = (Channel(model=model) for model in self.others) if others else (None, None)
        self.calls = Calls(
            Channels(fresh=Channel(model=self.model, price=price), replay=redo, escalate=large),
            self.clock,
            budget=self.budget,
            journal=self.journal,
            store=self.store,
            kept=self.reader,
            states=self.state.intents.values(),
            numbers=CallNumbers(self.state.calls),
        )

    def ask(
        self, text: str, *, intent: str = "x", purpose: str = "fresh", attempt: int = 1, failed: bool = False
    ) -> Called:
        prompt = prompt_of(text)
        with asyncio.Runner(loop_factory=self.clock.new_event_loop) as runner:
            asking = self.calls.ask(intent, attempt, "agent-1", prompt, purpose=purpose, failed=failed)
            return runner.run(asking)

    def journalled(self) -> list[events.Event]:
        return list(read_events(self.model.journal))


@contextmanager
def sitting(
    root: Path,
    *outcomes: Answer | NoAnswer | QodebaseError,
    caps: Caps = NO_CAPS,
    price: Price | None = None,
    others: bool = False,
    gathers: bool = False,
) -> Iterator[Sitting]:
    one = Sitting(root, *outcomes, caps=caps, price=price, others=others, gathers=gathers)
    yield one
    one.reader.close()
    one.journal.close()
    one.store.close()


ANSWER = Answer(text="größe", model="big", input_tokens=5, cached_tokens=1, output_tokens=2, cost_usd=0.25)
BUSY = NoAnswer(failure=Failure.RATE, why="busy", model="big", retry=True, input_tokens=3, cost_usd=0.5)


def test_a_call_is_journalled_before_it_is_made_and_its_answer_after(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER) as one:
        called = one.ask("why?")
        assert one.model.seen == [events.Asked]
        asked, answered = one.journalled()
        assert isinstance(asked, events.Asked)
        assert isinstance(answered, events.Answered)
        assert (asked.call, asked.purpose, asked.model, asked.intent, asked.attempt) == (1, "fresh", "scripted", "x", 1)
        assert msgspec.json.decode(one.reader.get(asked.ref)) == [{"role": "user", "text": "why?"}]
        assert (answered.call, answered.outcome, answered.model, answered.cost_usd) == (1, "answer", "big", 0.25)
        assert one.reader.get(answered.ref).decode() == "größe"
        digest = hashlib.sha256("größe".encode()).hexdigest()
        assert answered.answer == digest
        assert called.outcome == ANSWER
        assert called.usage == Usage(calls=1, input_tokens=5, cached_tokens=1, output_tokens=2, cost_usd=0.25)
        assert called.plan == {"prompt": asked.prompt, "answer": digest}


def test_a_kill_before_the_end_of_a_turn_loses_no_call_and_no_answer_that_was_paid(tmp_path: Path) -> None:
    with sitting(tmp_path, BUSY, ANSWER, gathers=True) as killed:
        killed.ask("why?")
        assert killed.model.seen == [events.Asked, events.Asked]
        with sitting(tmp_path) as two:
            assert [type(event) for event in two.journalled()] == [events.Asked, events.Answered] * 2
            assert two.ask("why?").outcome == msgspec.structs.replace(ANSWER, source="run")


def test_every_try_is_a_call_of_its_own_and_all_of_them_are_paid(tmp_path: Path) -> None:
    with sitting(tmp_path, BUSY, BUSY, ANSWER) as one:
        called = one.ask("why?")
        kinds = [(type(event).__name__, event.call) for event in one.journalled()]  # type: ignore[attr-defined]
        assert kinds == [(name, call) for call in (1, 2, 3) for name in ("Asked", "Answered")]
        outcomes = [event.outcome for event in one.journalled() if isinstance(event, events.Answered)]
        assert outcomes == ["rate limited", "rate limited", "answer"]
        assert called.usage == Usage(calls=3, input_tokens=11, cached_tokens=1, output_tokens=2, cost_usd=1.25)


def test_a_call_without_an_answer_keeps_why_and_no_text(tmp_path: Path) -> None:
    refused = NoAnswer(failure=Failure.REFUSED, why="no", model="big", output_tokens=1, cost_usd=None)
    with sitting(tmp_path, refused) as one:
        called = one.ask("why?")
        answered = one.journalled()[-1]
        assert isinstance(answered, events.Answered)
        assert (answered.outcome, answered.why, answered.ref, answered.answer) == ("refused", "no", "", "")
        assert called.outcome == refused
        assert called.usage.cost_usd is None
        assert "answer" not in called.plan


def test_an_error_that_ends_the_run_has_an_end_in_the_journal_too(tmp_path: Path) -> None:
    with sitting(tmp_path, QodebaseError("a wrong key")) as one:
        with pytest.raises(QodebaseError, match="a wrong key"):
            one.ask("why?")
        answered = one.journalled()[-1]
        assert isinstance(answered, events.Answered)
        assert (answered.outcome, answered.why) == ("provider error", "a wrong key")
        assert one.state.intents["x"].open_calls == []


def test_an_answer_that_the_run_holds_is_not_asked_for_again_in_a_later_sitting(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER) as one:
        first = one.ask("why?")
    with sitting(tmp_path) as two:
        again = two.ask("why?")
        assert isinstance(again.outcome, Answer)
        assert again.outcome == msgspec.structs.replace(ANSWER, source="run")
        assert (again.usage, again.plan) == (first.usage, first.plan)
        assert len(two.journalled()) == 2


def test_an_answer_whose_text_a_power_cut_took_is_asked_for_again(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER) as one:
        one.ask("why?")
    (tmp_path / "attempts" / "000001.seg").write_bytes(b"")
    with sitting(tmp_path, ANSWER) as two:
        assert two.ask("why?").outcome == ANSWER


def test_an_answer_is_not_read_from_a_segment_that_took_the_place_of_a_lost_one(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER) as one:
        one.ask("why?")
    (tmp_path / "attempts" / "000001.seg").unlink()
    with sitting(tmp_path, msgspec.structs.replace(ANSWER, text="of y"), ANSWER) as two:
        two.ask("why?", intent="y")
        assert two.ask("why?").outcome == ANSWER


def test_an_answer_is_held_for_its_intent_and_its_prompt_only(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER) as one:
        one.ask("why?")
    with sitting(tmp_path, ANSWER, ANSWER) as two:
        two.ask("why?", intent="y")
        two.ask("why not?")
        assert two.model.outcomes == []


def test_a_failure_and_a_call_cut_off_are_asked_again_and_numbers_go_on(tmp_path: Path) -> None:
    empty = NoAnswer(failure=Failure.EMPTY, why="", model="big")
    with sitting(tmp_path, empty) as one:
        one.ask("why?")
        one.journal.write(events.Asked, intent="x", call=2, purpose="fresh", model="m", prompt="p")
    with sitting(tmp_path, ANSWER) as two:
        two.ask("why?", purpose="replay")
        asked = two.journalled()[-2]
        assert isinstance(asked, events.Asked)
        assert (asked.call, asked.purpose) == (3, "replay")


PRICE = Price(input=100_000.0, output=1_000_000.0)
MOST = 4 + 16 + 9
"""The most tokens of a call about four bytes."""


def test_the_most_that_a_call_may_use_is_journalled_before_it(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER, price=PRICE) as one:
        one.ask("why?")
        asked = one.journalled()[0]
        assert isinstance(asked, events.Asked)
        assert asked.most_tokens == MOST
        assert asked.most_usd == pytest.approx(20 * 0.1 + 9 * 1.0)


def test_at_the_cap_a_call_is_not_made_and_not_journalled(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER, caps=Caps(tokens=MOST - 1)) as one:
        called = one.ask("why?")
        assert called.postponed == "the token cap is reached"
        assert (one.model.outcomes, one.journalled(), called.usage) == ([ANSWER], [], Usage())


def test_a_retry_that_the_cap_forbids_leaves_the_question_open_and_what_was_paid_counts(tmp_path: Path) -> None:
    with sitting(tmp_path, BUSY, ANSWER, caps=Caps(tokens=MOST + 1)) as one:
        called = one.ask("why?")
        assert called.postponed
        assert (called.usage.input_tokens, called.usage.cost_usd) == (3, 0.5)
        assert [type(event) for event in one.journalled()] == [events.Asked, events.Answered]


def test_what_a_call_did_not_use_is_there_for_the_next(tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER, ANSWER, caps=Caps(tokens=MOST + 7)) as one:
        assert not one.ask("why?").postponed
        assert not one.ask("and?").postponed
        assert one.ask("but?").postponed


def test_a_retry_goes_on_where_no_intent_may_be_begun_any_more(tmp_path: Path) -> None:
    large = "x" * 104
    with sitting(tmp_path, ANSWER, BUSY, ANSWER, caps=Caps(tokens=104 + 16 + 9 + 9)) as one:
        one.ask(large)

        async def both() -> tuple[Called, Called]:
            async with asyncio.TaskGroup() as tasks:
                small = tasks.create_task(one.calls.ask("x", 1, "agent-1", prompt_of("why?"), purpose="fresh"))
                await asyncio.sleep(0)
                other = tasks.create_task(one.calls.ask("y", 1, "agent-2", prompt_of(large), purpose="fresh"))
            return small.result(), other.result()

        with asyncio.Runner(loop_factory=one.clock.new_event_loop) as runner:
            small, other = runner.run(both())
        assert other.postponed
        assert (small.outcome, small.usage.calls) == (ANSWER, 2)


def test_an_answer_from_the_cache_needs_no_permit_and_uses_nothing(tmp_path: Path) -> None:
    with sitting(tmp_path, caps=Caps(cost_usd=0.0, tokens=0), price=PRICE) as one:
        cached = Cached(cache=AnswerCache(tmp_path / "cache", one.clock), scope="s")
        calls = Calls(
            Channels(fresh=Channel(model=WithCache(one.model, cached, CacheMode.USE), price=PRICE)),
            one.clock,
            budget=one.budget,
            journal=one.journal,
            store=one.store,
            kept=one.reader,
            states=(),
            numbers=CallNumbers(0),
        )

        async def asked() -> Called:
            await cached.put(prompt_of("why?"), ANSWER)
            try:
                return await calls.ask("x", 1, "agent-1", prompt_of("why?"), purpose="fresh")
            finally:
                await cached.cache.close()

        with asyncio.Runner(loop_factory=one.clock.new_event_loop) as runner:
            called = runner.run(asked())
        assert isinstance(called.outcome, Answer)
        first, last = one.journalled()
        assert isinstance(first, events.Asked)
        assert isinstance(last, events.Answered)
        assert (first.most_tokens, first.most_usd) == (0, 0.0)
        assert (last.source, last.cost_usd, last.output_tokens) == ("cache", 0.0, 0)


class Slow:
    """Never answers."""

    name, deterministic, simulated, local = "slow", False, False, False

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async def close(self) -> None:
        pass


def test_a_call_that_is_cancelled_is_cut_off_and_counts_with_the_most_that_it_may_use(tmp_path: Path) -> None:
    with sitting(tmp_path, caps=Caps(tokens=2 * MOST - 1)) as one:
        calls = Calls(
            Channels(fresh=Channel(model=Slow())),
            one.clock,
            budget=one.budget,
            journal=one.journal,
            store=one.store,
            kept=one.reader,
            states=(),
            numbers=CallNumbers(0),
        )
        prompt = prompt_of("why?")

        async def cancelled() -> Called:
            asking = asyncio.create_task(calls.ask("x", 1, "agent-1", prompt, purpose="fresh"))
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
            return await calls.ask("y", 1, "agent-1", prompt, purpose="fresh")

        with asyncio.Runner(loop_factory=one.clock.new_event_loop) as runner:
            called = runner.run(cancelled())
        assert called.postponed
        assert [type(event) for event in one.journalled()] == [events.Asked, events.CutOff]
        assert one.state.intents["x"].open_calls == []


@pytest.mark.parametrize(
    ("purpose", "attempt", "failed", "model"),
    [
        ("fresh", 1, False, "scripted"),
        ("replay", 1, False, "again"),
        ("replay", 1, True, "large"),
        ("replay", 2, False, "large"),
        ("fresh", 2, False, "large"),
    ],
)
def test_each_purpose_asks_its_own_model(purpose: str, attempt: int, failed: bool, model: str, tmp_path: Path) -> None:
    with sitting(tmp_path, ANSWER, others=True) as one:
        one.ask("why?", purpose=purpose, attempt=attempt, failed=failed)
        asked = one.journalled()[0]
        assert isinstance(asked, events.Asked)
        assert asked.model == model

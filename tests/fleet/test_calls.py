from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from fleet.calls import Called, CallNumbers, Calls
from fleet.retry import Asker
from qodebase import events
from qodebase.clock import VirtualClock
from qodebase.errors import QodebaseError
from qodebase.intent import Intent
from qodebase.journal import Journal, read_events
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt
from qodebase.record import Usage
from qodebase.segments import SegmentReader, SegmentWriter
from qodebase.state import RunState


class Scripted:
    """Gives its outcomes in order and looks at the journal as each call comes."""

    name, deterministic, simulated, local = "scripted", True, True, True

    def __init__(self, journal: Path, *outcomes: Answer | NoAnswer | QodebaseError) -> None:
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

    def __init__(self, root: Path, *outcomes: Answer | NoAnswer | QodebaseError) -> None:
        path = root / "journal.jsonl"
        self.clock = VirtualClock()
        self.state = RunState([Intent(id="x", asked="", scope=()), Intent(id="y", asked="", scope=())])
        self.state.apply_all(read_events(path) if path.exists() else [])
        self.journal = Journal(path, run="run-1", clock=self.clock, listeners=(self.state.apply,))
        self.store, self.reader = SegmentWriter(root / "attempts"), SegmentReader(root / "attempts")
        self.model = Scripted(path, *outcomes)
        self.calls = Calls(
            Asker(self.model, self.clock),
            journal=self.journal,
            store=self.store,
            kept=self.reader,
            states=self.state.intents.values(),
            numbers=CallNumbers(self.state.calls),
        )

    def ask(self, text: str, *, intent: str = "x", purpose: str = "fresh") -> Called:
        prompt = Prompt(messages=(Message(role="user", text=text),), max_output_tokens=9)
        with asyncio.Runner(loop_factory=self.clock.new_event_loop) as runner:
            return runner.run(self.calls.ask(intent, 1, "agent-1", prompt, purpose=purpose))

    def journalled(self) -> list[events.Event]:
        return list(read_events(self.model.journal))


@contextmanager
def sitting(root: Path, *outcomes: Answer | NoAnswer | QodebaseError) -> Iterator[Sitting]:
    one = Sitting(root, *outcomes)
    yield one
    one.reader.close()
    one.store.close()
    one.journal.close()


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

"""Asking with patience."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.cache import AnswerCache
from fleet.models.cached import Cached, CacheMode, WithCache
from fleet.retry import Asker, Patience
from fleet.throttle import Throttle
from qodebase.clock import SystemClock, VirtualClock
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt

GOOD = Answer(text="Hello.", model="m", input_tokens=10, output_tokens=5, cost_usd=0.1)


def failed(failure: Failure = Failure.PROVIDER, *, retry: bool = True, after: float | None = None) -> NoAnswer:
    return NoAnswer(failure=failure, why="busy", model="m", retry=retry, retry_after_s=after)


BROKEN = NoAnswer(failure=Failure.PROVIDER, why="it hung up", model="m", retry=True, cost_usd=None)


def question(text: str = "Say hello.") -> Prompt:
    return Prompt(messages=(Message(role="user", text=text),), max_output_tokens=50)


class Playing:
    """Says its outcomes one after the other, the last for ever; each takes a second."""

    name = "m"
    deterministic = False
    simulated = False
    local = True

    def __init__(self, clock: Any, *outcomes: Any) -> None:
        self._clock = clock
        self._outcomes = list(outcomes)
        self.at: list[float] = []

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        self.at.append(self._clock.now())
        await self._clock.sleep(1.0)
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome  # type: ignore[no-any-return]

    async def close(self) -> None:
        pass


class Book:
    """Writes down what it is told, as the journal does."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def before(self, number: int) -> None:
        self.lines.append(f"asked {number}")

    async def after(self, number: int, outcome: Answer | NoAnswer, latency_s: float) -> None:
        await asyncio.sleep(0)
        self.lines.append((number, outcome, latency_s))


def run_virtual(main: Callable[[VirtualClock], Awaitable[Any]]) -> Any:
    clock = VirtualClock()

    async def started() -> Any:
        return await main(clock)

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        return runner.run(started())


def ask(*outcomes: Any, patience: Patience | None = None) -> tuple[Answer | NoAnswer, Book, list[float]]:
    """Ask a model that plays these outcomes; return the last, the book and the seconds at which calls were made."""
    book = Book()

    async def main(clock: VirtualClock) -> Any:
        model = Playing(clock, *outcomes)
        got = await Asker(model, clock, patience=patience).ask(question(), before=book.before, after=book.after)
        return got, book, model.at

    result: tuple[Answer | NoAnswer, Book, list[float]] = run_virtual(main)
    return result


def test_every_try_is_written_down_before_and_after() -> None:
    got, book, _ = ask(failed(), failed(Failure.TIMEOUT), GOOD)
    assert got == GOOD
    assert book.lines == [
        "asked 1",
        (1, failed(), 1.0),
        "asked 2",
        (2, failed(Failure.TIMEOUT), pytest.approx(1.0)),
        "asked 3",
        (3, GOOD, pytest.approx(1.0)),
    ]


@pytest.mark.parametrize("failure", [Failure.EMPTY, Failure.CUT_OFF, Failure.REFUSED, Failure.TOO_LONG])
def test_what_would_come_out_alike_is_not_asked_again(failure: Failure) -> None:
    got, _, at = ask(failed(failure, retry=False), GOOD)
    assert got == failed(failure, retry=False)
    assert at == [0.0]


def test_waits_double_with_jitter_and_end_with_the_tries() -> None:
    patience = Patience(tries=6, first_s=1, longest_s=6)
    got, book, at = ask(failed(), patience=patience)
    assert got == failed()
    assert len(book.lines) == 12
    waits = [later - earlier - 1 for earlier, later in pairwise(at)]
    for wait, full in zip(waits, (1, 2, 4, 6, 6), strict=True):
        assert full / 2 <= wait <= full


@pytest.mark.parametrize(("failure", "full"), [(BROKEN, (1, 1, 1, 1)), (failed(), (1, 2, 4, 8))])
def test_waits_do_not_double_for_what_makes_no_sense_while_others_are_answered(
    failure: NoAnswer, full: tuple[float, ...]
) -> None:
    class Choosing(Playing):
        async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
            if prompt.digest == question().digest:
                return await super().answer(prompt)
            await self._clock.sleep(0.2)
            return GOOD

    async def main(clock: VirtualClock) -> list[float]:
        model = Choosing(clock, failure)
        asker = Asker(model, clock, patience=Patience(tries=5, first_s=1))

        async def others() -> None:
            while True:
                await asker.ask(question("Another."), before=Book().before, after=Book().after)

        async with asyncio.TaskGroup() as tasks:
            beside = tasks.create_task(others(), name="others")
            assert await asker.ask(question(), before=Book().before, after=Book().after) == failure
            beside.cancel()
        return model.at

    waits = [later - earlier - 1 for earlier, later in pairwise(run_virtual(main))]
    for wait, most in zip(waits, full, strict=True):
        assert most / 2 <= wait <= most


def test_a_provider_that_says_how_long_is_obeyed() -> None:
    got, _, at = ask(failed(Failure.RATE, after=20.0), GOOD)
    assert got == GOOD
    assert 21 <= at[1] <= 22.1


def test_a_provider_that_asks_for_more_than_the_patience_is_not_asked_again() -> None:
    got, _, at = ask(failed(Failure.RATE, after=1000.0), GOOD, patience=Patience(total_s=300))
    assert got == failed(Failure.RATE, after=1000.0)
    assert at == [0.0]


def test_two_prompts_wait_differently_and_one_prompt_always_alike() -> None:
    async def main(clock: VirtualClock) -> list[list[float]]:
        models = [Playing(clock, failed(), GOOD) for _ in range(3)]
        for model, text in zip(models, ("a", "b", "a"), strict=True):
            model.at.clear()
            started = clock.now()
            await Asker(model, clock).ask(question(text), before=Book().before, after=Book().after)
            model.at = [round(at - started, 6) for at in model.at]
        return [model.at for model in models]

    first, second, again = run_virtual(main)
    assert first == again
    assert first != second


class WrongKey(QodebaseError):
    """As a model raises it."""


def test_an_error_that_no_other_call_would_survive_is_written_down_and_goes_up() -> None:
    book = Book()

    async def main(clock: VirtualClock) -> None:
        asker = Asker(Playing(clock, WrongKey("the key is refused")), clock)
        await asker.ask(question(), before=book.before, after=book.after)

    with pytest.raises(WrongKey):
        run_virtual(main)
    number, outcome, _ = book.lines[1]
    assert (number, outcome.why, outcome.cost_usd, len(book.lines)) == (1, "the key is refused", 0.0, 2)


def test_a_bug_is_not_retried() -> None:
    with pytest.raises(ZeroDivisionError):
        ask(ZeroDivisionError("a bug"), GOOD)


@pytest.mark.parametrize("seconds", [0.5, 1.2])
def test_cancelling_is_never_swallowed_in_a_call_or_between_two(seconds: float) -> None:
    book = Book()

    async def main(clock: VirtualClock) -> int:
        model = Playing(clock, failed())
        task = asyncio.ensure_future(Asker(model, clock).ask(question(), before=book.before, after=book.after))
        await clock.sleep(seconds)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await clock.sleep(100)
        return len(model.at)

    assert run_virtual(main) == 1
    assert book.lines[0] == "asked 1"
    assert len(book.lines) == (1 if seconds < 1 else 2)


def test_a_call_waits_until_it_is_written_down() -> None:
    async def main(clock: VirtualClock) -> None:
        model = Playing(clock, GOOD)

        async def slowly(number: int) -> None:
            await clock.sleep(3)

        await Asker(model, clock).ask(question(), before=slowly, after=Book().after)
        assert model.at == [3.0]

    run_virtual(main)


def test_one_asker_serves_many_agents_at_once_without_mixing_them_up() -> None:
    async def main(clock: VirtualClock) -> None:
        class Echo(Playing):
            tries: dict[str, int] = {}  # noqa: RUF012

            async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
                text = prompt.messages[0].text
                await self._clock.sleep(0.1 + len(text) % 3)
                self.at.append(0)
                if self.tries.setdefault(text, 0) < int(text) % 4:
                    self.tries[text] += 1
                    return failed()
                return Answer(text=text, model="m")

        asker = Asker(Echo(clock), clock)
        books = [Book() for _ in range(200)]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(asker.ask(question(str(number)), before=book.before, after=book.after))
                for number, book in enumerate(books)
            ]
        for number, (task, book) in enumerate(zip(tasks, books, strict=True)):
            got = task.result()
            assert isinstance(got, Answer)
            assert got.text == str(number)
            assert len(book.lines) == 2 * (number % 4 + 1)

    run_virtual(main)


async def with_gate(throttle: Throttle, work: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(throttle.serve())
        await work()
        throttle.close()


def test_one_agents_429_pauses_the_whole_fleet() -> None:
    async def main(clock: VirtualClock) -> None:
        throttle = Throttle(clock)
        model = Playing(clock, failed(Failure.RATE, after=30.0), GOOD)
        asker = Asker(model, clock, throttle=throttle)
        book = Book()

        async def late() -> None:
            await clock.sleep(5)
            await asker.ask(question("late"), before=book.before, after=book.after)

        async def work() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(asker.ask(question("first"), before=book.before, after=book.after))
                group.create_task(late())

        await with_gate(throttle, work)
        assert model.at[0] == 0.0
        assert all(at >= 31.0 for at in model.at[1:])
        assert len(model.at) == 3

    run_virtual(main)


def test_a_call_is_written_down_after_the_gate_and_not_while_it_waits() -> None:
    async def main(clock: VirtualClock) -> None:
        throttle = Throttle(clock)
        throttle.pause(10)
        book = Book()
        asker = Asker(Playing(clock, GOOD), clock, throttle=throttle)

        async def work() -> None:
            task = asyncio.ensure_future(asker.ask(question(), before=book.before, after=book.after))
            await clock.sleep(9)
            assert book.lines == []
            await task
            assert clock.now() == pytest.approx(11.0)
            assert book.lines[1][2] == pytest.approx(1.0)

        await with_gate(throttle, work)

    run_virtual(main)


def test_tokens_are_settled_with_what_was_used() -> None:
    async def main(clock: VirtualClock) -> float:
        throttle = Throttle(clock, tokens_per_minute=600)
        asker = Asker(Playing(clock, GOOD), clock, throttle=throttle)

        async def work() -> None:
            for number in range(5):
                await asker.ask(question(str(number)), before=Book().before, after=Book().after)

        await with_gate(throttle, work)
        return clock.now()

    charged_in_full, settled = 5 * 57 / 10, (4 * 15 + 57) / 10
    assert settled <= run_virtual(main) < charged_in_full - 10


def test_kept_answers_pass_the_gate_by_and_are_written_down_as_one_try(tmp_path: Path) -> None:
    async def main() -> None:
        clock = SystemClock()
        provider = Playing(VirtualClock(), GOOD)
        cached = Cached(cache=AnswerCache(tmp_path, clock), scope="s")
        await cached.put(question(), GOOD)
        throttle = Throttle(clock)
        throttle.pause(1000)
        book = Book()
        asker = Asker(WithCache(provider, cached, CacheMode.USE), clock, throttle=throttle)
        got = await asker.ask(question(), before=book.before, after=book.after)
        assert isinstance(got, Answer)
        assert (got.source, got.cost_usd) == ("cache", 0.0)
        assert book.lines[0] == "asked 1"
        assert book.lines[1][:2] == (1, got)
        assert provider.at == []
        await cached.cache.close()

    asyncio.run(main())


def test_an_answer_is_kept_once_it_came_after_failures(tmp_path: Path) -> None:
    async def main(clock: VirtualClock) -> None:
        cached = Cached(cache=AnswerCache(tmp_path, clock), scope="s")
        model = Playing(clock, failed(), GOOD, failed(Failure.EMPTY, retry=False))
        asker = Asker(WithCache(model, cached, CacheMode.USE), clock)
        for _ in range(2):
            got = await asker.ask(question(), before=Book().before, after=Book().after)
            assert isinstance(got, Answer)
        assert len(model.at) == 2
        assert isinstance(await asker.ask(question("else"), before=Book().before, after=Book().after), NoAnswer)
        assert await cached.get(question("else")) is None
        await cached.cache.close()

    run_virtual(main)


def test_being_turned_away_by_a_rate_limit_uses_up_no_try() -> None:
    limited = [failed(Failure.RATE, after=2.0)] * 9
    got, book, _ = ask(*limited, failed(), failed(), GOOD, patience=Patience(tries=3))
    assert got == GOOD
    assert len(book.lines) == 2 * 12


def test_a_rate_limit_that_never_ends_is_given_up_after_the_patience() -> None:
    got, _, at = ask(failed(Failure.RATE, after=20.0), patience=Patience(total_s=100))
    assert got == failed(Failure.RATE, after=20.0)
    assert 3 <= len(at) <= 5
    assert at[-1] <= 110


def test_a_rate_limit_that_asks_for_no_wait_and_never_ends_is_given_up_too() -> None:
    got, _, at = ask(failed(Failure.RATE, after=0.0))
    assert got == failed(Failure.RATE, after=0.0)
    assert len(at) > 1024


def test_a_provider_that_asks_for_no_wait_does_not_use_up_the_tries_at_once() -> None:
    _, _, at = ask(failed(after=0.0), patience=Patience(tries=5, first_s=1))
    waits = [later - earlier - 1 for earlier, later in pairwise(at)]
    assert all(wait >= full / 2 for wait, full in zip(waits, (1, 2, 4, 8), strict=True))


class Restarting(Playing):
    """A provider that nobody reaches for a while."""

    def __init__(self, clock: VirtualClock, *, down: tuple[float, float], failure: NoAnswer) -> None:
        super().__init__(clock, GOOD)
        self._down = down
        self._failure = failure

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        if self._down[0] <= self._clock.now() < self._down[1]:
            return self._failure
        return await super().answer(prompt)


def through_an_outage(seconds: float, failure: NoAnswer) -> tuple[list[Answer | NoAnswer], list[bool]]:
    """Ask 300 questions, 30 at a time, of a provider that is down for so long; return what came of each."""

    async def main(clock: VirtualClock) -> tuple[list[Answer | NoAnswer], list[bool]]:
        asker = Asker(Restarting(clock, down=(3.0, 3.0 + seconds), failure=failure), clock)
        came: list[Answer | NoAnswer] = []
        away: list[bool] = []

        async def agent(number: int) -> None:
            book = Book()
            for at in range(10):
                came.append(await asker.ask(question(f"{number}.{at}"), before=book.before, after=book.after))
                away.append(asker.turned_away(came[-1]))

        async with asyncio.TaskGroup() as group:
            for number in range(30):
                group.create_task(agent(number))
        return came, away

    result: tuple[list[Answer | NoAnswer], list[bool]] = run_virtual(main)
    return result


def test_a_provider_that_is_down_for_minutes_costs_no_question_its_answer() -> None:
    came, away = through_an_outage(200.0, failed())
    assert came == [GOOD] * 300
    assert not any(away)


@pytest.mark.parametrize("failure", [failed(), failed(Failure.RATE), failed(Failure.TIMEOUT), BROKEN])
def test_a_question_that_is_given_up_while_nobody_is_answered_was_turned_away(failure: NoAnswer) -> None:
    came, away = through_an_outage(900.0, failure)
    assert [isinstance(one, NoAnswer) for one in came] == away
    assert 30 <= sum(away) < 300


class Narrow:
    """A provider that takes only so many calls at once, and turns the others away."""

    name = "m"
    deterministic = False
    simulated = False
    local = True

    def __init__(self, clock: VirtualClock, most: int) -> None:
        self._clock = clock
        self._most = most
        self._open = 0
        self.turned_away = 0

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        if self._open >= self._most:
            self.turned_away += 1
            return failed(Failure.RATE)
        self._open += 1
        await self._clock.sleep(1)
        self._open -= 1
        return GOOD

    async def close(self) -> None:
        pass


def test_a_fleet_finds_the_width_of_a_narrow_provider_and_every_agent_is_answered() -> None:
    async def main(clock: VirtualClock) -> tuple[int, int]:
        model = Narrow(clock, 10)
        throttle = Throttle(clock, in_flight=200)
        asker = Asker(model, clock, throttle=throttle)

        async def agent(number: int) -> int:
            got = [await asker.ask(question(f"{number}.{at}"), before=_, after=__) for at in range(3)]
            return sum(isinstance(one, Answer) for one in got)

        def _(number: int) -> None:
            pass

        def __(number: int, outcome: Answer | NoAnswer, latency_s: float) -> None:
            pass

        async def work() -> None:
            nonlocal answers
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(agent(number)) for number in range(200)]
            answers = sum(task.result() for task in tasks)

        answers = 0
        await with_gate(throttle, work)
        return answers, model.turned_away

    answers, turned_away = run_virtual(main)
    assert answers == 600
    assert turned_away < 3 * answers


@settings(max_examples=15, derandomize=True, deadline=None)
@given(
    seed=st.integers(0, 1 << 20),
    agents=st.integers(1, 40),
    in_flight=st.integers(1, 12),
    rate=st.sampled_from([None, 120.0, 6000.0]),
)
def test_whatever_a_provider_does_every_question_ends_and_the_gate_is_left_empty(
    seed: int, agents: int, in_flight: int, rate: float | None
) -> None:
    outcomes = [
        GOOD,
        GOOD,
        GOOD,
        failed(),
        failed(Failure.TIMEOUT),
        failed(Failure.RATE),
        failed(Failure.RATE, after=4.0),
    ]
    outcomes.append(failed(Failure.EMPTY, retry=False))

    async def main(clock: VirtualClock) -> None:
        chance = random.Random(seed)

        class Moody(Playing):
            async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
                await clock.sleep(chance.random() * 3)
                return chance.choice(outcomes)

        throttle = Throttle(clock, in_flight=in_flight, requests_per_minute=rate)
        asker = Asker(Moody(clock), clock, throttle=throttle)
        books = [Book() for _ in range(agents)]

        async def agent(number: int) -> None:
            async with asyncio.timeout(None) as limit:
                for at in range(3):
                    if chance.random() < 0.1:
                        limit.reschedule(0)
                    await asker.ask(question(f"{number}.{at}"), before=books[number].before, after=books[number].after)

        async def cut_off(number: int) -> None:
            with suppress(TimeoutError):
                await agent(number)

        async def work() -> None:
            async with asyncio.TaskGroup() as group:
                for number in range(agents):
                    group.create_task(cut_off(number))

        await with_gate(throttle, work)
        assert throttle.concurrency is not None
        assert throttle.concurrency.in_flight == 0
        assert throttle.waiting == 0

    run_virtual(main)

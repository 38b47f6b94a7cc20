from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from fleet.cache import AnswerCache
from fleet.models.function import FunctionModel
from fleet.models.timed import in_time
from qodebase.clock import SystemClock, VirtualClock
from qodebase.ports import Answer, Message, NoAnswer, Prompt

PROMPT = Prompt(messages=(Message(role="user", text="why?"),), max_output_tokens=10)
SECONDS = 0.05


async def slow(prompt: Prompt) -> str:
    await asyncio.to_thread(pause)
    return "because"


def pause() -> None:
    import threading

    threading.Event().wait(SECONDS)


def in_virtual_time(clock: VirtualClock, work: Callable[[], Awaitable[object]]) -> object:
    loop = clock.new_event_loop()
    try:
        return loop.run_until_complete(work())
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def test_a_real_answer_takes_the_virtual_seconds_that_it_took_on_the_wall() -> None:
    clock = VirtualClock(start=100.0)
    model = in_time(FunctionModel(slow), clock)

    async def work() -> object:
        others = asyncio.create_task(clock.sleep(1000.0), name="another")
        answer = await model.answer(PROMPT)
        at = clock.now()
        others.cancel()
        return answer, at

    answer, at = in_virtual_time(clock, work)  # type: ignore[misc]
    assert isinstance(answer, Answer)
    assert answer.latency_s >= SECONDS
    assert at == pytest.approx(100.0 + answer.latency_s)
    assert (model.name, model.simulated) == ("function:slow", False)


def test_a_cached_answer_is_charged_what_it_took_once(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def work() -> object:
        cache = AnswerCache(tmp_path, clock)
        await cache.put("key", Answer(text="a", model="m", latency_s=7.5))
        before = clock.now()
        found = await cache.get("key")
        await cache.close()
        assert found is not None
        return clock.now() - before

    assert in_virtual_time(clock, work) == 7.5


def test_a_failure_is_charged_too_and_real_time_and_programs_need_no_timing() -> None:
    clock = VirtualClock()

    async def silent(prompt: Prompt) -> str:
        await slow(prompt)
        return ""

    model = in_time(FunctionModel(silent), clock)
    assert isinstance(in_virtual_time(clock, lambda: model.answer(PROMPT)), NoAnswer)
    assert clock.now() >= SECONDS
    plain = FunctionModel(slow)
    assert in_time(plain, SystemClock()) is plain

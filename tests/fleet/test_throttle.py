"""The gate: in order, at its rate, on the clock that it is given."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fleet.throttle import Throttle, expected_tokens
from qodebase.clock import SystemClock, VirtualClock
from qodebase.ports import Message, Prompt


def run_virtual(main: Callable[[VirtualClock], Awaitable[Any]]) -> Any:
    clock = VirtualClock()

    async def started() -> Any:
        return await main(clock)

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        return runner.run(started())


async def passed(clock: Any, throttle: Throttle, calls: int, tokens: int = 0) -> list[tuple[int, float]]:
    """Send calls to the gate at once; return who went through, and when."""
    log: list[tuple[int, float]] = []

    async def call(number: int) -> None:
        await throttle.enter(tokens)
        log.append((number, clock.now()))

    async with asyncio.TaskGroup() as group:
        group.create_task(throttle.serve())
        async with asyncio.TaskGroup() as callers:
            for number in range(calls):
                callers.create_task(call(number))
        throttle.close()
    return log


def most_within(times: list[float], window: float) -> int:
    return max(sum(start <= other < start + window for other in times) for start in times)


def test_without_limits_nobody_waits_and_no_gate_is_needed() -> None:
    async def main(clock: VirtualClock) -> None:
        throttle = Throttle(clock)
        for _ in range(10):
            await throttle.enter(1000)
        assert clock.now() == 0

    run_virtual(main)


@pytest.mark.parametrize(("rate", "calls", "seconds"), [(600, 101, 10.0), (30, 11, 20.0), (90, 31, 20.0)])
def test_calls_go_through_in_order_at_the_rate(rate: float, calls: int, seconds: float) -> None:
    async def main(clock: VirtualClock) -> list[tuple[int, float]]:
        return await passed(clock, Throttle(clock, requests_per_minute=rate), calls)

    log = run_virtual(main)
    assert [number for number, _ in log] == list(range(calls))
    times = [at for _, at in log]
    assert times[-1] == pytest.approx(seconds, abs=0.01)
    assert most_within(times, 60 - 0.01) <= rate + 1


def test_the_rate_holds_on_the_wall_clock_with_the_polling_library() -> None:
    async def main() -> tuple[list[tuple[int, float]], float]:
        clock = SystemClock()
        started = time.monotonic()
        log = await passed(clock, Throttle(clock, requests_per_minute=60_000), 1000)
        return log, time.monotonic() - started

    log, seconds = asyncio.run(main())
    assert [number for number, _ in log] == list(range(1000))
    assert seconds >= 0.75


def test_tokens_a_minute_are_kept_whatever_the_size_of_calls() -> None:
    async def main(clock: VirtualClock) -> list[float]:
        ends = []
        for tokens in (7, 250, 3000):
            clock_start = clock.now()
            log = await passed(clock, Throttle(clock, tokens_per_minute=60_000), 30_000 // tokens, tokens)
            ends.append(log[-1][1] - clock_start)
        return ends

    assert run_virtual(main) == [pytest.approx(29.0, abs=1.1)] * 3


def test_tokens_that_were_not_used_are_given_back_and_others_charged() -> None:
    async def main(clock: VirtualClock) -> list[float]:
        throttle = Throttle(clock, tokens_per_minute=6000)
        times = []
        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            for used in (100, 1000, 1000, 1000):
                await throttle.enter(1000)
                throttle.settle(1000, used)
                times.append(clock.now())
            throttle.close()
        return times

    first, second, third, fourth = run_virtual(main)
    assert second - first == pytest.approx(1, abs=0.1)
    assert third - second == pytest.approx(10, abs=1.1)
    assert fourth - third == pytest.approx(10, abs=1.1)


def test_a_pause_holds_everybody_and_the_longest_counts() -> None:
    async def main(clock: VirtualClock) -> list[tuple[int, float]]:
        throttle = Throttle(clock)
        throttle.pause(30)
        throttle.pause(5)
        assert throttle.paused_s == 30
        return await passed(clock, throttle, 5)

    assert run_virtual(main) == [(number, 30.0) for number in range(5)]


def test_a_pause_that_begins_while_calls_wait_for_the_rate_holds_them_too() -> None:
    async def main(clock: VirtualClock) -> list[tuple[int, float]]:
        throttle = Throttle(clock, requests_per_minute=60)

        async def trouble() -> None:
            await clock.sleep(1.5)
            throttle.pause(10)

        async with asyncio.TaskGroup() as group:
            group.create_task(trouble())
            return await passed(clock, throttle, 4)

    times = [at for _, at in run_virtual(main)]
    assert times[:2] == [0.0, pytest.approx(1.0)]
    assert times[2] == pytest.approx(11.5, abs=0.01)


def test_waiters_that_gave_up_cost_no_permit() -> None:
    async def main(clock: VirtualClock) -> list[float]:
        throttle = Throttle(clock, requests_per_minute=60)
        times: list[float] = []

        async def call() -> None:
            await throttle.enter()
            times.append(clock.now())

        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            tasks = [group.create_task(call()) for _ in range(100)]
            await clock.sleep(0.5)
            for task in tasks[1:-1]:
                task.cancel()
            await tasks[-1]
            throttle.close()
        return times

    assert run_virtual(main) == [0.0, pytest.approx(1.0, abs=0.01)]


def test_a_permit_whose_waiter_gave_up_goes_to_the_next_that_comes() -> None:
    async def main(clock: VirtualClock) -> float:
        throttle = Throttle(clock, requests_per_minute=60)
        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            await throttle.enter()
            gone = group.create_task(throttle.enter())
            await clock.sleep(0.5)
            gone.cancel()
            await clock.sleep(0.7)
            await throttle.enter()
            throttle.close()
        return clock.now()

    assert run_virtual(main) == pytest.approx(1.2)


def test_a_waiter_that_gives_up_while_its_tokens_are_counted_holds_up_nobody() -> None:
    async def main(clock: VirtualClock) -> float:
        throttle = Throttle(clock, tokens_per_minute=6000)
        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            huge = group.create_task(throttle.enter(100_000))
            await clock.sleep(5)
            huge.cancel()
            await throttle.enter(1)
            throttle.close()
        return clock.now()

    assert run_virtual(main) == pytest.approx(5, abs=1)


def test_a_gate_that_is_stopped_lets_nobody_hang() -> None:
    async def main(clock: VirtualClock) -> None:
        throttle = Throttle(clock, requests_per_minute=1)
        gate = asyncio.ensure_future(throttle.serve())
        await throttle.enter()
        waiting = asyncio.ensure_future(throttle.enter())
        await clock.sleep(1)
        assert throttle.waiting == 1
        gate.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gate
        with pytest.raises(asyncio.CancelledError):
            await waiting

    run_virtual(main)


def test_the_same_calls_take_the_same_virtual_times() -> None:
    async def main(clock: VirtualClock) -> list[tuple[int, float]]:
        return await passed(clock, Throttle(clock, requests_per_minute=333, tokens_per_minute=77_777), 200, 321)

    assert run_virtual(main) == run_virtual(main)


def test_expected_tokens_count_prompt_and_limit() -> None:
    prompt = Prompt(messages=(Message(role="user", text="é" * 200),), max_output_tokens=300)
    assert expected_tokens(prompt) == 100 + 4 + 300

"""The gate: in order, at its rate, on the clock that it is given."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.models.registry import ModelTable
from fleet.throttle import Throttle, expected_tokens, gate_for
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


def test_the_rate_holds_on_the_wall_clock() -> None:
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


def test_no_more_calls_are_under_way_than_allowed_and_each_gets_its_turn_in_order() -> None:
    async def main(clock: VirtualClock) -> tuple[list[int], int]:
        throttle = Throttle(clock, in_flight=7)
        order: list[int] = []
        most = open_now = 0

        async def call(number: int) -> None:
            nonlocal most, open_now
            await throttle.enter()
            order.append(number)
            open_now += 1
            most = max(most, open_now)
            await clock.sleep(1)
            open_now -= 1
            throttle.leave(overloaded=False)

        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            async with asyncio.TaskGroup() as callers:
                for number in range(70):
                    callers.create_task(call(number))
            throttle.close()
        assert clock.now() == 10
        return order, most

    assert run_virtual(main) == (list(range(70)), 7)


def test_a_call_that_is_cancelled_as_it_is_let_through_gives_its_room_and_its_tokens_back() -> None:
    async def main(clock: VirtualClock) -> float:
        throttle = Throttle(clock, in_flight=1, tokens_per_minute=6000)
        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            await throttle.enter(1)
            unlucky = group.create_task(throttle.enter(1))
            await clock.sleep(100)
            throttle.leave(overloaded=False)
            for _ in range(20):
                if not throttle.waiting:
                    break
                await asyncio.sleep(0)
            assert throttle.waiting == 0
            assert not unlucky.done()
            unlucky.cancel()
            await throttle.enter(1)
            throttle.close()
        return clock.now()

    assert run_virtual(main) == pytest.approx(100, abs=1)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    calls=st.lists(
        st.tuples(
            st.floats(0, 20),  # when it comes
            st.integers(0, 400),  # its tokens
            st.floats(0, 5),  # how long it takes
            st.sampled_from(["good", "overloaded", "429", "gives up"]),
        ),
        max_size=60,
    ),
    rate=st.sampled_from([None, 60.0, 1000.0]),
    tokens=st.sampled_from([None, 6000.0, 60_000.0]),
    in_flight=st.sampled_from([None, 1, 3, 20]),
)
def test_whatever_calls_do_each_is_let_through_and_nobody_hangs(
    calls: list[tuple[float, int, float, str]], rate: float | None, tokens: float | None, in_flight: int | None
) -> None:
    async def main(clock: VirtualClock) -> None:
        throttle = Throttle(clock, requests_per_minute=rate, tokens_per_minute=tokens, in_flight=in_flight)
        through = 0

        async def call(at: float, size: int, seconds: float, end: str) -> None:
            nonlocal through
            await clock.sleep(at)
            await throttle.enter(size)
            through += end != "gives up"
            if throttle.concurrency is not None:
                assert 0 < throttle.concurrency.in_flight <= throttle.concurrency.most
            try:
                await clock.sleep(seconds)
            finally:
                throttle.leave(overloaded=None if end == "gives up" else end != "good")
            if end == "429":
                throttle.pause(3)

        async def giving_up(task: asyncio.Task[None], after: float) -> None:
            await clock.sleep(after)
            task.cancel()

        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            async with asyncio.TaskGroup() as callers:
                for one in calls:
                    task = callers.create_task(call(*one))
                    if one[3] == "gives up":
                        callers.create_task(giving_up(task, one[0] + one[2] / 2))
            throttle.close()
        assert through == sum(end != "gives up" for *_, end in calls)
        assert throttle.concurrency is None or throttle.concurrency.in_flight == 0

    run_virtual(main)


@pytest.mark.parametrize(
    ("model", "table", "workers", "in_flight"),
    [
        ({}, {}, 50, 50),
        ({"most_in_flight": 256}, {}, 10_000, 256),
        ({"most_in_flight": 256}, {}, 10, 10),
        ({"most_in_flight": 256}, {"in_flight": 8}, 10_000, 8),
    ],
)
def test_the_gate_of_a_model_keeps_to_the_table_the_kind_of_model_and_the_agents(
    model: Any, table: Any, workers: int, in_flight: int
) -> None:
    made: Any = SimpleNamespace(**model)
    gate = gate_for(made, ModelTable(adapter="openai", **table), VirtualClock(), workers=workers)
    assert gate.concurrency is not None
    assert gate.concurrency.most == in_flight


class LateClock(VirtualClock):
    """A clock whose sleepers wake late, as in a busy event loop; ``back_s`` is how far it was set back."""

    def __init__(self, late_s: float) -> None:
        super().__init__(start=1_800_000_000.0)
        self._late_s = late_s
        self.back_s = 0.0

    def now(self) -> float:
        return super().now() - self.back_s

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds + self._late_s)


@pytest.mark.parametrize(("late_s", "seconds"), [(0.0, 10.0), (0.03, 10.0), (0.2, 10.0), (1.0, 36.0)])
def test_what_a_busy_loop_is_late_for_is_made_up_but_not_more(late_s: float, seconds: float) -> None:
    clock = LateClock(late_s)
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        log = runner.run(passed(clock, Throttle(clock, requests_per_minute=6000), 1001))
    times = [at for _, at in log]
    assert times[-1] - times[0] == pytest.approx(seconds, rel=0.12)
    assert most_within(times, 1.0) <= 100 + 26


def test_a_clock_that_is_set_back_stops_no_call() -> None:
    clock = LateClock(0.0)

    async def main() -> float:
        throttle = Throttle(clock, requests_per_minute=600)
        async with asyncio.TaskGroup() as group:
            group.create_task(throttle.serve())
            await throttle.enter()
            clock.back_s = 3600.0
            began = clock.now()
            for _ in range(5):
                await throttle.enter()
            throttle.close()
        return clock.now() - began

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        assert runner.run(main()) == pytest.approx(0.4, abs=0.1)

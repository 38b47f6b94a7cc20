from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from qodebase.clock import SystemClock, VirtualClock


def run(clock: VirtualClock | SystemClock, work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        return runner.run(work)


def test_virtual_hours_pass_in_no_real_time() -> None:
    clock = VirtualClock(100.0)

    async def work() -> float:
        await clock.sleep(3600)
        await clock.sleep(0.5)
        return clock.now()

    started = time.monotonic()
    assert run(clock, work()) == 3700.5
    assert time.monotonic() - started < 5
    assert clock.simulated


def test_sleepers_wake_by_due_time_and_those_of_one_instant_in_the_order_in_which_they_went_to_sleep() -> None:
    clock = VirtualClock()
    woken: list[tuple[float, str]] = []

    async def sleeper(name: str, seconds: float, more: float = 0.0) -> None:
        await clock.sleep(seconds)
        if more:
            await clock.sleep(more)
        woken.append((clock.now(), name))

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            for name, seconds, more in (("late", 3, 0), ("b", 2, 0), ("two steps", 1, 1), ("a", 2, 0), ("first", 1, 0)):
                tasks.create_task(sleeper(name, seconds, more))

    run(clock, work())
    assert woken == [(1.0, "first"), (2.0, "b"), (2.0, "a"), (2.0, "two steps"), (3.0, "late")]


def test_a_woken_sleeper_goes_on_before_the_next_of_its_instant_wakes() -> None:
    clock = VirtualClock()
    steps: list[str] = []

    async def sleeper(name: str) -> None:
        await clock.sleep(1)
        for number in range(3):
            steps.append(f"{name}{number}")
            await asyncio.sleep(0)

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(sleeper("a"))
            tasks.create_task(sleeper("b"))

    run(clock, work())
    assert steps == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_time_stands_still_while_real_work_is_in_flight() -> None:
    clock = VirtualClock()
    release = threading.Event()
    seen: list[float] = []

    async def real() -> None:
        with clock.working():
            await asyncio.to_thread(release.wait, 30)
            seen.append(clock.now())

    async def sleeper() -> None:
        await clock.sleep(1)
        seen.append(clock.now())

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(real())
            tasks.create_task(sleeper())
            for _ in range(50):
                await asyncio.sleep(0)
            assert seen == []
            release.set()

    run(clock, work())
    assert seen == [0.0, 1.0]


def test_real_work_that_fails_or_is_nested_lets_time_go_on_when_all_of_it_is_over() -> None:
    clock = VirtualClock()

    async def work() -> float:
        with pytest.raises(ZeroDivisionError), clock.working(), clock.working():
            raise ZeroDivisionError
        with clock.working():
            with clock.working():
                pass
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await clock.sleep(1)
        await clock.sleep(2)
        return clock.now()

    assert run(clock, work()) == 2.0


def test_a_timeout_is_real_where_virtual_time_has_nothing_to_wake() -> None:
    clock = VirtualClock()

    async def work() -> float:
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await asyncio.Event().wait()
        return time.monotonic() - started

    assert 0.04 < run(clock, work()) < 10
    assert clock.now() == 0.0


def test_a_timeout_does_not_end_a_virtual_sleep_of_any_length() -> None:
    clock = VirtualClock()

    async def work() -> float:
        async with asyncio.timeout(20):
            await clock.sleep(1e9)
        return clock.now()

    assert run(clock, work()) == 1e9


def test_a_sleeper_that_was_cancelled_does_not_move_the_clock() -> None:
    clock = VirtualClock()

    async def work() -> float:
        sleeper = asyncio.ensure_future(clock.sleep(5))
        await asyncio.sleep(0)
        sleeper.cancel()
        await clock.sleep(10)
        assert sleeper.cancelled()
        return clock.now()

    assert run(clock, work()) == 10.0
    assert not clock.advance()


@pytest.mark.parametrize("seconds", [0.0, -3.0])
def test_a_sleep_of_nothing_gives_others_their_turn_and_takes_no_time(seconds: float) -> None:
    clock = VirtualClock(7.0)
    order: list[str] = []

    async def work() -> None:
        other = asyncio.ensure_future(asyncio.sleep(0))
        other.add_done_callback(lambda _: order.append("other"))
        await clock.sleep(seconds)
        order.append("sleeper")

    run(clock, work())
    assert order == ["other", "sleeper"]
    assert clock.now() == 7.0


def test_the_same_sleepers_wake_in_the_same_order_every_time() -> None:
    def once() -> list[int]:
        clock = VirtualClock()
        woken: list[int] = []

        async def sleeper(number: int) -> None:
            for step in range(3):
                await clock.sleep((number * 7919 + step * 31) % 13)
            woken.append(number)

        async def work() -> None:
            async with asyncio.TaskGroup() as tasks:
                for number in range(200):
                    tasks.create_task(sleeper(number))

        run(clock, work())
        return woken

    assert once() == once()


def test_the_system_clock_is_real() -> None:
    clock = SystemClock()

    async def work() -> float:
        started = clock.now()
        with clock.working():
            await clock.sleep(0.01)
        return clock.now() - started

    before = time.time()
    assert before <= clock.now() <= time.time()
    assert 0.005 < run(clock, work()) < 10
    assert not clock.simulated

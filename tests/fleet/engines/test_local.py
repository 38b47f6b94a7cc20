"""Agents in one process, started in a ramp on the clock that is given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.engines.local import LocalEngine
from fleet.ramp import PER_S, Ramp, ramp_for
from qodebase.clock import VirtualClock


def starts(agents: int, per_s: float | None, *, work_s: float = 1e9, most_s: float = 1e6) -> list[float]:
    """Return when each agent started, in virtual seconds; agents work for so long, and all stop at ``most_s``."""
    at: list[float] = []

    async def main(clock: VirtualClock) -> None:
        async def work(number: int) -> None:
            at.append(clock.now())
            assert number == len(at)
            await clock.sleep(work_s)

        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(LocalEngine(Ramp(clock, per_s)).run(agents, work))
            if work_s > most_s:
                await clock.sleep(most_s)
                running.cancel()

    run_virtual(main)
    return at


def run_virtual(main: Callable[[VirtualClock], Awaitable[Any]]) -> Any:
    clock = VirtualClock()

    async def started() -> Any:
        return await main(clock)

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        return runner.run(started())


@pytest.mark.parametrize(("agents", "per_s", "last"), [(3000, 2000, 1.5), (100, 10, 9.9), (5, 0.5, 8.0), (1, 3, 0.0)])
def test_so_many_agents_start_in_a_second(agents: int, per_s: float, last: float) -> None:
    at = starts(agents, per_s)
    assert len(at) == agents
    assert at[-1] == pytest.approx(last, abs=0.06)
    for begin in range(int(at[-1])):
        within = sum(begin <= moment < begin + 1 for moment in at)
        assert within <= per_s + max(1, 0.05 * per_s)


def test_without_a_pace_all_agents_start_at_once() -> None:
    assert starts(1000, None) == [0.0] * 1000


def test_the_ramp_ends_with_the_first_agent_that_finds_nothing_to_take() -> None:
    assert starts(1000, 1, work_s=9.5) == [float(second) for second in range(10)]


def test_a_bug_of_one_agent_stops_all_and_the_ramp() -> None:
    async def main(clock: VirtualClock) -> list[int]:
        cancelled = []

        async def work(number: int) -> None:
            if number == 5:
                raise ZeroDivisionError
            try:
                await clock.sleep(1e9)
            except asyncio.CancelledError:
                cancelled.append(number)
                raise

        with pytest.raises(ExceptionGroup):
            await LocalEngine(Ramp(clock, 1)).run(100, work)
        return cancelled

    assert sorted(run_virtual(main)) == [1, 2, 3, 4]


def test_a_run_starts_its_agents_as_told_else_at_a_providers_pace_and_at_once_where_nobody_is_asked() -> None:
    def last_start(deterministic: bool, per_s: float | None) -> float:
        async def main(clock: VirtualClock) -> float:
            model: Any = SimpleNamespace(deterministic=deterministic)
            ramp = ramp_for(model, clock, per_s)
            for number in range(1, 4001):
                await ramp.turn(number)
            return clock.now()

        moment: float = run_virtual(main)
        return moment

    assert last_start(True, None) == 0.0
    assert last_start(False, None) == pytest.approx(4000 / PER_S, abs=0.1)
    assert last_start(True, 100) == pytest.approx(40, abs=0.1)


def test_a_ramp_that_would_start_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        Ramp(VirtualClock(), 0)

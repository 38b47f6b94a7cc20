from __future__ import annotations

import asyncio

import pytest

from qodebase.stoppable import Stoppable


def test_a_stopped_block_ends_at_its_next_await_and_the_task_goes_on() -> None:
    async def work() -> list[str]:
        done = []
        async with Stoppable() as block:
            asyncio.get_running_loop().call_soon(block.stop)
            done.append("begun")
            await asyncio.Event().wait()
            done.append("never")
        assert block.stopped
        await asyncio.sleep(0)
        return [*done, "after"]

    assert asyncio.run(work()) == ["begun", "after"]


def test_a_block_that_nobody_stops_runs_to_its_end_and_passes_its_own_errors_on() -> None:
    async def work() -> None:
        async with Stoppable() as block:
            await asyncio.sleep(0)
        assert not block.stopped
        with pytest.raises(TimeoutError):
            async with Stoppable():
                raise TimeoutError("of its own")

    asyncio.run(work())


def test_stopping_twice_or_in_the_turn_in_which_it_ends_is_no_fault() -> None:
    async def work() -> None:
        async with Stoppable() as block:
            block.stop()
            block.stop()
        assert block.stopped
        await asyncio.sleep(0)
        async with Stoppable() as other:
            other.stop()
            await asyncio.Event().wait()

    asyncio.run(work())


def test_cancelling_the_whole_task_is_passed_on_also_from_a_block_that_is_stopped_at_once_with_it() -> None:
    async def work(*, both: bool) -> None:
        block = Stoppable()

        async def inner() -> None:
            async with block:
                await asyncio.Event().wait()
            await asyncio.Event().wait()

        task = asyncio.ensure_future(inner())
        await asyncio.sleep(0)
        if both:
            block.stop()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work(both=False))
    asyncio.run(work(both=True))

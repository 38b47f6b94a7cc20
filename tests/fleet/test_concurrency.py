"""How many calls may be under way: fewer while many fail, more again, never none."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.concurrency import Concurrency, is_overloaded
from qodebase.ports import Answer, Failure, NoAnswer

ANSWER = Answer(text="Hello.", model="m")


def after(most: int, share: float, calls: int, *, of: Concurrency | None = None) -> Concurrency:
    """Return the limit after so many calls of which a share fails."""
    chance = random.Random(7)
    limit = of or Concurrency(most)
    for _ in range(calls):
        limit.begin()
        limit.end(overloaded=chance.random() < share)
    return limit


@pytest.mark.parametrize("most", [8, 64, 10_000])
def test_a_tenth_of_failures_does_not_choke_the_fleet(most: int) -> None:
    assert after(most, 0.1, 20 * most).limit >= 0.9 * most - 2


def test_half_of_the_calls_failing_settle_at_a_quarter() -> None:
    assert after(1000, 0.5, 40_000).limit == pytest.approx(250, rel=0.2)


def test_nothing_but_failures_leaves_one_call_and_eight_good_windows_bring_all_back() -> None:
    limit = after(800, 1.0, 10_000)
    assert limit.limit == 1
    assert after(800, 0.0, 8 * 800, of=limit).limit == 800


def test_a_failed_window_halves_the_limit() -> None:
    assert after(64, 1.0, 64).limit == 32


def test_calls_that_were_cancelled_say_nothing() -> None:
    limit = Concurrency(4)
    for _ in range(100):
        limit.begin()
        limit.end(overloaded=None)
    assert (limit.limit, limit.in_flight) == (4, 0)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(most=st.integers(1, 50), ends=st.lists(st.sampled_from([True, False, None]), max_size=300))
def test_the_limit_stays_between_one_and_the_most(most: int, ends: list[bool | None]) -> None:
    limit = Concurrency(most)
    for end in ends:
        limit.begin()
        limit.end(overloaded=end)
        assert 1 <= limit.limit <= most


def test_who_waits_for_room_goes_on_when_a_call_ends() -> None:
    async def main() -> list[str]:
        limit, told = Concurrency(1), []
        limit.begin()

        async def wait() -> None:
            await limit.room()
            told.append("room")

        waiting = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        told.append("ended")
        limit.end(overloaded=False)
        await waiting
        return told

    assert asyncio.run(main()) == ["ended", "room"]


def test_a_limit_of_no_calls_is_no_limit_that_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match="one call"):
        Concurrency(0)


@pytest.mark.parametrize(
    ("failure", "retry", "cost", "overloaded"),
    [
        (Failure.RATE, True, 0.0, True),
        (Failure.TIMEOUT, True, None, True),
        (Failure.PROVIDER, True, 0.0, True),
        (Failure.PROVIDER, True, None, False),
        (Failure.PROVIDER, False, 0.0, False),
        (Failure.EMPTY, False, 0.1, False),
        (Failure.ANOTHERS, True, None, False),
    ],
)
def test_rate_limits_timeouts_and_refusals_to_work_are_signs_of_overload(
    failure: Failure, retry: bool, cost: float | None, overloaded: bool
) -> None:
    assert is_overloaded(NoAnswer(failure=failure, why="", model="m", retry=retry, cost_usd=cost)) is overloaded
    assert not is_overloaded(ANSWER)

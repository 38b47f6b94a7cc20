from __future__ import annotations

import asyncio
import itertools
import random

import pytest

from fleet.admission import Queue
from qodebase.intent import Ending, Intent
from qodebase.ports import Wait


def intent(name: str, *after: str, priority: int = 100) -> Intent:
    return Intent(id=name, asked="", scope=(), after=after, priority=priority)


class Book:
    """How intents stand."""

    def __init__(self, *intents: Intent) -> None:
        self.endings = {one.id: one.ending for one in intents}

    def __call__(self, name: str) -> Ending:
        return self.endings[name]


def queue_of(*intents: Intent, chosen: list[Intent] | None = None) -> tuple[Queue, Book]:
    book = Book(*intents)
    return Queue(list(intents) if chosen is None else chosen, book), book


def take(queue: Queue) -> str:
    got = queue.next()
    assert isinstance(got, Intent), got
    return got.id


def test_intents_come_by_priority_and_then_in_their_frozen_order() -> None:
    queue, _ = queue_of(intent("c"), intent("b", priority=5), intent("a"), intent("d", priority=5))
    assert [take(queue) for _ in range(4)] == ["b", "d", "c", "a"]
    assert queue.next() is None


def test_an_intent_waits_for_all_that_it_comes_after_and_says_for_which() -> None:
    queue, book = queue_of(intent("last", "a", "b"), intent("a"), intent("b"))
    assert [take(queue), take(queue)] == ["a", "b"]
    assert queue.next() == Wait(why="last waits for a, b")
    book.endings["a"] = Ending.LANDED
    queue.ended("a")
    assert queue.next() == Wait(why="last waits for b")
    book.endings["b"] = Ending.SENT_BACK
    queue.ended("b")
    assert take(queue) == "last"
    assert queue.next() is None


def test_a_chain_comes_one_by_one() -> None:
    names = [f"i{number}" for number in range(50)]
    intents = [intent(names[0]), *(intent(name, before) for before, name in itertools.pairwise(names))]
    random.Random(1).shuffle(intents)
    queue, book = queue_of(*intents)
    for name in names:
        assert take(queue) == name
        assert isinstance(queue.next(), Wait) or name == names[-1]
        book.endings[name] = Ending.LANDED
        queue.ended(name)
    assert queue.next() is None


def test_an_intent_after_one_that_has_ended_before_does_not_wait() -> None:
    queue, book = queue_of(intent("done"), intent("a", "done"), chosen=[])
    book.endings["done"] = Ending.SKIPPED
    queue = Queue([intent("a", "done")], book)
    assert take(queue) == "a"


def test_an_intent_of_a_higher_priority_comes_first_once_it_may() -> None:
    queue, book = queue_of(intent("a"), intent("b"), intent("urgent", "a", priority=0))
    assert take(queue) == "a"
    book.endings["a"] = Ending.LANDED
    queue.ended("a")
    assert [take(queue), take(queue)] == ["urgent", "b"]


def test_a_drained_queue_hands_out_nothing_more() -> None:
    queue, _ = queue_of(intent("a"), intent("b"), intent("c", "a"))
    take(queue)
    queue.drain()
    assert queue.next() is None


def test_what_waits_for_an_intent_that_is_not_handed_out_now_is_not_waited_for() -> None:
    everything = [intent("left out"), intent("a", "left out"), intent("b", "a"), intent("c")]
    queue, book = queue_of(*everything, chosen=everything[1:])
    assert take(queue) == "c"
    assert queue.next() == Wait(why="a waits for left out")
    book.endings["c"] = Ending.LANDED
    queue.ended("c")
    assert queue.next() is None


@pytest.mark.parametrize("ring", [[intent("a", "a")], [intent("a", "c"), intent("b", "a"), intent("c", "b")]])
def test_intents_that_wait_for_each_other_end_the_queue_instead_of_hanging_it(ring: list[Intent]) -> None:
    queue, _ = queue_of(*ring)
    assert queue.next() is None


def test_agents_that_wait_are_woken_by_an_ending_and_all_of_them_come_home() -> None:
    intents = [intent("left out"), intent("first"), *(intent(f"i{number}", "first") for number in range(20))]
    intents += [intent(f"j{number}", f"i{number}", "i0") for number in range(20)] + [intent("never", "left out")]
    queue, book = queue_of(*intents, chosen=intents[1:])
    worked: list[str] = []

    async def agent() -> None:
        while (got := queue.next()) is not None:
            if isinstance(got, Wait):
                await queue.changed()
                continue
            await asyncio.sleep(0)
            worked.append(got.id)
            book.endings[got.id] = Ending.LANDED
            queue.ended(got.id)

    async def work() -> None:
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            for _ in range(30):
                tasks.create_task(agent())

    asyncio.run(work())
    assert sorted(worked) == sorted(one.id for one in intents[1:-1])
    assert worked[0] == "first"
    for number in range(20):
        assert worked.index(f"j{number}") > max(worked.index(f"i{number}"), worked.index("i0"))


def test_agents_that_wait_are_sent_home_by_a_drain() -> None:
    queue, _ = queue_of(intent("a"), intent("b", "a"))

    async def work() -> None:
        async with asyncio.timeout(20):
            take(queue)
            waiting = asyncio.ensure_future(queue.changed())
            await asyncio.sleep(0)
            assert not waiting.done()
            queue.drain()
            await waiting
            assert queue.next() is None

    asyncio.run(work())


def test_a_paused_queue_lets_agents_wait_until_it_goes_on() -> None:
    queue, _ = queue_of(intent("a"), intent("b"))

    async def work() -> list[str]:
        async with asyncio.timeout(20):
            take(queue)
            queue.pause()
            assert queue.next() == Wait(why="the run is paused")
            waiting = asyncio.ensure_future(queue.changed())
            await asyncio.sleep(0)
            queue.ended("a")
            await asyncio.sleep(0)
            assert not waiting.done()
            queue.go_on()
            await waiting
            return [take(queue)]

    assert asyncio.run(work()) == ["b"]


def test_a_paused_queue_without_anything_left_sends_agents_home() -> None:
    queue, _ = queue_of(intent("a"))
    take(queue)
    queue.pause()
    assert queue.next() is None


def test_a_paused_queue_can_be_drained() -> None:
    queue, _ = queue_of(intent("a"))
    queue.pause()
    queue.drain()
    assert queue.next() is None


def test_what_was_cancelled_before_it_was_handed_out_is_passed_over_and_holds_nothing_back() -> None:
    queue, book = queue_of(intent("a"), intent("b"), intent("behind", "b"), intent("c", "a"))
    assert take(queue) == "a"
    book.endings["b"] = book.endings["c"] = Ending.CANCELLED
    queue.look()
    assert take(queue) == "behind"
    assert queue.next() is None


def test_only_as_many_agents_are_woken_as_find_an_intent() -> None:
    queue, book = queue_of(intent("first"), *(intent(f"i{number}", "first") for number in range(3)), intent("z", "i0"))
    asked = 0

    async def agent() -> None:
        nonlocal asked
        while (got := queue.next()) is not None:
            asked += 1
            if isinstance(got, Wait):
                await queue.changed()
                continue
            await asyncio.sleep(0)
            book.endings[got.id] = Ending.LANDED
            queue.ended(got.id)

    async def work() -> None:
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            for _ in range(1000):
                tasks.create_task(agent())

    asyncio.run(work())
    assert set(book.endings.values()) == {Ending.LANDED}
    assert asked < 1020


def test_an_agent_that_gives_up_when_it_is_woken_hands_the_turn_on() -> None:
    queue, book = queue_of(intent("a"), intent("b", "a"))

    async def work() -> None:
        async with asyncio.timeout(20):
            take(queue)
            first, second = (asyncio.ensure_future(queue.changed()) for _ in range(2))
            await asyncio.sleep(0)
            book.endings["a"] = Ending.LANDED
            queue.ended("a")
            first.cancel()
            await second
            assert take(queue) == "b"

    asyncio.run(work())


def test_the_lowest_number_goes_first_and_all_from_0_to_255_are_told_apart() -> None:
    numbers = list(range(256))
    random.Random(3).shuffle(numbers)
    queue, _ = queue_of(*(intent(str(number), priority=number) for number in numbers))
    assert [int(take(queue)) for _ in numbers] == list(range(256))

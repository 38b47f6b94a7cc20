from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from fleet.admission import Queue
from fleet.claiming import claims_of
from qodebase.intent import Ending, Given, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Wait


def intent(name: str, *claims: str, after: tuple[str, ...] = (), priority: int = 100) -> Intent:
    paths = dict.fromkeys(claim.partition("#")[0] for claim in claims)
    return Intent(
        id=name,
        asked="",
        scope=tuple(RepoPath(path.encode()) for path in paths),
        symbols=tuple(claim for claim in claims if "#" in claim),
        after=after,
        priority=priority,
    )


class Line:
    """A queue of intents that claim, how they stand, and who was passed over for whom."""

    def __init__(self, *intents: Intent) -> None:
        self.endings = dict.fromkeys((one.id for one in intents), Ending.PENDING)
        self.held: list[tuple[str, str]] = []
        self.queue = Queue(intents, self.endings.__getitem__, held=lambda name, by: self.held.append((name, by)))

    def take(self) -> str:
        got = self.queue.next()
        assert isinstance(got, Intent), got
        return got.id

    def end(self, name: str) -> None:
        self.endings[name] = Ending.LANDED
        self.queue.ended(name)


def test_an_intent_claims_the_symbols_that_it_names_and_whole_every_other_path_of_its_scope() -> None:
    assert claims_of(intent("a", "m.py#f", "m.py#g", "n.py")) == (("m.py", "f"), ("m.py", "g"), ("n.py", ""))
    assert claims_of(Intent(id="a", asked="", scope=(RepoPath(b"caf\xe9"),))) == (('"caf\\351"', ""),)
    commit = CommitId("0" * 40)
    assert claims_of(structs.replace(intent("a", "m.py"), given=Given(base=commit, tip=commit))) == ()


def test_who_claims_what_another_works_on_is_passed_over_told_once_and_goes_first_afterwards() -> None:
    line = Line(intent("a", "m.py#f"), intent("b", "m.py#f"), intent("c", "m.py#f"), intent("d", "m.py#g"))
    assert [line.take(), line.take()] == ["a", "d"]
    assert line.held == [("b", "a"), ("c", "a")]
    assert line.queue.next() == Wait(why="b waits for what a claims too")
    line.end("a")
    assert line.take() == "b"
    assert line.queue.next() == Wait(why="c waits for what b claims too")
    line.end("d")
    line.end("b")
    assert line.take() == "c"
    assert line.queue.next() is None
    assert line.held == [("b", "a"), ("c", "a")]


@pytest.mark.parametrize(("first", "second"), [("m.py", "m.py#f"), ("m.py#f", "m.py"), ("m.py", "m.py")])
def test_a_whole_path_meets_each_of_its_symbols(first: str, second: str) -> None:
    line = Line(intent("a", first), intent("b", second), intent("c", "n.py"))
    assert [line.take(), line.take()] == ["a", "c"]
    line.end("a")
    assert line.take() == "b"


def test_an_intent_of_several_claims_takes_all_or_none_of_them() -> None:
    line = Line(intent("a", "m.py#f"), intent("b", "n.py#g", "m.py#f"), intent("c", "n.py#g"))
    assert [line.take(), line.take()] == ["a", "c"]
    line.end("a")
    assert line.queue.next() == Wait(why="b waits for what c claims too")
    line.end("c")
    assert line.take() == "b"


def test_a_more_urgent_one_of_those_that_wait_goes_first() -> None:
    line = Line(
        intent("a", "m.py", priority=1), intent("b", "m.py"), intent("c", "m.py", priority=5), intent("d", after=("a",))
    )
    assert line.take() == "a"
    assert isinstance(line.queue.next(), Wait)
    line.end("a")
    assert [line.take(), line.take()] == ["c", "d"]


def test_what_is_cancelled_while_it_waits_is_not_handed_out() -> None:
    line = Line(intent("a", "m.py"), intent("b", "m.py"), intent("c", "m.py"))
    assert line.take() == "a"
    assert isinstance(line.queue.next(), Wait)
    line.endings["b"] = Ending.CANCELLED
    line.queue.look()
    line.end("a")
    assert line.take() == "c"
    line.end("c")
    assert line.queue.next() is None


def test_without_claims_all_are_handed_out() -> None:
    intents = [intent("a", "m.py"), intent("b", "m.py")]
    queue = Queue(intents, lambda name: Ending.PENDING)
    assert [queue.next(), queue.next(), queue.next()] == [*intents, None]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 32), agents=st.integers(1, 12))
def test_all_come_to_an_end_and_no_two_ever_work_on_the_same(seed: int, agents: int) -> None:
    draw = random.Random(seed)
    claims = [f"m{number}.py{part}" for number in range(3) for part in ("", "#f", "#g")]
    intents = [
        intent(
            f"i{number}",
            *draw.sample(claims, draw.randrange(3)),
            after=tuple(f"i{before}" for before in range(number) if draw.random() < 0.05),
            priority=draw.choice((0, 100)),
        )
        for number in range(40)
    ]
    line = Line(*intents)
    at_work: dict[str, set[tuple[str, str]]] = {}

    def meets(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return one[0] == other[0] and (one[1] == other[1] or "" in (one[1], other[1]))

    async def agent() -> None:
        while (got := line.queue.next()) is not None:
            if isinstance(got, Wait):
                await line.queue.changed()
                continue
            mine = set(claims_of(got))
            assert not any(meets(one, other) for others in at_work.values() for one in mine for other in others)
            at_work[got.id] = mine
            for _ in range(draw.randrange(4)):
                await asyncio.sleep(0)
            del at_work[got.id]
            line.end(got.id)

    async def work() -> None:
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            for _ in range(agents):
                tasks.create_task(agent())

    asyncio.run(work())
    assert set(line.endings.values()) == {Ending.LANDED}
    assert len(line.held) == len(dict(line.held))

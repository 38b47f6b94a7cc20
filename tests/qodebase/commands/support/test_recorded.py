from __future__ import annotations

import asyncio

import pytest

from qodebase import events
from qodebase.commands.support import recorded
from qodebase.commands.support.recorded import Moment, Order, Recording, recording_of
from qodebase.intent import Ending
from qodebase.paths import CommitId

BASE = CommitId("0" * 40)


def admitted(intent: str, attempt: int = 1) -> events.Admitted:
    return events.Admitted(intent=intent, attempt=attempt, base=BASE)


def asked(intent: str, call: int, *, purpose: str = "fresh", prompt: str = "p") -> events.Asked:
    return events.Asked(intent=intent, attempt=1, call=call, purpose=purpose, model="m", prompt=prompt)


def answered(intent: str, call: int, outcome: str = "answer") -> events.Answered:
    return events.Answered(intent=intent, attempt=1, call=call, outcome=outcome, model="m", ref="1:0")


def landed(intent: str) -> events.Landed:
    return events.Landed(intent=intent, attempt=1, commit=BASE, parent=BASE)


def test_a_recording_knows_what_came_of_each_answer_and_what_each_fork_held() -> None:
    found = recording_of(
        [
            admitted("a"),
            asked("a", 1),
            answered("a", 1, "timeout"),
            asked("a", 2),
            answered("a", 2),
            landed("a"),
            admitted("b"),
            asked("b", 3),
            answered("b", 3),
            events.SentBack(intent="b", attempt=1, reason="red"),
            admitted("b", 2),
            events.Ended(intent="b", attempt=2, ending=Ending.SENT_BACK, reason="red"),
        ]
    )
    assert found.admitted == {"a": "", "b": "a"}
    assert found.order == [Moment("a", 1), Moment("a"), Moment("b", 1), Moment("b", 2), Moment("b")]
    questions = {purpose.intent: asked for purpose, asked in found.questions.items()}
    assert [(one.next, one.outcome and one.outcome.outcome) for one in questions["a"]] == [(Moment("a"), "answer")]
    assert [one.next for one in questions["b"]] == [Moment("b", 2)]
    assert (found.ordered, found.replayed) == (True, False)


def test_a_recording_without_collisions_checks_and_replays_needs_no_order() -> None:
    events_of_one = [admitted("a"), asked("a", 1), answered("a", 1), landed("a")]
    assert recording_of(events_of_one).ordered is False
    replay = [*events_of_one[:3], asked("a", 2, purpose="replay", prompt="q"), answered("a", 2), landed("a")]
    assert (recording_of(replay).ordered, recording_of(replay).replayed) == (True, True)


def test_an_answer_waits_for_all_that_came_before_its_consequence() -> None:
    async def wait() -> list[bool]:
        order = Order(Recording(order=[Moment("b", 1), Moment("a"), Moment("b")], ordered=True))
        async with asyncio.TaskGroup() as tasks:
            second = tasks.create_task(order.turn(Moment("b")), name="second")
            first = tasks.create_task(order.turn(Moment("a")), name="first")
            await asyncio.sleep(0)
            seen = [first.done(), second.done()]
            for event in (admitted("b"), landed("a")):
                order.hear(event)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                seen += [first.done(), second.done()]
        return [*seen, order.kept]

    assert asyncio.run(wait()) == [False, False, True, False, True, True, True]


def test_what_never_comes_is_passed_over_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "_PATIENCE_S", 0.001)

    async def wait() -> Order:
        order = Order(Recording(order=[Moment(name) for name in "abcdefghi"], ordered=True))
        await order.turn(Moment("i"))
        return order

    order = asyncio.run(wait())
    assert not order.kept
    assert order.skipped == 4

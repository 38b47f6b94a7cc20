from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from lanes.gate import Gate, NoChecks
from qodebase.ports import Judgement, Verdict

GREEN, RED, HOLD = Verdict.GREEN, Verdict.RED, Verdict.HOLD


class Scripted:
    """Gives its verdicts in order, then green."""

    def __init__(self, *verdicts: Verdict) -> None:
        self.verdicts = list(verdicts)
        self.ran: list[tuple[str, tuple[str, ...]]] = []

    async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
        self.ran.append((tree, tuple(checks)))
        await asyncio.sleep(0)
        verdict = self.verdicts.pop(0) if self.verdicts else GREEN
        return Judgement(tree=tree, verdict=verdict, checks=tuple(checks), output=str(verdict))


def judge(checker: Scripted, *wanted: tuple[str, tuple[str, ...]]) -> list[Judgement]:
    gate = Gate(checker)

    async def work() -> list[Judgement]:
        return [await gate.judge(tree, checks) for tree, checks in wanted]

    return asyncio.run(work())


def test_a_tree_is_run_once_for_each_set_of_checks() -> None:
    checker = Scripted()
    found = judge(checker, ("t", ("b", "a")), ("t", ("a", "b", "a")), ("t", ("a",)), ("u", ("a", "b")))
    assert checker.ran == [("t", ("a", "b")), ("t", ("a",)), ("u", ("a", "b"))]
    assert found[0] is found[1]


def test_lanes_that_want_the_same_verdict_at_once_share_one_run() -> None:
    checker = Scripted(RED, GREEN)
    gate = Gate(checker)

    async def work() -> list[Judgement]:
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(gate.judge("t", ("a",))) for _ in range(5)]
        return [task.result() for task in asked]

    found = asyncio.run(work())
    assert len(checker.ran) == 2
    assert all(one is found[0] for one in found)
    assert found[0].flake


def test_a_run_that_is_cancelled_is_taken_again_by_the_next_who_asks() -> None:
    checker = Scripted()
    gate = Gate(checker)

    async def work() -> Judgement:
        first = asyncio.ensure_future(gate.judge("t", ("a",)))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(gate.judge("t", ("a",)))
        first.cancel()
        return await second

    assert asyncio.run(work()).verdict is GREEN
    assert len(checker.ran) == 2


def test_red_twice_is_red_and_not_run_a_third_time() -> None:
    checker = Scripted(RED, RED)
    first, second = judge(checker, ("t", ("a",)), ("t", ("a",)))
    assert first is second
    assert (first.verdict, first.flake, first.output, len(checker.ran)) == (RED, False, "red", 2)


def test_red_then_green_is_green_and_marked_as_a_flake() -> None:
    checker = Scripted(RED, GREEN)
    (found,) = judge(checker, ("t", ("a",)))
    assert (found.verdict, found.flake, found.tree, found.checks) == (GREEN, True, "t", ("a",))


def test_a_hold_is_not_run_again() -> None:
    checker = Scripted(HOLD)
    (found,) = judge(checker, ("t", ("a",)))
    assert (found.verdict, len(checker.ran)) == (HOLD, 1)


def test_a_train_without_checks_has_a_green_verdict_on_its_tree() -> None:
    assert asyncio.run(Gate(NoChecks()).judge("t", ())) == Judgement(tree="t", verdict=GREEN)


def test_checks_that_nothing_can_run_are_a_bug() -> None:
    with pytest.raises(RuntimeError, match="no checker"):
        asyncio.run(Gate(NoChecks()).judge("t", ("a",)))

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from lanes.gate import Found, Gate, NoChecks
from qodebase.paths import RepoPath
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


def judge(checker: Scripted, *wanted: tuple[str, tuple[str, ...]]) -> list[Found]:
    gate = Gate(checker)

    async def work() -> list[Found]:
        return [await gate.judge(tree, checks) for tree, checks in wanted]

    return asyncio.run(work())


def test_a_check_is_run_once_on_a_tree() -> None:
    checker = Scripted()
    wanted = [("t", ("b", "a")), ("t", ("a", "b", "a")), ("t", ("a",)), ("t", ("a", "c")), ("u", ("a", "b"))]
    found = judge(checker, *wanted)
    assert checker.ran == [("t", ("a", "b")), ("t", ("c",)), ("u", ("a", "b"))]
    assert [one.runs for one in found] == [1, 0, 0, 1, 1]
    assert [one.judgement.checks for one in found] == [("a", "b"), ("a", "b"), ("a",), ("a", "c"), ("a", "b")]


def test_a_tree_that_one_of_the_checks_is_red_on_is_red_and_the_others_are_not_run() -> None:
    checker = Scripted(RED, RED)
    first, second = judge(checker, ("t", ("a",)), ("t", ("a", "b")))
    assert (first.judgement.failed, second.judgement.failed, second.runs) == (("a",), ("a",), 0)


def test_only_what_is_red_is_run_once_more_and_somebody_hears_of_it_before() -> None:
    class Half(Scripted):
        async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
            self.ran.append((tree, tuple(checks)))
            return Judgement(tree=tree, verdict=RED, checks=tuple(checks), failed=("b",), output="b is red")

    checker = Half()
    heard: list[tuple[str, ...]] = []
    found = asyncio.run(Gate(checker).judge("t", ("a", "b", "c"), lambda red: heard.append(tuple(red))))
    assert checker.ran == [("t", ("a", "b", "c")), ("t", ("b",))]
    assert heard == [("b",)]
    assert (found.judgement.failed, found.judgement.output, found.runs) == (("b",), "b is red", 2)


def test_what_checks_read_is_remembered_with_their_verdict() -> None:
    class Reads(Scripted):
        async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
            reads: dict[str, tuple[RepoPath, ...] | None] = {
                name: (RepoPath(name.encode()),) for name in checks if name != "c"
            }
            return Judgement(tree=tree, verdict=GREEN, checks=tuple(checks), reads=reads)

    found = judge(Reads(), ("t", ("a",)), ("t", ("a", "b")), ("t", ("c",)))
    assert [one.judgement.read for one in found] == [(b"a",), (b"a", b"b"), None]
    assert found[2].judgement.reads == {"c": None}


def test_lanes_that_want_the_same_verdict_at_once_share_one_run() -> None:
    checker = Scripted(RED, GREEN)
    gate = Gate(checker)

    async def work() -> list[Found]:
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(gate.judge("t", ("a",))) for _ in range(5)]
        return [task.result() for task in asked]

    found = asyncio.run(work())
    assert len(checker.ran) == 2
    assert [one.runs for one in found] == [2, 0, 0, 0, 0]
    assert all(one.judgement.flake and one.flipped == ("a",) for one in found)


def test_a_run_that_is_cancelled_is_taken_again_by_the_next_who_asks() -> None:
    checker = Scripted()
    gate = Gate(checker)

    async def work() -> Found:
        first = asyncio.ensure_future(gate.judge("t", ("a",)))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(gate.judge("t", ("a",)))
        first.cancel()
        return await second

    assert asyncio.run(work()).judgement.verdict is GREEN
    assert len(checker.ran) == 2


def test_red_twice_is_red_and_not_run_a_third_time() -> None:
    checker = Scripted(RED, RED)
    first, second = (found.judgement for found in judge(checker, ("t", ("a",)), ("t", ("a",))))
    assert first == second
    assert (first.verdict, first.flake, first.output, len(checker.ran)) == (RED, False, "red", 2)


def test_red_then_green_is_green_and_marked_as_a_flake() -> None:
    checker = Scripted(RED, GREEN)
    (found,) = (found.judgement for found in judge(checker, ("t", ("a",))))
    assert (found.verdict, found.flake, found.tree, found.checks) == (GREEN, True, "t", ("a",))


def test_a_hold_is_not_run_again() -> None:
    checker = Scripted(HOLD)
    first, second = judge(checker, ("t", ("a",)), ("t", ("a",)))
    assert (first.judgement.verdict, second.judgement.verdict, len(checker.ran)) == (HOLD, HOLD, 1)


def test_a_train_without_checks_has_a_green_verdict_on_its_tree() -> None:
    assert asyncio.run(Gate(NoChecks()).judge("t", ())) == Found(judgement=Judgement(tree="t", verdict=GREEN))


def test_checks_that_nothing_can_run_are_a_bug() -> None:
    with pytest.raises(RuntimeError, match="no checker"):
        asyncio.run(Gate(NoChecks()).judge("t", ("a",)))

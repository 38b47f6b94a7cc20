"""What agents look at on their own forks, in a world of lanes with landings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
from code_world import Sums, code_world, land_in_turn, run, submit
from lane_world import World

from fleet.verifying import Verifier, check_name
from lanes.gate import Gate
from lanes.prefetch import Guess
from lanes.read_sets import touched
from lanes.submission import Submission
from lanes.train import Member
from lanes.verdicts import Verdicts
from qodebase.check import Check
from qodebase.edits import materialise
from qodebase.paths import RepoPath
from qodebase.ports import Job

Make = Callable[..., World]
CODE = {"a": {"f": "1", "g": "2"}, "b": {"f": "a.f + 1", "g": "5"}, "c": {"f": "7", "g": "8"}}


CHECK = Check(command=("true",))


class Looks:
    """As much of a job as says which intents have a check of their own, and which checks there are."""

    def __init__(self, *intents: str, checks: Mapping[str, Check] | None = None) -> None:
        self._intents = intents
        self._checks = checks or {}

    def verifying(self) -> Mapping[str, Check]:
        return dict.fromkeys(self._intents, CHECK)

    def checks(self) -> Mapping[str, Check]:
        return self._checks


def look(one: World, sums: Sums, submission: Submission, fork: Any = None, *, looks: bool = True) -> str:
    """Return what an agent finds wrong with its change; its own check is the one that its intent names."""
    intent = submission.intent
    sums.wanted[check_name(intent.id)] = sums.wanted[intent.id]
    job = cast("Job", Looks(*([intent.id] if looks else [])))
    verifier = Verifier(job, sums, one.contract, one.desk._tell, one.reader)
    sums.ran.clear()
    return run(one, verifier.fault(intent, submission.change, fork or submission.fork))


def landed_first(world: Make, sums: Sums) -> World:
    """Return a world in which the check of an intent wants that b.f is 11."""
    one = code_world(world, CODE, sums)
    land_in_turn(one, lambda: submit(one, sums, "first", "b.f", "a.f + 10"))
    return one


def test_an_agent_hears_which_landed_check_its_change_breaks(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    fault = look(one, sums, submit(one, sums, "second", "a.f", "3"))
    assert fault == f"breaks first (of first, landed as {one.main.tip[:12]})\nfirst is wrong"
    assert [names for _, names in sums.ran] == [("verify second", "first"), ("first",), ("first",)]


def test_what_does_not_look_at_the_change_is_not_run(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    assert look(one, sums, submit(one, sums, "second", "c.f", "3")) == ""
    assert [names for _, names in sums.ran] == [("verify second",)]


def test_a_job_whose_agents_have_no_check_of_their_own_does_not_look(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    assert look(one, sums, submit(one, sums, "second", "a.f", "3"), looks=False) == ""
    assert sums.ran == []


def test_what_the_intent_retires_is_not_run(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    second = submit(one, sums, "second", "a.f", "3")
    second.intent = msgspec.structs.replace(second.intent, retires=("first",))
    assert look(one, sums, second) == ""


def test_a_check_that_landed_after_the_fork_is_not_run_on_it(world: Make) -> None:
    sums = Sums()
    one = code_world(world, CODE, sums)
    second = submit(one, sums, "second", "a.f", "3")
    land_in_turn(one, lambda: submit(one, sums, "first", "b.f", "a.f + 10"))
    assert look(one, sums, second) == ""
    assert [names for _, names in sums.ran] == [("verify second",)]


def test_a_check_that_may_read_anything_is_left_to_the_gate(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    one.contract.read("first", None)
    assert look(one, sums, submit(one, sums, "second", "a.f", "3")) == ""
    assert [names for _, names in sums.ran] == [("verify second",)]


def test_a_check_that_is_red_on_the_fork_already_blames_nobody(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    sums.wanted["first"] = ("b.f", 99)
    assert look(one, sums, submit(one, sums, "second", "a.g", "3")) == ""


def test_a_check_that_is_red_once_and_then_green_blames_nobody(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    sums.flaky = lambda name, read: name == "first" and len(sums.ran) == 1
    assert look(one, sums, submit(one, sums, "second", "a.g", "3")) == ""
    assert len(sums.ran) == 3


def test_a_change_that_fails_its_own_check_is_told_all_that_is_red(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    second = submit(one, sums, "second", "a.f", "3")
    sums.wanted["second"] = ("a.f", 4)
    assert look(one, sums, second) == "verify second is wrong\nfirst is wrong"
    assert len(sums.ran) == 1


def test_what_a_guessed_fork_lays_on_main_counts_as_there(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    ahead = submit(one, sums, "ahead", "b.f", "11")
    edits = materialise(ahead.change, ahead.fork)
    guess = Guess(
        one.main, [Member(submission=ahead, edits=edits, expects={}, touched=touched(edits, ahead.fork, named=False))]
    )
    second = submit(one, sums, "second", "a.f", "3")
    assert look(one, sums, second) != ""
    assert look(one, sums, second, guess.fork([RepoPath(b"a/code"), RepoPath(b"b/code")])) == ""


def test_the_gate_need_not_run_again_what_an_agent_found_green_unless_it_is_another_check(world: Make) -> None:
    sums = Sums()
    one = landed_first(world, sums)
    submission = submit(one, sums, "second", "a.g", "3")
    sums.wanted[check_name("second")] = sums.wanted["second"]
    for same, runs in ((Check(command=("false",)), 1), (CHECK, 0)):
        assert sums.trees is not None
        verdicts = Verdicts(sums.trees)
        job = cast("Job", Looks("second", checks={"second": same}))
        verifier = Verifier(job, sums, one.contract, one.desk._tell, one.reader, verdicts)
        assert run(one, verifier.fault(submission.intent, submission.change, submission.fork)) == ""
        tree = sums.ran[-1][0]
        found = run(one, Gate(sums, verdicts).judge(tree, ["second"]))
        assert (found.runs, found.inherited) == (runs, 1 - runs)

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from lane_world import FakeChecker, World

from lanes.fork import Fork
from lanes.policy import Policy
from lanes.submission import Landed, Outcome, SentBack, Submission
from qodebase import events
from qodebase.change import Change, Hunk, Patch, Write
from qodebase.collision import Declined, Kind
from qodebase.paths import RepoPath
from qodebase.ports import Postponed, Redone, ReplayRequest, Tree
from qodebase.record import Usage

Make = Callable[..., World]
BASE = b"".join(b"line %d\n" % number for number in range(20))
LANES = {name: [f"/{name}/**"] for name in "abcde"}


def at(number: int, text: bytes) -> bytes:
    """Return the base with one line replaced."""
    return BASE.replace(b"line %d\n" % number, text)


class WritesIts:
    """Redoes every intent by appending its id to its first path."""

    def __init__(self) -> None:
        self.asked: list[ReplayRequest] = []
        self.declines = 0
        self.began = asyncio.Event()

    async def redo(self, request: ReplayRequest, fork: Tree) -> Redone | Declined:
        self.asked.append(request)
        self.began.set()
        await asyncio.sleep(0)
        if self.declines:
            self.declines -= 1
            return Declined(why=f"no idea {self.declines}")
        path = request.intent.scope[0]
        content = (fork.read(path) if fork.entry(path) else b"") + request.intent.id.encode() + b"\n"
        change = Change(base=fork.commit, operations=(Write(path=path, content=content),))
        return Redone(change=change, model="big", usage=Usage(calls=1, cost_usd=0.5), plan={"change": "new"})


def test_changes_land_with_a_commit_a_note_and_events_each(world: Make) -> None:
    one = world({b"a/1": b"", b"b/1": b""}, lanes=LANES)
    found = one.land_all(*(one.submission(name, {name.encode() + b"/1": b"1\n"}) for name in "ab"))
    assert all(isinstance(outcome, Landed) for outcome in found)
    assert one.files() == {b"a/1": b"1\n", b"b/1": b"1\n"}
    one.assert_whole()
    for name in "ab":
        record = one.record(name)
        assert (record.lane, record.verdict, record.checks, record.asked) == (name, "green", ("check",), f"Do {name}.")
        kinds = [type(event) for event in one.events() if name in (event.intent, event.lane)]
        assert kinds == [events.Queued, events.TrainBuilt, events.Judged, events.Landed]
    assert one.syncs >= 1


def test_what_waits_is_coupled_into_one_train_by_priority_then_arrival(world: Make) -> None:
    one = world({b"x": b""})
    names = [("late", 200), ("first", 100), ("second", 100), ("urgent", 0)]
    one.land_all(*(one.submission(name, {name.encode(): b"1"}, priority=rank) for name, rank in names))
    assert one.landed() == ["urgent", "first", "second", "late"]
    assert one.checker.ran == [("urgent",), ("first", "second", "late")]


def test_a_train_is_no_longer_than_it_may_be(world: Make) -> None:
    one = world({b"x": b""}, policy=Policy(train_max=3))
    one.land_all(*(one.submission(f"i{number}", {b"f%d" % number: b"1"}) for number in range(8)))
    assert [len(members) for members in one.checker.ran] == [3, 3, 2]
    one.assert_whole()


@pytest.mark.parametrize("bad", [{"i0"}, {"i7"}, {"i3", "i4"}, {f"i{number}" for number in range(8)}])
def test_red_members_are_found_by_splitting_and_sent_back_while_the_rest_land(world: Make, bad: set[str]) -> None:
    one = world({b"a": BASE})
    one.checker.bad = bad
    submissions = [one.submission(f"i{number}", {b"a": at(number * 2, b"%d!\n" % number)}) for number in range(8)]
    outcomes = one.land_all(*submissions)
    for submission, outcome in zip(submissions, outcomes, strict=True):
        name = submission.intent.id
        if name in bad:
            assert outcome == SentBack(reason=f"checks failed:\n{name} broke it")
        else:
            assert isinstance(outcome, Landed)
    expected = BASE
    for number in range(8):
        if f"i{number}" not in bad:
            expected = expected.replace(b"line %d\n" % (number * 2), b"%d!\n" % number)
    assert one.files() == {b"a": expected}
    assert one.landed() == [f"i{number}" for number in range(8) if f"i{number}" not in bad]
    one.assert_whole()


def test_nobody_is_blamed_for_one_ahead(world: Make) -> None:
    one = world({b"x": b""})
    one.checker.bad = {"culprit"}
    one.land_all(*(one.submission(name, {name.encode(): b"1"}) for name in ("culprit", "behind", "last")))
    assert one.landed() == ["behind", "last"]
    judged = one.events(events.Judged)
    assert {event.verdict for event in judged if isinstance(event, events.Judged)} == {"green", "red"}


def test_a_change_that_flips_a_check_that_never_flips_on_main_goes_back_as_flaky(world: Make) -> None:
    one = world({b"x": b""})
    one.checker.flaky = {"shaky"}
    (outcome,) = one.land_all(one.submission("shaky", {b"y": b"1"}))
    assert isinstance(outcome, SentBack)
    assert outcome.reason == "flaky: check came out red and green on this change, and does not on main"
    judged, on_main = one.events(events.Judged)
    assert (judged.verdict, judged.flake, judged.runs) == ("green", True, 2)  # type: ignore[attr-defined]
    assert (on_main.of, on_main.runs) == ("main", 3)  # type: ignore[attr-defined]
    (flaky,) = one.events(events.Flaky)
    assert (flaky.checks, flaky.on_main) == (("check",), False)  # type: ignore[attr-defined]


def test_a_change_that_nothing_can_redo_is_sent_back_with_its_collision(world: Make) -> None:
    one = world({b"a": BASE})
    first, second, third = (one.submission(name, {b"a": at(2, name.encode() + b"\n")}) for name in ("x", "y", "z"))
    outcomes = one.land_all(first, second, third)
    assert isinstance(outcomes[0], Landed)
    for outcome in outcomes[1:]:
        assert isinstance(outcome, SentBack)
        assert outcome.reason.startswith("collided and could not be redone: a: merge: ")
    met = [event for event in one.events(events.CollisionMet) if isinstance(event, events.CollisionMet)]
    assert [(event.intent, event.collided.intents, event.collided.resolved_by) for event in met] == [
        ("y", ("x",), ""),
        ("z", ("x",), ""),
    ]


def test_a_model_redoes_what_merge_and_rules_could_not(world: Make) -> None:
    redo = WritesIts()
    redo.declines = 1
    one = world({b"a": BASE}, redo=redo)
    outcomes = one.land_all(*(one.submission(name, {b"a": at(2, name.encode() + b"\n")}) for name in ("x", "y")))
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert one.files() == {b"a": at(2, b"x\n") + b"y\n"}
    assert [(asked.replay, asked.failed, asked.since) for asked in redo.asked] == [
        (1, "", ("x",)),
        (2, "no idea 0", ("x",)),
    ]
    record = one.record("y")
    assert record.replay == 2
    assert record.usage == Usage(calls=1, cost_usd=0.5)
    assert record.plan == {"change": "new"}
    assert [step.by for step in record.collisions[0].steps] == ["merge", "model", "model:big"]
    one.assert_whole()


def test_a_model_that_never_finds_a_way_is_asked_three_times(world: Make) -> None:
    redo = WritesIts()
    redo.declines = 99
    one = world({b"a": BASE}, redo=redo)
    outcomes = one.land_all(*(one.submission(name, {b"a": at(2, name.encode() + b"\n")}) for name in ("x", "y")))
    assert isinstance(outcomes[1], SentBack)
    assert outcomes[1].reason.endswith("model: no idea 98; model: no idea 97; model: no idea 96")
    assert len(redo.asked) == 3


def test_a_change_over_several_lanes_lands_whole_alone_and_before_what_came_later(world: Make) -> None:
    one = world({b"x": b""}, lanes=LANES)
    submissions = [
        one.submission("first", {b"a/1": b"1"}),
        one.submission("both", {b"b/2": b"1", b"a/2": b"1"}),
        one.submission("behind-a", {b"a/3": b"1"}),
        one.submission("behind-b", {b"b/3": b"1"}),
    ]
    one.land_all(*submissions)
    order = one.landed()
    assert order.index("first") < order.index("both") < min(order.index("behind-a"), order.index("behind-b"))
    assert ("both",) in one.checker.ran
    queued = [event for event in one.events(events.Queued) if isinstance(event, events.Queued)]
    both = next(event for event in queued if event.intent == "both")
    assert (both.lanes, both.widened_by) == (("a", "b"), (b"b/2",))
    assert {event.widened_by for event in queued if event.intent != "both"} == {()}
    one.assert_whole()


def test_a_change_over_several_lanes_that_is_red_leaves_nothing_behind(world: Make) -> None:
    one = world({b"x": b""}, lanes=LANES)
    one.checker.bad = {"both"}
    outcomes = one.land_all(
        one.submission("both", {b"a/1": b"1", b"b/1": b"1", b"c/1": b"1"}),
        one.submission("after", {b"b/2": b"1"}),
        one.submission("beside", {b"c/2": b"1"}),
    )
    assert isinstance(outcomes[0], SentBack)
    assert set(one.files()) == {b"x", b"b/2", b"c/2"}
    one.assert_whole()


def test_a_change_of_a_higher_priority_that_comes_as_two_lanes_meet_is_not_taken_for_the_one_they_met_at(
    world: Make,
) -> None:
    one = world({b"x": b""}, lanes=LANES)
    futures = []

    async def work() -> None:
        async with one.serving() as yard:
            built = asyncio.Event()

            def hear(event: events.Event) -> None:
                if isinstance(event, events.TrainBuilt):
                    built.set()
                if isinstance(event, events.Landed) and event.intent == "slow":
                    asyncio.get_running_loop().call_soon(
                        lambda: futures.append(yard.submit(one.submission("urgent", {b"b/2": b"1"}, priority=0)))
                    )

            one.listeners.append(hear)
            futures.append(yard.submit(one.submission("slow", {b"a/0": b"1"})))
            await built.wait()
            futures.append(yard.submit(one.submission("both", {b"a/1": b"1", b"b/1": b"1"})))
            for number in range(3):
                assert isinstance(await futures[number], Landed)

    asyncio.run(work())
    assert sorted(one.landed()) == ["both", "slow", "urgent"]
    one.assert_whole()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 20))])
def test_many_changes_over_lanes_and_priorities_all_end_once(world: Make, seed: int) -> None:
    draw = random.Random(seed)
    names = [f"i{number}" for number in range(200)]
    one = world({b"x": b""}, lanes=LANES, policy=Policy(train_max=draw.choice([1, 5, 64])))
    one.checker.bad = set(draw.sample(names, 12))
    submissions: list[Submission] = []
    for name in names:
        touched = draw.sample("abcde", draw.choice([1, 1, 1, 2, 3, 5]))
        edits = {f"{lane}/{name}".encode(): b"1" for lane in touched}
        submissions.append(one.submission(name, edits, priority=draw.choice([0, 50, 100, 100, 255])))

    async def work() -> list[Outcome]:
        async with one.serving() as yard:
            futures = []
            for submission in submissions:
                futures.append(yard.submit(submission))
                for _ in range(draw.choice([0, 0, 0, 1, 5, 30])):
                    await asyncio.sleep(0)
            outcomes = [await future for future in futures]
            assert set(yard.waiting().values()) == {0}
            return outcomes

    outcomes = asyncio.run(work())
    sent_back = {s.intent.id for s, outcome in zip(submissions, outcomes, strict=True) if isinstance(outcome, SentBack)}
    assert sent_back == one.checker.bad
    assert sorted(one.landed()) == sorted(set(names) - sent_back)
    expected = {b"x": b""}
    for submission in submissions:
        if submission.intent.id not in sent_back:
            expected |= {bytes(path): b"1" for path in submission.change.paths}
    assert set(one.files()) == set(expected)
    one.assert_whole()


def test_two_new_names_that_need_a_file_and_a_folder_in_one_place_do_not_stop_the_run(world: Make) -> None:
    one = world({b"x": b""})
    outcomes = one.land_all(
        one.submission("file", {b"name": b"1"}),
        one.submission("folder", {b"name/inner": b"1"}),
        one.submission("beside", {b"other": b"1"}),
    )
    assert [isinstance(outcome, Landed) for outcome in outcomes] == [True, False, True]
    assert isinstance(outcomes[1], SentBack)
    assert "name" in outcomes[1].reason
    assert "folder" in outcomes[1].reason
    assert set(one.files()) == {b"x", b"name", b"other"}
    one.assert_whole()


def test_a_file_where_main_has_a_folder_is_a_collision_too(world: Make) -> None:
    one = world({b"dir/a": b""}, redo=(redo := WritesIts()))
    (outcome,) = one.land_all(one.submission("x", {b"dir": b"1"}))
    assert isinstance(outcome, SentBack)
    assert len(redo.asked) == 3
    assert redo.asked[0].collided[0].kind is Kind.ADDED_TWICE
    assert one.landed() == []


class Index:
    """Entries of a sorted index."""

    @staticmethod
    def entry(name: str) -> bytes:
        return f"- `{name}` `f` function\n".encode()

    def submission(self, world: World, name: str, fork: Fork | None = None) -> Submission:
        fork = fork or world.fork(name.encode())
        index = fork.read(RepoPath(b"index"))
        return world.submission(name, {name.encode(): b"1", b"index": index + self.entry(name)}, fork=fork)


def test_a_shared_path_that_moved_is_redone_by_its_rule_and_no_line_is_lost(world: Make) -> None:
    one = world({b"index": b"# Index\n\n"}, shared={b"index": "sorted-index"}, lanes=LANES)
    names = ["c/1", "a/1", "b/1", "a/0"]
    outcomes = one.land_all(*(Index().submission(one, name) for name in names))
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert one.files()[b"index"] == b"# Index\n\n" + b"".join(Index.entry(name) for name in sorted(names))
    kinds = [(collided.kind, collided.resolved_by) for name in names for collided in one.record(name).collisions]
    assert kinds == [(Kind.SHARED, "rule:sorted-index")] * 3
    one.assert_whole()


def test_a_shared_path_that_its_rule_declines_goes_to_the_model_and_does_not_go_round_for_ever(world: Make) -> None:
    redo = WritesIts()
    one = world({b"index": b"# Index\n\n"}, shared={b"index": "sorted-index"}, redo=redo)
    submission = Index().submission(one, "a")
    one.foreign({b"index": b"no newline at the end"})
    (outcome,) = one.land_all(submission)
    assert isinstance(outcome, Landed)
    (request,) = redo.asked
    (collided,) = request.collided
    assert (collided.path, collided.kind) == (b"index", Kind.SHARED)
    assert collided.steps[0].declined == "the index ends in the middle of a line"
    assert [step.by for step in one.record("a").collisions[0].steps] == ["rule:sorted-index", "model:big"]
    one.assert_whole()


def test_a_shared_path_that_nothing_can_redo_sends_the_change_back(world: Make) -> None:
    one = world({b"index": b"# Index\n\n"}, shared={b"index": "sorted-index"})
    submission = Index().submission(one, "a")
    one.foreign({b"index": b"no newline at the end"})
    (outcome,) = one.land_all(submission)
    assert isinstance(outcome, SentBack)
    assert "index: rule:sorted-index: the index ends in the middle of a line" in outcome.reason
    assert set(one.files()) == {b"index"}


def test_a_shared_path_under_what_became_a_file_sends_the_change_back(world: Make) -> None:
    one = world({b"x": b""}, shared={b"docs/index": "sorted-index"})
    submission = one.submission("a", {b"a": b"1", b"docs/index": Index.entry("a")})
    one.foreign({b"docs": b"a file"})
    (outcome,) = one.land_all(submission)
    assert isinstance(outcome, SentBack)
    assert "a file stands where a folder is needed" in outcome.reason


def test_hunks_on_a_shared_path_are_redone_like_whole_contents(world: Make) -> None:
    one = world({b"index": b"# Index\n\n"}, shared={b"index": "sorted-index"})
    fork = one.fork(b"x")
    submissions = []
    for name in ("b", "a"):
        write = Index().submission(one, name, fork).change.operations[0]
        hunk = Patch(path=RepoPath(b"index"), hunks=(Hunk(offset=9, text=Index.entry(name)),))
        submissions.append(one.submission(name, [write, hunk], fork=fork))
    one.land_all(*submissions)
    assert one.files()[b"index"] == b"# Index\n\n" + Index.entry("a") + Index.entry("b")


def test_the_checker_of_these_tests_is_asked_as_the_gate_asks() -> None:
    checker = FakeChecker()
    checker.members["t"] = ("a",)
    checker.bad = {"a"}
    assert asyncio.run(checker.check("t", ["c"])).output == "a broke it"


def test_edits_of_one_place_are_redone_one_after_the_other_and_all_land(world: Make) -> None:
    redo = WritesIts()
    one = world({b"a": BASE}, redo=redo)
    names = [f"i{number}" for number in range(12)]
    outcomes = one.land_all(*(one.submission(name, {b"a": at(2, name.encode() + b"\n")}) for name in names))
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert [asked.replay for asked in redo.asked] == [1] * 11
    assert one.files()[b"a"].split(b"\n")[2] == b"i0"
    assert sorted(one.files()[b"a"].splitlines()[20:]) == sorted(name.encode() for name in names[1:])
    one.assert_whole()


def test_what_waits_for_a_replay_goes_on_when_the_replay_fails(world: Make) -> None:
    redo = WritesIts()
    redo.declines = 3
    one = world({b"a": BASE}, redo=redo)
    outcomes = one.land_all(*(one.submission(name, {b"a": at(2, name.encode() + b"\n")}) for name in ("x", "y", "z")))
    assert [type(outcome) for outcome in outcomes] == [Landed, SentBack, Landed]
    assert one.files()[b"a"] == at(2, b"x\n") + b"z\n"
    one.assert_whole()


class AtTheCap(WritesIts):
    """May not ask a model for the first of the changes."""

    async def redo(self, request: ReplayRequest, fork: Tree) -> Redone | Declined | Postponed:  # type: ignore[override]
        if request.intent.id == "y":
            return Postponed(why="the cost cap is reached")
        return await super().redo(request, fork)


def test_a_change_whose_replay_may_not_be_made_is_given_up_for_now_and_those_behind_it_go_on(world: Make) -> None:
    one = world({b"a": BASE}, redo=AtTheCap())
    outcomes = one.land_all(*(one.submission(name, {b"a": at(2, name.encode() + b"\n")}) for name in ("x", "y", "z")))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Landed", "Postponed", "Landed"]
    assert one.files()[b"a"] == at(2, b"x\n") + b"z\n"
    (event,) = one.events(events.Postponed)
    assert (event.intent, event.attempt) == ("y", 1)
    assert [collision.intent for collision in one.events(events.CollisionMet)] == ["z"]
    one.assert_whole()


def test_what_is_sent_back_says_who_moved_it_and_what_clashes(world: Make) -> None:
    one = world({b"a": BASE})
    first, second = one.land_all(*(one.submission(name, {b"a": at(2, name.encode() + b"\n")}) for name in ("x", "y")))
    assert isinstance(first, Landed)
    assert isinstance(second, SentBack)
    assert "\n" not in second.reason
    assert second.detail.splitlines() == [
        "a was moved by x",
        "a line 3",
        "--- as it was",
        "line 2",
        "--- as main has it now",
        "x",
        "--- as this change wants it",
        "y",
    ]
    (met,) = (event for event in one.events() if isinstance(event, events.CollisionMet))
    assert [(clash.line, clash.main, clash.change) for clash in met.collided.clashes] == [(3, "x\n", "y\n")]


def test_a_change_that_another_one_of_low_priority_holds_up_lends_it_its_priority(world: Make) -> None:
    redo = WritesIts()
    one = world({b"a": BASE}, redo=redo, policy=Policy(train_max=1, prefetch=False))
    low = one.submission("low", {b"a": at(2, b"low\n")}, priority=200)
    high = one.submission("high", {b"a": at(2, b"high\n")}, priority=10)
    others = [one.submission(f"other-{number}", {b"f%d" % number: b"1"}) for number in range(6)]
    futures: list[asyncio.Future[Outcome]] = []

    async def work() -> None:
        async with one.serving() as yard:
            first = yard.submit(one.submission("first", {b"a": at(2, b"first\n")}))
            await first
            held = yard.submit(low)
            await redo.began.wait()
            futures.extend(yard.submit(submission) for submission in (*others, high))
            await held
            for future in futures:
                await future

    asyncio.run(work())
    order = one.landed()
    assert order.index("high") < 5
    one.assert_whole()


@pytest.mark.parametrize("how", ["pause", "drain"])
def test_a_lane_that_is_held_stops_no_other_lane_by_what_both_wait_for(world: Make, how: str) -> None:
    one = world({b"x": b""}, lanes=LANES, policy=Policy(train_max=1))

    async def work() -> None:
        async with one.serving() as yard:
            getattr(yard, how)("a")
            both = yard.submit(one.submission("both", {b"a/1": b"1", b"b/1": b"1"}, priority=0))
            chain = yard.submit(one.submission("chain", {b"b/2": b"1", b"c/2": b"1"}))
            behind = [yard.submit(one.submission(f"{lane}-alone", {lane.encode() + b"/3": b"1"})) for lane in "bc"]
            async with asyncio.timeout(10):
                for future in (chain, *behind):
                    assert isinstance(await future, Landed)
            assert not both.done()
            assert (yard.waiting()["a"], yard.waiting()["b"]) == (1, 1)
            yard.go_on("a")
            assert isinstance(await both, Landed)
            assert set(yard.waiting().values()) == {0}

    asyncio.run(work())
    assert one.landed()[-1] == "both"
    one.assert_whole()

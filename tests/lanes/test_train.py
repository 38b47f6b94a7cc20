from __future__ import annotations

from collections.abc import Callable

import pytest
from lane_world import World

from lanes.train import Builder, Stuck, Train
from qodebase.change import Delete, SetMode, Write
from qodebase.collision import Kind
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import SharedPath

Make = Callable[..., World]
BASE = b"".join(b"line %d\n" % number for number in range(20))
A, B, NEW = RepoPath(b"a"), RepoPath(b"b"), RepoPath(b"new")


def at(number: int, text: bytes) -> bytes:
    """Return the base with one line replaced."""
    return BASE.replace(b"line %d\n" % number, text)


def train_of(world: World) -> Train:
    return Train(name="main#1.1", lane="main", base=world.main.tip)


def test_a_change_whose_paths_have_not_moved_is_taken_as_it_is(world: Make) -> None:
    one = world({b"a": BASE, b"b": b"b\n"})
    train = train_of(one)
    submission = one.submission("x", {b"a": at(1, b"x\n"), b"new": b"n\n"}, checks=("t2", "t1"))
    assert one.builder.couple(train, submission) is None
    (member,) = train.members
    assert member.edits == {A: Edit(0o100644, at(1, b"x\n")), NEW: Edit(0o100644, b"n\n")}
    assert member.expects == {A: one.main.entry(A), NEW: None}
    assert member.collided == ()
    assert train.checks == ("t1", "t2")


def test_a_change_is_merged_behind_the_one_ahead_of_it_in_the_train(world: Make) -> None:
    one = world({b"a": BASE})
    train = train_of(one)
    first, second = (one.submission(name, {b"a": at(line, name.encode())}) for name, line in (("x", 2), ("y", 15)))
    assert [one.builder.couple(train, submission) for submission in (first, second)] == [None, None]
    merged = at(2, b"x").replace(b"line 15\n", b"y")
    assert train.edits == {A: Edit(0o100644, merged)}
    member = train.members[1]
    assert member.expects == {A: train.members[0].edits[A].entry}  # type: ignore[union-attr]
    (collided,) = member.collided
    assert (collided.path, collided.kind, collided.intents, collided.count) == (A, Kind.CONTENT, ("x",), 1)
    assert collided.resolved_by == "merge"


def test_a_change_that_cannot_be_merged_is_stuck_and_not_coupled(world: Make) -> None:
    one = world({b"a": BASE, b"b": b"b\n"})
    train = train_of(one)
    one.builder.couple(train, one.submission("x", {b"a": at(2, b"x\n")}))
    stuck = one.builder.couple(train, one.submission("y", {b"a": at(2, b"y\n"), b"b": b"also\n"}))
    assert isinstance(stuck, Stuck)
    assert [collided.path for collided in stuck.collided] == [A]
    assert stuck.collided[0].steps[-1].declined
    assert [member.submission.intent.id for member in train.members] == ["x"]
    assert one.builder.couple(train, one.submission("z", {b"a": at(15, b"z\n")})) is None
    assert train.members[1].collided[0].intents == ("x",)


def test_a_hunk_that_two_intents_made_alike_collides_unless_the_job_says_that_it_is_meant_once(world: Make) -> None:
    one = world({b"a": BASE})
    for idempotent, expected in ((False, 1), (True, 2)):
        builder = Builder(one.main, (), lambda path: (), {A: idempotent}.__getitem__)
        train = train_of(one)
        builder.couple(train, one.submission("x", {b"a": at(2, b"same\n")}))
        outcome = builder.couple(train, one.submission("y", {b"a": at(2, b"same\n")}))
        assert len(train.members) == expected
        assert isinstance(outcome, Stuck) is not idempotent
        assert train.edits == {A: Edit(0o100644, at(2, b"same\n"))}


def test_a_change_is_merged_with_what_landed_and_with_what_is_ahead_at_once(world: Make) -> None:
    one = world({b"a": BASE})
    late = one.submission("late", {b"a": at(15, b"late\n")})
    ahead = one.submission("ahead", {b"a": at(9, b"ahead\n")})
    one.land_all(one.submission("first", {b"a": at(2, b"first\n")}))
    train = train_of(one)
    assert one.builder.couple(train, ahead) is None
    assert one.builder.couple(train, late) is None
    edit = train.edits[A]
    assert edit is not None
    assert edit.content == at(2, b"first\n").replace(b"line 9\n", b"ahead\n").replace(b"line 15\n", b"late\n")
    assert train.members[1].collided[0].intents == ("first", "ahead")
    assert train.members[1].collided[0].count == 2


def test_only_the_last_eight_movers_are_named_and_all_are_counted(world: Make) -> None:
    one = world({b"a": BASE})
    train = train_of(one)
    for number in range(10):
        assert (
            one.builder.couple(train, one.submission(f"i{number}", {b"a": at(number * 2, b"%d!\n" % number)})) is None
        )
    (collided,) = train.members[-1].collided
    assert collided.intents == tuple(f"i{number}" for number in range(1, 9))
    assert collided.count == 9


@pytest.mark.parametrize(
    ("ahead", "behind", "kind"),
    [
        ([Write(path=NEW, content=b"x\n")], [Write(path=NEW, content=b"y\n")], Kind.ADDED_TWICE),
        ([Delete(path=A)], [Write(path=A, content=at(2, b"y\n"))], Kind.DELETED),
        ([Write(path=A, content=at(2, b"y\n"))], [Delete(path=A)], Kind.DELETED),
    ],
    ids=["added twice", "deleted ahead", "deletes what moved"],
)
def test_what_a_merge_cannot_prove_is_stuck_with_its_kind(
    world: Make, ahead: list[Write], behind: list[Write], kind: Kind
) -> None:
    one = world({b"a": BASE})
    train = train_of(one)
    assert one.builder.couple(train, one.submission("x", ahead)) is None
    stuck = one.builder.couple(train, one.submission("y", behind))
    assert isinstance(stuck, Stuck)
    assert [collided.kind for collided in stuck.collided] == [kind]


def test_a_mode_and_a_content_changed_by_two_intents_both_stay(world: Make) -> None:
    one = world({b"a": BASE})
    train = train_of(one)
    assert one.builder.couple(train, one.submission("x", [SetMode(path=A, mode=0o100755)])) is None
    assert one.builder.couple(train, one.submission("y", {b"a": at(2, b"y\n")})) is None
    assert train.edits == {A: Edit(0o100755, at(2, b"y\n"))}
    assert train.members[1].collided[0].kind is Kind.MODE


def test_shared_paths_are_left_to_the_landing(world: Make) -> None:
    one = world({b"a": BASE, b"index": b"\n"}, shared={b"index": "sorted-index"})
    builder = Builder(one.main, [SharedPath(path=RepoPath(b"index"), rule="sorted-index")], lambda path: (), bool)
    train = train_of(one)
    for name in "xy":
        submission = one.submission(name, {b"index": name.encode(), name.encode(): b"1"})
        assert builder.couple(train, submission) is None
    assert set(train.edits) == {b"x", b"y"}

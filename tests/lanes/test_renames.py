"""Renames on the way to main: a change follows the file that it edits, whoever renamed it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from lane_world import World, git

from lanes.reservations import Reservations
from lanes.submission import Landed, Outcome, SentBack, Submission
from lanes.train import Stuck, Train
from qodebase import events
from qodebase.change import AnyOperation, Delete, Rename, Write
from qodebase.collision import Collided, Declined, Kind
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.trunk.reader import Reader

Make = Callable[..., World]
BASE = b"".join(b"line %d\n" % number for number in range(20))
OLD, NEW, OTHER = RepoPath(b"src/old.py"), RepoPath(b"lib/new.py"), RepoPath(b"lib/other.py")
MOVE = Rename(path=OLD, target=NEW)


def at(number: int, text: bytes = b"edited\n", whole: bytes = BASE) -> bytes:
    """Return the base with one line replaced."""
    return whole.replace(b"line %d\n" % number, text)


def edit(number: int, text: bytes = b"edited\n") -> Write:
    return Write(path=OLD, content=at(number, text))


def in_turn(one: World, *steps: Submission | Callable[[], Submission | object]) -> list[Outcome]:
    """Hand changes in one after the other, each when the one before has ended; what a callable makes, then."""

    async def work() -> list[Outcome]:
        outcomes = []
        async with one.serving() as yard:
            for step in steps:
                made = step() if callable(step) else step
                if isinstance(made, Submission):
                    outcomes.append(await yard.submit(made))
        return outcomes

    return asyncio.run(work())


def all_landed(outcomes: list[Outcome]) -> bool:
    return all(isinstance(outcome, Landed) for outcome in outcomes)


def test_a_change_follows_the_file_that_a_landing_renamed(world: Make) -> None:
    one = world({OLD: BASE, b"keep": b"k\n"})
    late = one.submission("late", [edit(15)])
    assert all_landed(in_turn(one, one.submission("mover", [MOVE]), late))
    assert one.files() == {NEW: at(15), b"keep": b"k\n"}
    (collided,) = one.record("late").collisions
    assert (collided.path, collided.moved_to, collided.kind) == (OLD, NEW, Kind.MOVED)
    assert (collided.intents, collided.resolved_by) == (("mover",), "merge")
    met = [event for event in one.events(events.CollisionMet) if isinstance(event, events.CollisionMet)]
    assert [event.collided.moved_to for event in met] == [NEW]
    note = git(one.repository, "notes", "--ref=qodebase", "show", one.tip()).decode()
    assert "src/old.py (now lib/new.py) had moved under it by 1 landed intent, redone by merge" in note
    one.assert_whole()


def test_a_change_follows_a_member_ahead_of_it_in_its_own_train(world: Make) -> None:
    one = world({OLD: BASE})
    train = Train(name="main#1.1", lane="main", base=one.main.tip)
    edits = [edit(2), edit(15), edit(9)]
    submissions = [one.submission("mover", [MOVE])] + [one.submission(f"e{n}", [edits[n]]) for n in range(3)]
    assert [one.builder.couple(train, submission) for submission in submissions] == [None] * 4
    last = train.members[-1]
    assert last.expects == {OLD: None, NEW: train.members[-2].edits[NEW].entry}  # type: ignore[union-attr]
    assert set(last.edits) == {NEW}
    assert last.collided[0].intents == ("mover", "e0", "e1")
    assert set(train.edits) == {OLD, NEW}
    outcomes = one.land_all(*submissions)
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert one.files() == {NEW: at(2, whole=at(15, whole=at(9)))}
    one.assert_whole()


def test_renames_by_people_and_one_behind_the_other_are_followed(world: Make) -> None:
    one = world({OLD: BASE, b"keep": b"k\n"})
    late, later = one.submission("late", [edit(15)]), one.submission("later", [edit(2)])
    first = one.foreign({OLD: None, b"mid.py": at(9)})
    people = [first]
    assert all_landed(
        in_turn(
            one,
            one.submission("other", {b"keep": b"kept\n"}),
            lambda: one.submission("mover", [Rename(path=RepoPath(b"mid.py"), target=NEW)]),
            late,
            lambda: people.append(one.foreign({NEW: None, b"last.py": one.files()[NEW]})),
            later,
        )
    )
    second = people[1]
    (collided,) = one.record("late").collisions
    assert collided.moved_to == NEW
    assert collided.foreign == (first,)
    assert collided.intents == ("mover",)
    assert one.files()[b"last.py"] == at(2, whole=at(15, whole=at(9)))
    assert one.record("later").collisions[0].foreign == (first, second)
    one.assert_whole()


def test_a_rename_carries_what_main_wrote_into_the_file(world: Make) -> None:
    one = world({OLD: BASE})
    mover = one.submission("mover", [MOVE, Write(path=NEW, content=at(2))])
    assert all_landed(in_turn(one, one.submission("editor", [edit(15)]), mover))
    assert one.files() == {NEW: at(2, whole=at(15))}
    (collided,) = one.record("mover").collisions
    assert (collided.path, collided.moved_to, collided.intents) == (OLD, NEW, ("editor",))
    one.assert_whole()


def test_a_file_that_is_deleted_and_written_elsewhere_is_a_rename_too(world: Make) -> None:
    one = world({OLD: BASE})
    mover = one.submission("mover", [Delete(path=OLD), Write(path=NEW, content=at(2))])
    assert all_landed(in_turn(one, one.submission("editor", [edit(15)]), mover))
    assert one.files() == {NEW: at(2, whole=at(15))}


def test_two_that_rename_a_file_alike_both_land(world: Make) -> None:
    one = world({OLD: BASE})
    other = one.submission("other", [MOVE, Write(path=NEW, content=at(15))])
    assert all_landed(in_turn(one, one.submission("mover", [MOVE]), other))
    assert one.files() == {NEW: at(15)}
    one.assert_whole()


@pytest.mark.parametrize(
    ("ahead", "behind", "why"),
    [
        ([MOVE], [Rename(path=OLD, target=OTHER)], "moved here to lib/other.py, on main to lib/new.py: author"),
        ([Delete(path=OLD)], [MOVE], "deleted on main, moved here to lib/new.py: author"),
        ([MOVE], [Delete(path=OLD)], "deleted here, moved on main to lib/new.py: author"),
        (
            [edit(2), Write(path=NEW, content=b"taken\n")],
            [MOVE],
            "moved here to lib/new.py, where main has another file now: author",
        ),
        (
            [MOVE],
            [edit(2), Write(path=NEW, content=b"own\n")],
            "moved on main to lib/new.py, which the change writes itself: author",
        ),
        (
            [Delete(path=OLD), *(Write(path=path, content=at(1)) for path in (NEW, OTHER))],
            [edit(2)],
            "2 equal",
        ),
    ],
    ids=["both renamed", "renamed and deleted", "deleted and renamed", "target taken", "writes the target", "two fit"],
)
@pytest.mark.parametrize("landed", [True, False], ids=["landed", "in its own train"])
def test_what_cannot_follow_is_sent_back_with_the_reason(
    world: Make, ahead: Sequence[AnyOperation], behind: Sequence[AnyOperation], why: str, landed: bool
) -> None:
    one = world({OLD: BASE, b"keep": b"k\n"})
    first, second = one.submission("first", ahead), one.submission("second", behind)
    train = Train(name="main#1.1", lane="main", base=one.main.tip)
    if landed:
        landed_first, outcome = in_turn(one, first, second)
        assert isinstance(landed_first, Landed)
        assert isinstance(outcome, SentBack)
        assert why in outcome.reason or "it may have moved" in outcome.reason
        assert one.landed() == ["first"]
        return
    assert one.builder.couple(train, first) is None
    stuck = one.builder.couple(train, second)
    assert isinstance(stuck, Stuck)
    assert stuck.ahead
    declined = [step.declined for collided in stuck.collided for step in collided.steps]
    assert any(why in one or "it may have moved" in one for one in declined)


def test_a_merge_that_conflicts_at_the_new_place_names_it(world: Make) -> None:
    one = world({OLD: BASE})
    late = one.submission("late", [edit(2, b"late\n")])
    mover = one.submission("mover", [MOVE, Write(path=NEW, content=at(2, b"mover\n"))])
    _, outcome = in_turn(one, mover, late)
    assert isinstance(outcome, SentBack)
    assert "src/old.py (now lib/new.py): merge: both sides changed the same lines" in outcome.reason
    assert "src/old.py (now lib/new.py) was moved by mover" in outcome.detail
    assert "lib/new.py line 3\n--- as it was\nline 2\n--- as main has it now\nmover\n" in outcome.detail


def test_a_change_that_writes_a_shared_path_does_not_follow(world: Make) -> None:
    one = world({OLD: BASE, b"index": b"- `a` `x`\n"}, shared={b"index": "sorted-index"})
    late = one.submission(
        "late", [edit(15), Write(path=RepoPath(b"index"), content=b"- `a` `x`\n- `src/old.py` `y`\n")]
    )
    _, outcome = in_turn(one, one.submission("mover", [MOVE]), late)
    assert isinstance(outcome, SentBack)
    assert "moved on main to lib/new.py, and what it writes in index names the old path: model" in outcome.reason
    assert one.files() == {NEW: BASE, b"index": b"- `a` `x`\n"}


def test_a_scope_is_aimed_where_main_has_it_now(world: Make) -> None:
    one = world({OLD: BASE, b"gone": BASE.upper(), b"keep": b"k\n"})
    intent = Intent(id="i", asked="Do.", scope=(OLD, RepoPath(b"keep"), RepoPath(b"made")))
    assert one.main.placed(intent) == intent
    one.land_all(one.submission("mover", [MOVE]), one.submission("deleter", [Delete(path=RepoPath(b"gone"))]))
    aimed = one.main.placed(intent)
    assert isinstance(aimed, Intent)
    assert aimed.scope == (NEW, b"keep", b"made")
    gone = one.main.placed(Intent(id="g", asked="Do.", scope=(RepoPath(b"gone"),)))
    assert gone == Declined(why="gone was deleted on main by deleter: author")


def test_a_model_that_redoes_a_change_holds_the_place_that_its_file_moved_to(world: Make) -> None:
    one = world({OLD: BASE, NEW: BASE, OTHER: BASE})
    replayed, there, elsewhere = (one.submission(path.decode(), {path: at(2)}) for path in (OLD, NEW, OTHER))
    replayed.stuck_at = (Collided(path=OLD, kind=Kind.MOVED, moved_to=NEW),)
    reservations = Reservations()
    assert reservations.hold(replayed)
    assert reservations.blocked(there)
    assert not reservations.blocked(elsewhere)
    reservations.wait(there)
    assert reservations.release(replayed) == [there]


def test_landings_of_an_earlier_sitting_are_followed_as_well(world: Make) -> None:
    one = world({OLD: BASE})
    base = one.main.tip
    one.land_all(one.submission("mover", [MOVE]))
    moved = one.tip()
    one.foreign({NEW: None, b"last.py": BASE})
    with Reader(one.repository) as reader:
        again = one.main_of(reader)
        again.remember("mover", moved, [OLD, NEW], before=base)
        again.pass_by(one.tip(), moved)
        assert again.where(OLD, 0) == b"last.py"
        assert again.where(NEW, 1) == b"last.py"
        assert again.where(NEW, 2) == NEW
        assert again.where(RepoPath(b"never"), 0) == b"never"
        assert again.fork_at(CommitId(moved), [NEW]).position == 1


def test_a_file_that_was_made_anew_at_the_old_path_is_another_file(world: Make) -> None:
    one = world({OLD: BASE, NEW: b"n\n"})
    position = one.main.position
    mover = one.submission("mover", [Rename(path=OLD, target=OTHER)])
    assert all_landed(in_turn(one, mover, lambda: one.submission("maker", {OLD: b"a stub\n"})))
    assert one.main.where(OLD, position) == OTHER
    assert one.main.where(OLD, one.main.position) == OLD

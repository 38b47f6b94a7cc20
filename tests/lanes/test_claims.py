"""What a change claims while a model redoes it, and who waits for whom because of that."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import pytest
from lane_world import World

from lanes.claims import claimed, meet
from lanes.reservations import Reservations
from lanes.submission import Landed, Outcome, Submission
from qodebase import events
from qodebase.change import EXECUTABLE, AnyOperation, Change, Delete, SetMode, Write
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Redone, ReplayRequest, ThrownAway, Tree, Verdict
from qodebase.record import Usage

Make = Callable[..., World]
PATH = RepoPath(b"shop.py")
NAMES = ("f", "g", "h", "k")
BASE = b"import math\n\n\n" + b"\n\n".join(b"def %s(x):\n    a = 1\n    return x\n" % name.encode() for name in NAMES)


def edited(*names: str, text: str = "a = 2", base: bytes = BASE) -> bytes:
    """Return the base with some functions edited."""
    for name in names:
        head = b"def %s(x):\n    " % name.encode()
        base = base.replace(head + b"a = 1", head + text.encode())
    return base


def claim(one: World, content: bytes, path: RepoPath = PATH) -> set[str] | None:
    parts = claimed(one.submission("i", {path: content}), [path])[path]
    return None if parts is None else set(parts)


def test_edits_within_functions_claim_these_and_no_others(world: Make) -> None:
    one = world({PATH: BASE})
    assert claim(one, edited("f")) == {"f"}
    assert claim(one, edited("f", "h")) == {"f", "h"}


def test_what_comes_between_two_definitions_claims_the_place(world: Make) -> None:
    one = world({PATH: BASE})
    assert claim(one, b"# licence\n" + BASE) == {"after "}
    assert claim(one, BASE + b"\n\nprint(f)\n") == {"k"}  # its lines touch those of the last function
    assert claim(one, BASE.replace(b"return x\n\n\ndef g", b"return x\n\n\ndef new():\n    pass\n\n\ndef g")) == {"g"}


def test_of_a_class_the_methods_are_claimed_apart(world: Make) -> None:
    methods = b"".join(
        b"    def %s(self):\n        one()\n        two()\n        three()\n\n" % name for name in (b"m", b"n")
    )
    base = b"class A:\n" + methods
    one = world({PATH: base})
    assert claim(one, base.replace(b"two", b"2", 1)) == {"A.m"}
    assert claim(one, base.replace(b"two", b"2")) == {"A.m", "A.n"}


@pytest.mark.parametrize("path", [b"notes.txt", b"empty.py"])
def test_a_path_without_definitions_is_claimed_whole(world: Make, path: bytes) -> None:
    one = world({b"notes.txt": b"a\nb\n", b"empty.py": b"# nothing\n"})
    assert claim(one, b"a\nc\n", RepoPath(path)) is None


@pytest.mark.parametrize("operation", [Delete(path=PATH), SetMode(path=PATH, mode=EXECUTABLE)])
def test_a_change_of_the_file_itself_claims_it_whole(world: Make, operation: AnyOperation) -> None:
    one = world({PATH: BASE})
    assert claimed(one.submission("i", [operation]), [PATH]) == {PATH: None}


def test_a_new_file_and_one_that_the_change_only_may_touch_are_claimed_whole(world: Make) -> None:
    one = world({PATH: BASE})
    new, other = RepoPath(b"new.py"), RepoPath(b"other.py")
    submission = one.submission("i", {PATH: edited("f"), new: BASE})
    assert claimed(submission, [PATH, new, other]) == {PATH: frozenset({"f"}), new: None, other: None}


def test_whole_paths_meet_whatever_is_claimed_of_them() -> None:
    assert meet(None, frozenset({"f"}))
    assert meet(frozenset({"f"}), None)
    assert meet(frozenset({"f", "g"}), frozenset({"g"}))
    assert not meet(frozenset({"f"}), frozenset({"g"}))


def test_replays_of_one_file_run_beside_each_other_where_they_claim_different_functions(world: Make) -> None:
    one = world({PATH: BASE})
    first, second, third = (one.submission(name, {PATH: edited(*name)}) for name in ("f", "g", "fh"))
    held = Reservations()
    assert held.hold(first)
    assert held.hold(second)
    assert held.blocked(third)
    assert not held.hold(third)
    assert held.wait(third) == []
    assert held.release(second) == []
    assert held.release(first) == [third]
    assert held.blocked(first)


def test_whoever_waits_holds_nothing_so_that_two_never_wait_for_each_other(world: Make) -> None:
    one = world({PATH: BASE})
    edits = {"first": "f", "second": "g", "behind": "f"}
    first, second, behind = (one.submission(name, {PATH: edited(edit)}) for name, edit in edits.items())
    held = Reservations()
    assert held.hold(first)
    assert held.hold(second)
    assert held.blocked(behind)
    held.wait(behind)
    # Redone, it edits what the other one holds.
    first.change = one.submission("first", {PATH: edited("f", "g")}).change
    assert held.blocked(first)
    assert held.wait(first) == [behind]
    assert held.release(behind) == []
    assert held.release(second) == [first]


def test_who_waits_for_what_a_holder_held_at_first_goes_on_when_it_has_ended(world: Make) -> None:
    one = world({PATH: BASE})
    first, behind = (one.submission(name, {PATH: edited("f")}) for name in ("first", "behind"))
    held = Reservations()
    assert held.hold(first)
    held.wait(behind)
    first.change = one.submission("first", {PATH: edited("g")}).change
    assert held.hold(first)
    assert held.release(first) == [behind]


def test_of_several_that_wait_the_first_of_a_queue_goes_on_first(world: Make) -> None:
    one = world({PATH: BASE})
    names = ("holder", "late", "urgent")
    holder, late, urgent = (one.submission(name, {PATH: edited("f")}) for name in names)
    urgent.intent = msgspec.structs.replace(urgent.intent, priority=0)
    held = Reservations()
    assert held.hold(holder)
    held.wait(late)
    held.wait(urgent)
    assert held.release(holder) == [urgent]
    assert held.release(urgent) == [late]


def test_a_replay_that_came_to_nothing_bars_only_those_behind_it(world: Make) -> None:
    one = world({PATH: BASE})
    first, second, third = (one.submission(name, {PATH: edited("f")}) for name in ("first", "second", "third"))
    for order, submission in enumerate((first, second, third)):
        submission.order = order
    held = Reservations()
    assert held.hold(second)
    assert held.blocked(first)
    held.wait(first)
    held.wait(third)
    assert held.rest(second) == [first]
    assert held.blocked(second)
    assert held.blocked(third)
    held.wait(second)
    assert held.release(first) == [second]


@pytest.mark.parametrize("seed", range(20))
def test_nobody_waits_whom_nothing_bars_and_nobody_goes_on_whom_something_bars(seed: int, world: Make) -> None:
    chance = random.Random(seed)
    paths = [RepoPath(b"%d" % number) for number in range(4)]
    one = world(dict.fromkeys(paths, b"old\n"))
    made = [
        one.submission(
            f"{number}", dict.fromkeys(chance.sample(paths, chance.randint(1, 3)), b"new\n"), priority=priority
        )
        for number, priority in enumerate(chance.choices((0, 100), (1, 5), k=12))
    ]
    held, holding, waiting = Reservations(), list[Submission](), list[Submission]()
    for order, submission in enumerate(made):
        submission.order = order

    def go_on(freed: list[Submission]) -> None:
        assert freed == sorted(freed, key=lambda submission: submission.rank)
        for submission in freed:
            waiting.remove(submission)
            holding.append(submission)
        assert not any(held.blocked(submission) for submission in freed)
        assert all(held.blocked(submission) and held.holders(submission) for submission in waiting)

    while made or waiting:
        if made and (not holding or chance.random() < 0.5):
            submission = made.pop(chance.randrange(len(made)))
            if held.hold(submission):
                holding.append(submission)
                continue
            waiting.append(submission)
            go_on(held.wait(submission))
        submission = chance.choice(holding)
        if chance.random() < 0.3:
            go_on(held.rest(submission))
        elif held.blocked(submission):
            holding.remove(submission)
            waiting.append(submission)
            go_on(held.wait(submission))
        else:
            holding.remove(submission)
            go_on(held.release(submission))


class Redoes:
    """Adds a line to the function that an intent is named after; says who is being redone at the same time."""

    def __init__(self) -> None:
        self.now: set[str] = set()
        self.beside: set[frozenset[str]] = set()

    async def redo(self, request: ReplayRequest, fork: Tree) -> Redone:
        self.now.add(request.intent.id)
        for _ in range(20):
            await asyncio.sleep(0)
        self.beside.add(frozenset(self.now))
        name = request.intent.id[0].encode()
        head = b"def %s(x):\n" % name
        content = fork.read(PATH).replace(head, head + b"    %s = 1\n" % request.intent.id.encode())
        await asyncio.sleep(0)
        self.now.remove(request.intent.id)
        change = Change(base=fork.commit, operations=(Write(path=PATH, content=content),))
        return Redone(change=change, model="m", usage=Usage(), plan={})


def test_changes_of_one_file_are_redone_at_the_same_time_and_all_land(world: Make) -> None:
    redo = Redoes()
    one = world({PATH: BASE}, redo=redo)

    def made(name: str) -> Submission:
        return one.submission(name, {PATH: edited(name[0], text=f"a = {name[1]}2")})

    outcomes = one.land_all(*(made(name + number) for name in NAMES for number in "123"))
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert max(map(len, redo.beside)) > 1
    assert not any(len({name[0] for name in names}) < len(names) for names in redo.beside)
    content = one.files()[PATH].decode()
    assert sorted(content.count(f"{name}{number} = 1") for name in NAMES for number in "123") == [0] * 4 + [1] * 8
    one.assert_whole()


class Held:
    """A checker that finds everything green, the first time only when it may."""

    def __init__(self) -> None:
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
        self.asked.set()
        await self.go.wait()
        return Judgement(tree=tree, verdict=Verdict.GREEN, checks=tuple(checks), reads=dict.fromkeys(checks, ()))


class RedoesAhead(Redoes):
    """Answers on a guessed state when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def redo_ahead(
        self, request: ReplayRequest, fork: Tree, settled: Callable[[Change], Awaitable[Change | None]]
    ) -> Redone | ThrownAway:
        self.asked.set()
        await self.go.wait()
        redone = await self.redo(request, fork)
        change = await settled(redone.change)
        return ThrownAway(usage=redone.usage) if change is None else msgspec.structs.replace(redone, change=change)


def test_what_lands_beside_a_replay_on_a_guess_that_came_true_does_not_make_it_worthless(world: Make) -> None:
    redo, checker = RedoesAhead(), Held()
    one = world({PATH: BASE}, redo=redo, checker=checker)
    first, second, beside = (
        one.submission(name, {PATH: edited(name[0], text=f"a = {name[1]}2")}) for name in ("f1", "f2", "g1")
    )

    async def work() -> list[Outcome]:
        async with one.serving() as yard:
            futures = [yard.submit(first)]
            await checker.asked.wait()
            futures.append(yard.submit(second))
            await redo.asked.wait()
            checker.go.set()
            await futures[0]
            futures.append(yard.submit(beside))
            await futures[2]
            redo.go.set()
            return [await future for future in futures]

    outcomes = asyncio.run(work())
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert one.landed() == ["f1", "g1", "f2"]
    assert one.events(events.Wasted) == []
    assert one.record("f2").replay == 1
    content = one.files()[PATH]
    assert all(text in content for text in (b"f2 = 1\n    a = 12", b"def g(x):\n    a = 12"))
    one.assert_whole()

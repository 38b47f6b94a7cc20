from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from code_world import Sums, code_world, run, submit
from lane_world import World, git

from lanes.policy import Policy
from lanes.submission import Landed, SentBack
from qodebase import events
from qodebase.change import Change, Write
from qodebase.clock import VirtualClock
from qodebase.collision import Kind
from qodebase.paths import RepoPath
from qodebase.ports import Judgement
from qodebase.trunk.files import Files
from qodebase.trunk.landing import DiskTrouble

Make = Callable[..., World]
BASE = b"".join(b"line %d\n" % number for number in range(20))


def at(number: int, text: bytes) -> bytes:
    """Return the base with one line replaced."""
    return BASE.replace(b"line %d\n" % number, text)


def foreign_events(world: World) -> list[events.Foreign]:
    return [event for event in world.events(events.Foreign) if isinstance(event, events.Foreign)]


def test_a_flood_lands_in_few_steps_and_a_lone_change_at_once(world: Make) -> None:
    one = world({b"x": b""}, lanes={f"l{number}": [f"/l{number}/**"] for number in range(40)})
    flood = [one.submission(f"i{number}", {b"l%d/f" % number: b"1"}) for number in range(40)]

    async def work() -> tuple[int, int]:
        async with one.serving() as yard:
            for future in [yard.submit(submission) for submission in flood]:
                await future
            steps = one.syncs
            await yard.submit(one.submission("lone", {b"l1/g": b"1"}))
            return steps, one.syncs

    steps, all_steps = asyncio.run(work())
    assert steps < 20
    assert all_steps == steps + 1
    assert len(one.landed()) == 41
    one.assert_whole()


def test_trains_without_checks_whose_trees_are_asked_for_together_land_in_one_step(world: Make) -> None:
    one = world({b"x": b""}, lanes={f"l{number}": [f"/l{number}/**"] for number in range(40)})
    outcomes = one.land_all(*(one.submission(f"i{at}", {b"l%d/f" % at: b"1"}, checks=()) for at in range(40)))
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert one.syncs == 1
    one.assert_whole()


def test_everything_that_was_journalled_is_synced_before_main_moves(world: Make) -> None:
    one = world({b"x": b""})
    synced: list[tuple[str, str]] = []
    sync = one.desk._sync

    def watched() -> None:
        sync()
        synced.append((threading.current_thread().name, one.tip()))

    one.desk._sync = watched
    one.land_all(one.submission("a", {b"a": b"1"}))
    assert synced == [("trunk_0", one.base)]


def test_commits_of_a_person_under_a_change_are_met_and_nothing_is_lost(world: Make) -> None:
    one = world({b"a": BASE, b"b": b"b\n"})
    merged, stuck, untouched = (
        one.submission("merged", {b"a": at(15, b"mine\n")}),
        one.submission("stuck", {b"b": b"mine\n"}),
        one.submission("untouched", {b"c": b"c\n"}),
    )
    theirs = [one.foreign({b"a": at(2, b"theirs\n")}), one.foreign({b"b": b"theirs\n", b"d": b"d\n"})]
    outcomes = one.land_all(merged, stuck, untouched)
    assert [isinstance(outcome, Landed) for outcome in outcomes] == [True, False, True]
    assert isinstance(outcomes[1], SentBack)
    assert one.files() == {
        b"a": at(2, b"theirs\n").replace(b"line 15\n", b"mine\n"),
        b"b": b"theirs\n",
        b"c": b"c\n",
        b"d": b"d\n",
    }
    met = foreign_events(one)
    assert sorted(commit for event in met for commit in event.commits) == sorted(theirs)
    (collided,) = one.record("merged").collisions
    assert (collided.path, collided.kind, collided.resolved_by) == (b"a", Kind.CONTENT, "merge")
    one.assert_whole()


@pytest.mark.parametrize("every", [1, 3])
def test_commits_of_another_process_between_the_steps_are_kept_and_named_once(world: Make, every: int) -> None:
    one = world({b"shared": BASE}, policy=Policy(train_max=2))
    theirs: list[str] = []

    def commit(members: tuple[str, ...]) -> None:
        if len(theirs) < 8 and len(one.checker.ran) % every == 0:
            theirs.append(one.foreign({b"theirs-%d" % len(theirs): b"1", b"mine-%d" % len(theirs): b"theirs\n"}))

    one.checker.before = commit
    submissions = [one.submission(f"i{number}", {b"mine-%d" % number: b"mine\n"}) for number in range(12)]
    outcomes = one.land_all(*submissions)
    files = one.files()
    for number in range(len(theirs)):
        assert files[b"theirs-%d" % number] == b"1"
    for number, outcome in enumerate(outcomes):
        if isinstance(outcome, Landed):
            assert files[b"mine-%d" % number] in (b"mine\n", b"theirs\n")
        else:
            assert files[b"mine-%d" % number] == b"theirs\n"
    met = [commit for event in foreign_events(one) for commit in event.commits]
    assert len(set(met)) == len(met)
    on_main = [commit.id for commit in one.reader.log(one.tip(), one.base)]
    assert set(met) == set(theirs) & set(on_main[on_main.index(one.main.tip) :])
    assert set(theirs) < set(on_main)
    assert len(one.landed()) == sum(isinstance(outcome, Landed) for outcome in outcomes)
    git(one.repository, "fsck", "--strict", "--no-dangling")


def test_a_process_that_commits_all_the_time_neither_stops_the_run_nor_loses_a_commit(
    world: Make, tmp_path: Path
) -> None:
    one = world({b"x": b""}, policy=Policy(train_max=4))
    script = (
        "import subprocess, sys\n"
        "def git(*words):\n"
        "    return subprocess.run(['git', '-C', sys.argv[1], '-c', 'user.name=P', '-c', 'user.email=p@p', *words],"
        " capture_output=True, text=True)\n"
        "done = 0\n"
        "for number in range(200):\n"
        "    tip = git('rev-parse', 'refs/heads/main').stdout.strip()\n"
        "    commit = git('commit-tree', tip + '^{tree}', '-p', tip, '-m', f'by a person {number}').stdout.strip()\n"
        "    done += git('update-ref', 'refs/heads/main', commit, tip).returncode == 0\n"
        "    print(done, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, one.repository], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as person:
        assert person.stdout is not None
        assert person.stdout.readline()
        outcomes = one.land_all(*(one.submission(f"i{number}", {b"f%d" % number: b"1"}) for number in range(24)))
        person.terminate()
        said = person.stdout.read().split()
    assert all(isinstance(outcome, Landed) for outcome in outcomes)
    assert len(one.landed()) == 24
    subjects = git(one.repository, "log", "--format=%s", "main").decode().split("\n")
    assert sum(line.startswith("by a person") for line in subjects) >= int(said[-1] if said else 1)
    met = [commit for event in foreign_events(one) for commit in event.commits]
    assert len(set(met)) == len(met)
    git(one.repository, "fsck", "--strict", "--no-dangling")


def test_foreign_commits_stand_in_the_journal_before_what_landed_on_them(world: Make) -> None:
    one = world({b"x": b""})
    submission = one.submission("a", {b"a": b"1"})
    commit = one.foreign({b"y": b"1"})
    one.land_all(submission)
    last = one.events()[-2:]
    assert isinstance(last[0], events.Foreign)
    assert isinstance(last[1], events.Landed)
    assert (last[0].commits, last[1].parent) == ((commit,), commit)


class Gated(Files):
    """The real files; a move of a ref waits for leave, or the disk fails."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = threading.Event()
        self.leave = threading.Event()
        self.leave.set()
        self.broken = False

    def rename(self, old: Path, new: Path) -> None:
        if self.broken:
            raise OSError(errno.ENOSPC, "No space left on device")
        if new.name == "main":
            self.arrived.set()
            assert self.leave.wait(30)
        super().rename(old, new)


def test_what_the_trunk_finished_is_reported_when_the_run_is_cancelled_in_the_middle_of_a_step(world: Make) -> None:
    files = Gated()
    one = world({b"x": b""}, files_of_trunk=files)

    async def work() -> None:
        files.leave.clear()
        async with asyncio.timeout(30):
            serving = asyncio.ensure_future(one.yard.serve())
            await asyncio.sleep(0)
            outcome = one.yard.submit(one.submission("a", {b"a": b"1"}))
            assert await asyncio.to_thread(files.arrived.wait, 30)
            serving.cancel()
            await asyncio.sleep(0)
            assert not serving.done()
            files.leave.set()
            with pytest.raises(asyncio.CancelledError):
                await serving
            assert not outcome.done()

    asyncio.run(work())
    assert one.landed() == ["a"]
    one.assert_whole()


def test_a_disk_that_fails_ends_the_run_with_that_error_and_main_is_as_it_was(world: Make) -> None:
    files = Gated()
    one = world({b"x": b""}, files_of_trunk=files, lanes={"a": ["/a/**"], "b": ["/b/**"]})

    async def work() -> None:
        async with one.serving() as yard:
            assert isinstance(await yard.submit(one.submission("fine", {b"a/1": b"1"})), Landed)
            files.broken = True
            futures = [yard.submit(one.submission(name, {f"{name}/2".encode(): b"1"})) for name in "ab"]
            await asyncio.wait(futures)

    with pytest.raises(BaseExceptionGroup) as caught:
        asyncio.run(work())
    found = caught.value.subgroup(DiskTrouble)
    assert found is not None
    error: BaseException = found
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    assert isinstance(error, DiskTrouble)
    assert "No space left" in error.message
    assert error.hint
    assert caught.value.split(DiskTrouble)[1] is None
    assert one.landed() == ["fine"]
    assert one.files() == {b"x": b"", b"a/1": b"1"}


def test_a_journal_that_fails_before_a_step_keeps_main_where_it_is(world: Make) -> None:
    one = world({b"x": b""})

    def fail() -> None:
        raise OSError(errno.EIO, "Input/output error")

    one.desk._sync = fail
    with pytest.raises(BaseExceptionGroup) as caught:
        one.land_all(one.submission("a", {b"a": b"1"}))
    assert caught.value.subgroup(OSError) is not None
    assert one.tip() == one.base
    assert one.landed() == []


def test_what_a_landing_left_of_a_shared_path_is_kept_for_the_next_forks(world: Make) -> None:
    one = world({b"index": b"# Index\n\n"}, shared={b"index": "sorted-index"})
    entries = {name: f"- `{name}` `f` function\n".encode() for name in "ab"}
    one.land_all(*(one.submission(name, {b"index": b"# Index\n\n" + entry}) for name, entry in entries.items()))
    index = RepoPath(b"index")
    fork = one.fork(b"x")
    one.reader.close()
    assert fork.read(index) == b"# Index\n\n" + entries["a"] + entries["b"]
    assert one.main.movers(index, 0) == ["a", "b"]


def test_what_was_judged_behind_a_change_does_not_land_without_it(world: Make) -> None:
    sums = Sums()
    code = {"a": {"f": "1"}, "b": {"g": "2 + a.f"}}
    one = code_world(world, code, sums, lanes={}, shared={b"index": "sorted-index"})
    ahead, behind = submit(one, sums, "ahead", "a.f", "10"), submit(one, sums, "behind", "b.g", "5 + a.f")
    entry = Write(path=RepoPath(b"index"), content=b"- `a` `f` function\n")
    ahead.change = Change(base=ahead.change.base, operations=(*ahead.change.operations, entry))
    ahead.fork = one.fork(b"a/code")
    sums.wanted["behind"] = ("b.g", 15)
    one.foreign({b"index": b"no newline at the end"})
    outcomes = one.land_all(ahead, behind)
    assert [type(outcome) for outcome in outcomes] == [SentBack, SentBack]
    assert one.landed() == []


def test_a_train_whose_checks_run_longer_than_others_take_to_land_goes_first_after_some_turns(world: Make) -> None:
    sums = Sums()
    one = code_world(world, {"a": {"f": "1"}, "b": {"f": "0"}}, sums, clock=VirtualClock())

    class Slow:
        async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
            await one.clock.sleep(60 if "slow" in checks else 5)
            return await sums.check(tree, checks)

    one.gate._checker = Slow()

    async def work() -> None:
        async with one.serving() as yard:
            slow = yard.submit(submit(one, sums, "slow", "a.f", "10 + b.f"))
            for number in range(60):
                quick = submit(one, sums, f"q{number}", "b.f", "0" + " + 0" * number)
                assert isinstance(await yard.submit(quick), Landed)
            assert isinstance(await slow, Landed)

    run(one, work())
    assert one.landed().index("slow") == 35
    one.assert_whole()

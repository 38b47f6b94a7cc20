"""A trunk that lands on a branch of another repository, to which others push as well."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qodebase.trunk import living
from qodebase.trunk.batch import Landed, Moved
from qodebase.trunk.checkouts import CheckedOut
from qodebase.trunk.files import Files
from qodebase.trunk.following import BranchRewritten
from qodebase.trunk.landing import Trunk
from qodebase.trunk.living import BranchKeepsMoving, LivingTrunk, PushRefused
from qodebase.trunk.reader import Reader
from qodebase.trunk.remote import NotReached, Remote, StillPushing

Call = Callable[..., Any]


class Patient(Files):
    """Files that count how often they would wait in real time."""

    def __init__(self) -> None:
        super().__init__(durable=False)
        self.pauses = 0

    def pause(self, seconds: float) -> None:
        assert seconds > 0
        self.pauses += 1


class World:
    """The repository that is landed on, the run's copy of it, and somebody else's clone."""

    def __init__(self, tmp_path: Path, repository: Call, git: Call) -> None:
        self.git = git
        self.there: Path = repository({b"a": b"one", b"b": b"two"}, name="there.git")
        self.copy = tmp_path / "copy.git"
        git(tmp_path, "clone", "--quiet", "--bare", str(self.there), str(self.copy))
        self.base = self.tip(self.there, "main")
        self.clone = tmp_path / "clone"
        git(tmp_path, "clone", "--quiet", str(self.there), str(self.clone))
        self.files = Patient()

    def tip(self, path: Path, ref: str = "docs") -> str:
        return str(self.git(path, "rev-parse", "--verify", "--quiet", ref).decode().strip())

    def open(self, run: str = "run-1", place: str | None = None) -> LivingTrunk:
        return LivingTrunk.onto(
            self.copy,
            branch="main",
            run=run,
            base=self.base,
            place=place or str(self.there),
            land_on="docs",
            _files=self.files,
        )

    def another_pushes(self, name: str = "theirs", content: str = "theirs\n", *, onto: str = "docs") -> str:
        """Let somebody commit one file on top of the branch, in a clone, and push it."""
        self.git(self.clone, "fetch", "--quiet", "origin")
        self.git(self.clone, "checkout", "--quiet", "--detach", f"origin/{onto}")
        (self.clone / name).write_text(content)
        self.git(self.clone, "add", name)
        self.git(self.clone, "commit", "--quiet", "--message", f"{name} by a person")
        self.git(self.clone, "push", "--quiet", "origin", "HEAD:refs/heads/docs")
        return self.tip(self.clone, "HEAD")

    def noted(self, path: Path) -> set[str]:
        with Reader(path) as reader:
            return {commit for commit, _ in reader.notes()}

    def log(self) -> list[str]:
        return list(self.git(self.there, "log", "--format=%s", "--reverse", "docs").decode().splitlines())


@pytest.fixture
def world(tmp_path: Path, repository: Call, git: Call, sound: Call) -> Iterator[World]:
    made = World(tmp_path, repository, git)
    yield made
    for path in (made.there, made.copy):
        sound(path)
        assert not list(path.glob("refs/**/*.lock"))


def land(trunk: Trunk, *landings: Any, again: Callable[[], None] = lambda: None) -> list[Any]:
    results: list[Any] = trunk.land(landings, lambda shared, content: b"", again)
    return results


def test_what_comes_back_as_landed_is_on_the_branch_with_its_note(world: World, landing: Call) -> None:
    with world.open() as trunk:
        first = land(trunk, landing(trunk, {b"a": b"ours"}), landing(trunk, {b"c": b"new"}, intent="two"))
        assert world.tip(world.there) == first[-1].commit == trunk.tip
        assert world.noted(world.there) == {result.commit for result in first}
        (second,) = land(trunk, landing(trunk, {b"c": b"newer"}, intent="three"))
        assert world.tip(world.there) == second.commit
        assert [(push.tip, push.landings, push.tries) for push in trunk.pushed()] == [
            (first[-1].commit, 2, 1),
            (second.commit, 1, 1),
        ]
        assert trunk.pushed() == []
    assert world.log() == ["base", "Change one", "Change two", "Change three"]
    assert world.tip(world.there, "main") == world.base


def test_what_others_pushed_is_main_having_moved(world: World, landing: Call) -> None:
    with world.open() as trunk:
        land(trunk, landing(trunk, {b"c": b"new"}))
        on_a, on_b = landing(trunk, {b"a": b"ours"}, intent="two"), landing(trunk, {b"b": b"ours"}, intent="three")
        theirs = world.another_pushes("a")
        assert trunk.refresh() == theirs
        results = land(trunk, on_a, on_b)
        assert results[0] == Moved(paths=(b"a",), why="main holds something else now")  # type: ignore[arg-type]
        assert results[1].parent == theirs
    assert world.log() == ["base", "Change one", "a by a person", "Change three"]


def test_a_lost_lease_lands_the_same_batch_again_and_nothing_twice(world: World, landing: Call) -> None:
    began: list[str] = []

    def note(landed: Landed) -> bytes:
        began.append(landed.parent)
        if len(began) == 1:
            world.another_pushes(onto="main")
        elif len(began) == 2:
            world.git(world.clone, "notes", "--ref=qodebase", "add", "-m", "a note of theirs", "HEAD")
            world.git(world.clone, "push", "--quiet", "origin", "refs/notes/qodebase")
        return b"note\n"

    again: list[int] = []
    with world.open() as trunk:
        (result,) = land(trunk, landing(trunk, {b"c": b"new"}, note=note), again=lambda: again.append(1))
        assert [push.tries for push in trunk.pushed()] == [3]
    assert (len(again), len(began), world.files.pauses) == (2, 3, 2)
    assert world.log() == ["base", "theirs by a person", "Change one"]
    assert world.tip(world.there) == result.commit == world.tip(world.copy, "main")
    assert world.noted(world.there) == {result.commit, result.parent} == world.noted(world.copy)


def test_two_runs_take_turns_on_one_branch(world: World, tmp_path: Path, landing: Call, git: Call) -> None:
    other = tmp_path / "other.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(world.there), str(other))
    place = {"base": world.base, "place": str(world.there), "land_on": "docs", "_files": Patient()}
    with world.open() as one, LivingTrunk.onto(other, branch="main", run="run-2", **place) as two:
        commits = []
        for number in range(4):
            trunk, run = ((one, "run-1"), (two, "run-2"))[number % 2]
            edits = {b"%s-%d" % (run.encode(), number): b"x"}
            commits += land(trunk, landing(trunk, edits, run=run, intent=str(number)))
    assert world.noted(world.there) == {result.commit for result in commits}
    assert world.log() == ["base", *(f"Change {number}" for number in range(4))]


def test_a_batch_that_was_not_pushed_before_a_kill_is_taken_back(world: World, landing: Call) -> None:
    with world.open() as trunk:
        (first,) = land(trunk, landing(trunk, {b"a": b"ours"}))
    with Trunk.open(world.copy, branch="main", run="run-1") as killed:
        land(killed, landing(killed, {b"b": b"ours"}, intent="two"), landing(killed, {b"c": b"ours"}, intent="three"))
    with world.open() as trunk:
        assert trunk.tip == first.commit
        assert world.noted(world.copy) == {first.commit}
        (second,) = land(trunk, landing(trunk, {b"b": b"ours"}, intent="two"))
    assert world.log() == ["base", "Change one", "Change two"]
    assert world.noted(world.there) == {first.commit, second.commit}


def test_the_first_batch_taken_back_leaves_the_base(world: World, landing: Call) -> None:
    with Trunk.open(world.copy, branch="main", run="run-1") as killed:
        land(killed, landing(killed, {b"b": b"ours"}))
    with world.open() as trunk:
        assert trunk.tip == world.base
    assert world.noted(world.copy) == set()
    world.another_pushes(onto="main")
    with world.open() as trunk:
        assert trunk.tip == world.tip(world.there)


def test_a_push_that_arrived_although_git_says_that_it_failed_counts(
    world: World, landing: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "ssh"
    script.write_text('#!/bin/sh\nfor last; do :; done\nsh -c "$last"\ncase $last in *receive-pack*) exit 1;; esac\n')
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")
    with world.open(place=f"ssh://host{world.there}") as trunk:
        results = [land(trunk, landing(trunk, {b"c": b"%d" % n}, intent=str(n)))[0] for n in range(2)]
        assert [push.tries for push in trunk.pushed()] == [1, 1]
    assert world.log() == ["base", "Change 0", "Change 1"]
    assert world.noted(world.there) == {result.commit for result in results}


def test_a_hook_that_declines_stops_with_its_words_and_leaves_nothing(world: World, landing: Call) -> None:
    hook = world.there / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho this branch is blocked until Monday >&2\nexit 1\n")
    hook.chmod(0o755)
    with world.open() as trunk:
        with pytest.raises(PushRefused, match="blocked until Monday") as refused:
            land(trunk, landing(trunk, {b"c": b"new"}))
        assert refused.value.exit_code == 3
        assert "resume" in refused.value.hint
        assert trunk.tip == world.base == world.tip(world.copy, "main")
        assert world.noted(world.copy) == set()
        hook.unlink()
        land(trunk, landing(trunk, {b"c": b"new"}))
    assert world.log() == ["base", "Change one"]


def test_a_branch_that_moves_at_every_try_is_given_up(
    world: World, landing: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(living, "_TRIES", 6)
    tries: list[int] = []
    parent = [world.base]

    def note(landed: Landed) -> bytes:
        tries.append(1)
        tip = world.git(world.there, "commit-tree", "-m", f"{len(tries)} by a person", "-p", parent[-1], "main^{tree}")
        parent.append(tip.decode().strip())
        world.git(world.there, "update-ref", "refs/heads/docs", parent[-1])
        return b"note\n"

    with world.open() as trunk:
        with pytest.raises(BranchKeepsMoving, match=r"docs of .* at each of 6 tries") as given_up:
            land(trunk, landing(trunk, {b"c": b"new"}, note=note))
        assert given_up.value.exit_code == 3
        assert "resume" in given_up.value.hint
        assert len(tries) == 6
        assert world.files.pauses == 5
    assert world.log() == ["base", *(f"{number} by a person" for number in range(1, 7))]


def test_others_who_merge_our_landings_into_theirs_leave_them_on_one_line(world: World, landing: Call) -> None:
    git, clone = world.git, world.clone
    with world.open() as trunk:
        (first,) = land(trunk, landing(trunk, {b"c": b"new"}))
        git(clone, "checkout", "--quiet", "-b", "docs", "origin/main")
        (clone / "d").write_text("theirs\n")
        git(clone, "add", "d")
        git(clone, "commit", "--quiet", "--message", "on their own")
        git(clone, "fetch", "--quiet", "origin")
        git(clone, "merge", "--quiet", "--no-edit", "origin/docs")
        git(clone, "push", "--quiet", "origin", "docs")
        theirs = world.tip(clone)
        joined = trunk.refresh()
        assert git(world.copy, "rev-parse", f"{joined}^1", f"{joined}^2").decode().split() == [first.commit, theirs]
        assert git(world.copy, "diff", joined, theirs) == b""
    with world.open() as trunk:
        assert trunk.tip == joined
        (second,) = land(trunk, landing(trunk, {b"e": b"new"}, intent="two"))
        assert second.parent == joined
        world.another_pushes()
        (third,) = land(trunk, landing(trunk, {b"f": b"new"}, intent="three"))
    line = git(world.there, "rev-list", "--first-parent", "docs").decode().split()
    assert [commit for commit in line if commit in {first.commit, second.commit, third.commit}] == [
        third.commit,
        second.commit,
        first.commit,
    ]
    assert git(world.there, "merge-base", theirs, "docs").decode().strip() == theirs


def test_a_branch_that_lost_what_it_held_is_refused(world: World, landing: Call) -> None:
    with world.open() as trunk:
        land(trunk, landing(trunk, {b"c": b"new"}))
        world.git(world.there, "update-ref", "refs/heads/docs", world.base)
        with pytest.raises(BranchRewritten, match="it was rewritten"):
            trunk.refresh()
        world.git(world.there, "update-ref", "-d", "refs/heads/docs")
        with pytest.raises(BranchRewritten, match="there is no docs"):
            trunk.refresh()


def test_a_branch_that_does_not_hold_the_base_is_refused(world: World) -> None:
    tree = world.git(world.there, "rev-parse", "main^{tree}").decode().strip()
    alone = world.git(world.there, "commit-tree", "-m", "another root", tree).decode().strip()
    world.git(world.there, "update-ref", "refs/heads/docs", alone)
    with pytest.raises(BranchRewritten, match="from which the run starts"):
        world.open()


def test_a_branch_that_is_behind_the_base_is_brought_to_it(world: World, landing: Call) -> None:
    world.git(world.there, "update-ref", "refs/heads/docs", world.base)
    world.base = world.another_pushes(onto="main")
    world.git(world.copy, "fetch", "--quiet", str(world.there), "docs:main")
    world.git(world.there, "update-ref", "refs/heads/docs", f"{world.base}^")
    with world.open() as trunk:
        assert trunk.tip == world.base
        land(trunk, landing(trunk, {b"c": b"new"}))
    assert world.log() == ["base", "theirs by a person", "Change one"]


def test_notes_on_both_sides_are_united_and_theirs_are_not_overwritten(world: World, landing: Call) -> None:
    git = world.git
    alone = git(world.copy, "commit-tree", "-m", "noted here", "main^{tree}").decode().strip()
    for path, commit, text in (
        (world.copy, alone, "ours"),
        (world.copy, world.base, "ours"),
        (world.there, world.base, "theirs"),
    ):
        git(path, "notes", "--ref=qodebase", "add", "-m", text, commit)
    with world.open() as trunk:
        (result,) = land(trunk, landing(trunk, {b"c": b"new"}))
    assert world.noted(world.there) == {alone, world.base, result.commit}
    assert git(world.there, "notes", "--ref=qodebase", "show", world.base) == b"theirs\n"
    assert git(world.there, "merge-base", "--is-ancestor", world.tip(world.copy, "refs/notes/qodebase"),
               "refs/notes/qodebase") == b""  # fmt: skip


def test_notes_that_somebody_removed_there_come_back(world: World, landing: Call) -> None:
    with world.open() as trunk:
        (first,) = land(trunk, landing(trunk, {b"c": b"new"}))
    world.git(world.there, "update-ref", "-d", "refs/notes/qodebase")
    with world.open() as trunk:
        (second,) = land(trunk, landing(trunk, {b"d": b"new"}, intent="two"))
    assert world.noted(world.there) == {first.commit, second.commit}


def test_a_branch_that_is_checked_out_is_refused_also_when_that_happens_later(world: World, landing: Call) -> None:
    world.git(world.there, "worktree", "add", "--quiet", "-b", "docs", str(world.copy.with_name("tree")), "main")
    with pytest.raises(CheckedOut, match="docs is checked out in"):
        world.open()
    world.git(world.there, "worktree", "remove", str(world.copy.with_name("tree")))
    with world.open() as trunk:
        world.git(world.there, "worktree", "add", "--quiet", str(world.copy.with_name("later")), "docs")
        with pytest.raises(CheckedOut, match="later"):
            land(trunk, landing(trunk, {b"c": b"new"}))
    world.git(world.there, "worktree", "remove", str(world.copy.with_name("later")))
    with world.open() as trunk:
        assert trunk.tip == world.base


def test_a_repository_that_is_gone_is_tried_a_few_times(world: World) -> None:
    with world.open() as trunk:
        world.there.rename(world.there.with_name("moved"))
        with pytest.raises(NotReached, match="git cannot reach docs of") as gone:
            trunk.refresh()
        world.there.with_name("moved").rename(world.there)
        assert gone.value.exit_code == 3
        assert world.files.pauses == 4
        assert trunk.refresh() == world.base


def test_a_push_that_outlives_its_process_is_waited_for(world: World) -> None:
    remote = Remote(world.copy, str(world.there), "docs")
    remote.wait_for_others(world.files)
    with (world.copy / "qodebase" / "push.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        with pytest.raises(StillPushing, match="still pushes to docs of"):
            remote.wait_for_others(world.files)
        assert world.files.pauses > 100
    remote.wait_for_others(world.files)


def test_what_a_push_leaves_in_the_background_is_not_waited_for(world: World, landing: Call, tmp_path: Path) -> None:
    hook = world.there / "hooks" / "post-update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n(exec </dev/null >/dev/null 2>&1; exec sleep 600) &\necho $! > {tmp_path}/keeper\n")
    hook.chmod(0o755)
    try:
        with world.open() as trunk:
            land(trunk, landing(trunk, {b"c": b"new"}))
        world.open().close()
    finally:
        os.kill(int((tmp_path / "keeper").read_text()), signal.SIGKILL)
    assert world.files.pauses == 0

"""Others who move the same refs, hold their locks, or want to be the trunk as well."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dulwich.object_store import DiskObjectStore

from qodebase.trunk.batch import Landed, Moved
from qodebase.trunk.files import Files
from qodebase.trunk.landing import NoSuchBranch, Trunk
from qodebase.trunk.lock import TrunkHeld
from qodebase.trunk.reader import Reader
from qodebase.trunk.refs import RefBusy

Call = Callable[..., Any]


def commit_of_a_person(git: Call, path: Path, name: str, content: bytes) -> str:
    """Make a commit on top of main that sets one file at the root, without moving main."""
    blob = git(path, "hash-object", "-w", "--stdin", input=content).strip()
    lines = [
        line
        for line in git(path, "ls-tree", "-z", "main").split(b"\0")[:-1]
        if line.split(b"\t", 1)[1] != name.encode()
    ]
    lines.append(b"100644 blob %s\t%s" % (blob, name.encode()))
    tree = git(path, "mktree", "-z", input=b"\0".join(lines) + b"\0").strip().decode()
    made: bytes = git(path, "commit-tree", "-m", f"person changes {name}", "-p", "main", tree)
    return made.strip().decode()


def test_commits_of_people_stay_and_paths_that_they_changed_are_collisions(
    repository: Call, landing: Call, git: Call, sound: Call, ls_tree: Call
) -> None:
    path = repository({b"a": b"one", b"b": b"two", b"d/e": b"three"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        on_a, on_b = landing(trunk, {b"a": b"ours"}), landing(trunk, {b"b": b"ours"}, intent="two")
        theirs = commit_of_a_person(git, path, "a", b"theirs")
        git(path, "update-ref", "refs/heads/main", theirs)
        results: Any = trunk.land([on_a, on_b], lambda shared, content: b"")
        assert results[0] == Moved(paths=(b"a",), why="main holds something else now")  # type: ignore[arg-type]
        assert results[1].parent == theirs
        assert dict(trunk.paths()) == ls_tree(path)
    assert git(path, "cat-file", "blob", "main:a") == b"theirs"
    sound(path)


@pytest.mark.parametrize("moved", ["main", "notes"])
def test_a_ref_that_moves_within_a_step_makes_the_step_again_under_its_lock(
    moved: str, repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one", b"b": b"two"})
    theirs = commit_of_a_person(git, path, "a", b"theirs")
    base = git(path, "rev-parse", "main").decode().strip()
    refused: list[int] = []

    def note(landed: Landed) -> bytes:
        if moved == "notes" and not refused:
            git(path, "notes", "--ref=qodebase", "add", "-m", "theirs", base)
            refused.append(0)
        elif moved == "main":
            command = ["git", "-C", str(path), "update-ref", "refs/heads/main", theirs]
            refused.append(subprocess.run(command, capture_output=True, check=False).returncode)
        return b"note\n"

    with Trunk.open(path, branch="main", run="run-1") as trunk:
        results: Any = trunk.land([landing(trunk, {b"b": b"ours"}, note=note)], lambda shared, content: b"")
        assert [type(result) for result in results] == [Landed]
        assert trunk.tip == results[0].commit == git(path, "rev-parse", "main").decode().strip()
    assert git(path, "notes", "--ref=qodebase", "show", "main") == b"note\n"
    if moved == "main":
        assert refused[0] == 0
        assert refused[1] != 0
        assert git(path, "rev-parse", "main^").decode().strip() == theirs
        assert git(path, "notes", "--ref=qodebase", "list").count(b"\n") == 1
    else:
        assert git(path, "notes", "--ref=qodebase", "show", base) == b"theirs\n"
    assert not list(path.glob("refs/**/*.lock"))
    sound(path)


RACER = """
cd "$1"
tree=$(git rev-parse main^{tree})
number=0
while :; do
  number=$((number + 1))
  old=$(git rev-parse main)
  new=$(git commit-tree -m "person $number" -p "$old" "$(git rev-parse "$old^{tree}")")
  if git update-ref refs/heads/main "$new" "$old" 2>/dev/null; then echo "$new"; fi
done
"""


def test_nothing_is_lost_against_a_loop_of_update_ref(repository: Call, landing: Call, git: Call, sound: Call) -> None:
    path = repository({b"a": b"one"})
    landed: list[str] = []
    racer = subprocess.Popen(
        ["bash", "-c", RACER, "racer", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ
        | {f"GIT_{who}_{what}": "racer" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        start_new_session=True,
    )
    assert racer.stdout is not None
    theirs: list[str] = []
    try:
        with Trunk.open(path, branch="main", run="run-1") as trunk:
            while len(theirs) < 25:
                theirs.append(racer.stdout.readline().decode().strip())
                batch = [
                    landing(trunk, {b"f%d" % (len(landed) + number): b"x"}, intent=str(len(landed) + number))
                    for number in range(20)
                ]
                results: Any = trunk.land(batch, lambda shared, content: b"")
                landed += [result.commit for result in results]
    finally:
        os.killpg(racer.pid, signal.SIGKILL)
        rest, _ = racer.communicate()
    theirs += rest.decode().split("\n")[:-1]
    for lock in path.glob("refs/heads/*.lock"):
        lock.unlink()
    on_main = git(path, "rev-list", "--first-parent", "main").decode().split()
    assert set(landed) | set(theirs) <= set(on_main)
    assert len(set(landed)) == 500
    with Reader(path) as reader:
        assert set(dict(reader.notes())) == set(landed)
    sound(path)


class Impatient(Files):
    """Files that do not wait in real time; at the third wait a lock is freed."""

    def __init__(self, lock: Path | None = None) -> None:
        super().__init__()
        self.lock = lock
        self.pauses = 0

    def pause(self, seconds: float) -> None:
        self.pauses += 1
        assert seconds > 0
        if self.pauses == 3 and self.lock is not None:
            self.lock.unlink()


def test_a_lock_that_somebody_holds_for_a_moment_is_waited_for(repository: Call, land: Call) -> None:
    path = repository({b"a": b"one"})
    lock = path / "refs/heads/main.lock"
    files = Impatient(lock)
    with Trunk.open(path, branch="main", run="run-1", _files=files) as trunk:
        lock.write_bytes(b"")
        land(trunk, {b"a": b"two"})
    assert files.pauses == 3


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/notes/qodebase"])
def test_a_lock_that_somebody_keeps_is_named_and_left_alone(
    ref: str, repository: Call, landing: Call, git: Call, land: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    lock = path / f"{ref}.lock"
    lock.parent.mkdir(exist_ok=True)
    with Trunk.open(path, branch="main", run="run-1", _files=Impatient()) as trunk:
        tip = trunk.tip
        lock.write_bytes(b"")
        with pytest.raises(RefBusy, match=f"{ref}.lock is held"):
            trunk.land([landing(trunk, {b"a": b"two"})], lambda shared, content: b"")
        assert trunk.tip == tip == git(path, "rev-parse", "main").decode().strip()
        assert git(path, "for-each-ref", "refs/notes") == b""
        assert [file.name for file in path.glob("qodebase/*")] == ["trunk.lock"]
        lock.unlink()
        land(trunk, {b"a": b"two"})
    sound(path)


def test_a_branch_that_is_deleted_meanwhile_is_an_error(repository: Call, landing: Call, git: Call) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        batch = [landing(trunk, {b"a": b"two"})]
        git(path, "update-ref", "-d", "refs/heads/main")
        with pytest.raises(NoSuchBranch, match="any more"):
            trunk.land(batch, lambda shared, content: b"")


def test_a_second_trunk_is_refused_and_told_who_holds_the_repository(repository: Call) -> None:
    path = repository({b"a": b"one"})
    with (
        Trunk.open(path, branch="main", run="run-1"),
        pytest.raises(TrunkHeld, match=rf"process {os.getpid()} on .*, run run-1, branch refs/heads/main"),
    ):
        Trunk.open(path, branch="main", run="run-2")
    Trunk.open(path, branch="main", run="run-2").close()


def test_the_lock_of_a_dead_holder_is_free_even_while_its_child_lives(repository: Call) -> None:
    path = repository({b"a": b"one"})
    ready, tell = os.pipe()
    wait, end = os.pipe()
    holder = os.fork()
    if not holder:
        trunk = Trunk.open(path, branch="main", run="run-1")
        if not os.fork():
            os.close(end)
            os.read(wait, 1)
            os._exit(0)
        os.write(tell, b"x" if trunk.tip else b"")
        signal.pause()
    assert os.read(ready, 1) == b"x"
    with pytest.raises(TrunkHeld, match=f"process {holder}"):
        Trunk.open(path, branch="main", run="run-2")
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    Trunk.open(path, branch="main", run="run-2").close()
    for descriptor in (ready, tell, wait, end):
        os.close(descriptor)


def test_a_reader_sees_every_landing_without_a_lock(repository: Call, land: Call) -> None:
    path = repository({b"a": b"0", b"d/e": b"x"})
    with Trunk.open(path, branch="main", run="run-1") as trunk, Reader(path) as reader:
        for number in range(1, 9):
            before = reader.tip("main")
            assert before is not None
            landed = land(trunk, {b"a": b"%d" % number}, intent=str(number))
            assert reader.tip("main") == landed.commit
            assert reader.content(landed.commit, b"a") == b"%d" % number
            assert reader.content(before, b"a") == b"%d" % (number - 1)
            assert reader.content(landed.commit, b"d/e") == b"x"
            assert reader.entry(landed.commit, b"d") is None
            assert reader.content(landed.commit, b"none/at/all") is None


class Interrupted(Files):
    """Files where somebody else does something once: before a second name is given, or after a first one."""

    def __init__(self, suffix: str, act: Callable[[], object]) -> None:
        super().__init__(durable=False)
        self.suffix = suffix
        self.act = act
        self.acted = 0

    def at(self, target: Path) -> None:
        if target.name.endswith(self.suffix) and not self.acted:
            self.acted += 1
            self.act()

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self.at(target)

    def link(self, source: Path, target: Path) -> None:
        self.at(target)
        super().link(source, target)


def test_a_pack_that_no_ref_leads_to_yet_outlives_a_repack_of_everything(
    repository: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    files = Interrupted(".idx", lambda: git(path, "repack", "-a", "-d", "-q"))
    with Trunk.open(path, branch="main", run="run-1", _files=files) as trunk:
        landed = land(trunk, {b"a": b"two"})
        assert files.acted == 1
        assert not list(path.glob("objects/pack/*.keep"))
    assert git(path, "rev-parse", "main").decode().strip() == landed.commit
    sound(path)


def test_a_pack_that_somebody_keeps_stays_kept(repository: Call, land: Call, git: Call) -> None:
    path = repository({b"a": b"one"})
    git(path, "repack", "-a", "-d", "-q")
    (base,) = path.glob("objects/pack/*.pack")
    base.with_suffix(".keep").write_bytes(b"")
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"a": b"two"})
    assert list(path.glob("objects/pack/*.keep")) == [base.with_suffix(".keep")]


def test_unfinished_files_that_a_prune_of_everything_removes_are_written_again(
    repository: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    files = Interrupted(".keep", lambda: git(path, "prune", "--expire=now"))
    with Trunk.open(path, branch="main", run="run-1", _files=files) as trunk:
        land(trunk, {b"a": b"two"})
    assert files.acted == 1
    sound(path)


def test_a_ref_that_is_packed_and_whose_folder_goes_as_soon_as_it_moved_has_moved(
    repository: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    git(path, "branch", "team/one", "main")
    files = Interrupted("one", lambda: git(path, "pack-refs", "--all", "--prune"))
    files.durable = True
    with Trunk.open(path, branch="team/one", run="run-1", _files=files) as trunk:
        landed = land(trunk, {b"a": b"two"})
    assert git(path, "rev-parse", "team/one").decode().strip() == landed.commit
    assert not (path / "refs/heads/team").exists()
    sound(path)


def test_an_object_that_is_packed_while_it_is_looked_for_is_found(
    repository: Call, git: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository({b"a": b"one"})
    blob = git(path, "hash-object", "-w", "--stdin", input=b"loose").decode().strip()
    git(path, "update-ref", "refs/tags/loose", blob)
    look = DiskObjectStore._get_loose_object

    def late(store: DiskObjectStore, sha: Any) -> Any:
        git(path, "repack", "-a", "-d", "-q")
        return look(store, sha)

    monkeypatch.setattr(DiskObjectStore, "_get_loose_object", late)
    with Reader(path) as reader:
        assert reader.tip("main") is not None
        assert reader.blob(blob) == b"loose"

"""Killed or out of disk at any instant, the repository is whole and nothing that was reported is missing."""

from __future__ import annotations

import errno
import os
import random
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qodebase.paths import RepoPath
from qodebase.trunk.batch import Landed
from qodebase.trunk.files import Files
from qodebase.trunk.landing import DiskTrouble, Trunk
from qodebase.trunk.reader import Reader

Call = Callable[..., Any]
RUN = "run-1"


class Faulty(Files):
    """Files that do something else at one of their operations; the operations are counted from 1."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        super().__init__()
        self.at = at
        self.act = act
        self.count = 0
        self.names: list[str] = []

    def step(self, name: str) -> None:
        self.count += 1
        self.names.append(name)
        if self.count == self.at:
            self.act()

    def open_new(self, path: Path, mode: int) -> int:
        self.step("create")
        return super().open_new(path, mode)

    def write(self, descriptor: int, chunk: bytes) -> None:
        if self.count + 1 == self.at:
            os.write(descriptor, chunk[: len(chunk) // 2])
        self.step("write")
        super().write(descriptor, chunk)

    def sync(self, descriptor: int) -> None:
        self.step("sync")

    def link(self, source: Path, target: Path) -> None:
        self.step("link")
        super().link(source, target)

    def rename(self, source: Path, target: Path) -> None:
        self.step("rename")
        super().rename(source, target)

    def unlink(self, path: Path) -> None:
        self.step("unlink")
        super().unlink(path)


class Watched(Files):
    """Files that write down what was synced and what was named, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, str]] = []

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self.log.append(("sync", os.readlink(f"/proc/self/fd/{descriptor}")))

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self.log.append(("name", str(target)))


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def disk_full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def land_all(path: Path, landing: Call, files: Files, report: Callable[[str, str], None], intents: range) -> None:
    """Land what has not landed yet, three at a time, and report what the trunk says has landed."""
    with Trunk.open(path, branch="main", run=RUN, _files=files) as trunk, Reader(path) as reader:
        done = reader.landed_intents(RUN, trunk.tip, None)
        left = [str(number) for number in intents if str(number) not in done]
        for at in range(0, len(left), 3):
            names = left[at : at + 3]
            batch = [landing(trunk, {b"d%s/f" % name.encode(): b"x" * 99}, intent=name) for name in names]
            for name, result in zip(names, trunk.land(batch, lambda shared, content: b""), strict=True):
                assert isinstance(result, Landed)
                report(name, result.commit)


def in_a_child(path: Path, landing: Call, files: Files, intents: range) -> tuple[int, int]:
    """Start a process that lands; return its id and where it reports."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            land_all(
                path, landing, files, lambda *pair: void(os.write(write, " ".join(pair).encode() + b"\n")), intents
            )
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    return child, read


def void(anything: object) -> None:
    del anything


def reported(text: bytes) -> dict[str, str]:
    return dict(line.split() for line in text.decode().split("\n")[:-1])


def check(path: Path, claims: dict[str, str], git: Call, sound: Call) -> dict[str, str]:
    """Open the repository again and check that it is whole; return what has landed."""
    Trunk.open(path, branch="main", run=RUN).close()
    left = [*path.glob("refs/**/*.lock"), *path.glob("objects/pack/tmp_*"), *path.glob("qodebase/claim-*")]
    assert left == []
    packs = {file.stem for file in path.glob("objects/pack/*.pack")}
    assert packs == {file.stem for file in path.glob("objects/pack/*.idx")}
    with Reader(path) as reader:
        tip = reader.tip("main")
        assert tip is not None
        log = [dict(commit.trailers).get("Qodebase-Intent") for commit in reader.log(tip)]
        intents = [intent for intent in log if intent is not None]
        assert len(intents) == len(set(intents))
        landed: dict[str, str] = dict(reader.landed_intents(RUN, tip, None))
        assert claims.items() <= landed.items()
        assert set(dict(reader.notes())) == set(landed.values())
        assert {file for file, _ in reader.files(tip)} == {b"a", *(b"d%s/f" % name.encode() for name in landed)}
    sound(path)
    return landed


def test_everything_is_synced_before_the_ref_that_needs_it_moves(repository: Call, land: Call) -> None:
    path = repository({b"a": b"one"})
    files = Watched()
    with Trunk.open(path, branch="main", run=RUN, _files=files) as trunk:
        files.log.clear()
        land(trunk, {b"a": b"two"})
    told = [(what, name.removeprefix(f"{path}/")) for what, name in files.log]
    (pack,) = (name for what, name in told if name.endswith(".pack") and what == "name")
    half = f"{pack.replace('pack-', 'tmp_qodebase_pack-')}.part"
    wanted = [
        ("sync", half),
        ("sync", half.replace(".pack", ".idx")),
        ("name", pack),
        ("name", pack.replace(".pack", ".idx")),
        ("sync", "objects/pack"),
        ("sync", "refs"),
        ("sync", "refs/heads/main.lock"),
        ("sync", "refs/notes/qodebase.lock"),
        ("name", "refs/notes/qodebase"),
        ("sync", "refs/notes"),
        ("name", "refs/heads/main"),
        ("sync", "refs/heads"),
    ]
    assert [
        (
            what,
            name.replace("qodebase/claim-refs%2Fheads%2Fmain", "refs/heads/main.lock").replace(
                "qodebase/claim-refs%2Fnotes%2Fqodebase", "refs/notes/qodebase.lock"
            ),
        )
        for what, name in told
    ] == wanted


def test_a_kill_at_every_operation_in_turn_loses_and_doubles_nothing(
    repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    counted = Faulty(0, kill_myself)
    land_all(repository({b"a": b"one"}, name="count.git"), landing, counted, lambda *pair: None, range(6))
    assert {"create", "write", "sync", "link", "rename", "unlink"} == set(counted.names)
    ends = set()
    for at in range(1, counted.count + 1):
        path = repository({b"a": b"one"}, name=f"{at}.git")
        child, pipe = in_a_child(path, landing, Faulty(at, kill_myself), range(6))
        with open(pipe, "rb") as file:
            claims = reported(file.read())
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        ends.add(len(check(path, claims, git, sound)))
        land_all(path, landing, Files(durable=False), lambda *pair: None, range(6))
        assert len(check(path, claims, git, sound)) == 6
    assert ends == {0, 3, 6}


def kills(path: Path, landing: Call, git: Call, sound: Call, count: int, seed: int) -> None:
    chance = random.Random(seed)
    claims: dict[str, str] = {}
    for number in range(count):
        child, pipe = in_a_child(path, landing, Files(durable=False), range(6 * (number + 1), 6 * (number + 1) + 3000))
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        poll.poll(5000)
        select.select([], [], [], chance.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        with open(pipe, "rb") as file:
            claims |= reported(file.read())
        check(path, claims, git, sound)
    assert claims


def test_kills_at_random_moments_lose_and_double_nothing(
    repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    kills(repository({b"a": b"one"}), landing, git, sound, 8, 7)


@pytest.mark.full
def test_two_hundred_kills_at_random_moments_lose_and_double_nothing(
    repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    kills(repository({b"a": b"one"}), landing, git, sound, 200, 11)


def operations_of_a_step(repository: Call, landing: Call) -> int:
    files = Faulty(0, disk_full)
    with Trunk.open(repository({b"a": b"one"}, name="count.git"), branch="main", run=RUN, _files=files) as trunk:
        trunk.land([landing(trunk, {b"d0/f": b"x"}, intent="0")], lambda shared, content: b"")
        files.count = 0
        trunk.land([landing(trunk, {b"d1/f": b"x"}, intent="1")], lambda shared, content: b"")
    assert files.count > 20
    return files.count


def test_a_disk_that_is_full_at_any_operation_stops_the_step_and_main_stays(
    repository: Call, landing: Call, land: Call, git: Call, sound: Call
) -> None:
    for at in range(1, operations_of_a_step(repository, landing) + 1):
        path = repository({b"a": b"one"}, name=f"{at}.git")
        files = Faulty(0, disk_full)
        with Trunk.open(path, branch="main", run=RUN, _files=files) as trunk:
            first = land(trunk, {b"d0/f": b"x"}, intent="0")
            files.at, files.count, files.names = at, 0, []
            batch = [landing(trunk, {b"d1/f": b"x"}, intent="1")]
            with pytest.raises(DiskTrouble, match="No space left"):
                trunk.land(batch, lambda shared, content: b"")
            if files.names[-1] != "unlink":
                left = [*path.glob("refs/**/*.lock"), *path.glob("objects/pack/tmp_*")]
                assert left == []
            files.at = 0
            moved = git(path, "rev-parse", "main").decode().strip() != first.commit
            assert trunk.refresh() == git(path, "rev-parse", "main").decode().strip()
            assert len(git(path, "notes", "--ref=qodebase", "list").splitlines()) == 1 + moved
            if not moved:
                trunk.land(batch, lambda shared, content: b"")
        assert set(check(path, {"0": first.commit}, git, sound)) == {"0", "1"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_real_disk_that_fills_up_keeps_what_landed(
    small_disk: Path, repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    made = repository({b"a": b"one"})
    path = small_disk / "main.git"
    git(made, "clone", "-q", "--bare", str(made), str(path))
    chance = random.Random(3)
    claims: dict[str, str] = {}

    def fill(trunk: Trunk) -> None:
        for number in range(len(claims), 100):
            name = f"d{number}/f".encode()
            batch = [landing(trunk, {name: chance.randbytes(200_000)}, intent=str(number))]
            (result,) = trunk.land(batch, lambda shared, content: b"")
            assert isinstance(result, Landed)
            claims[str(number)] = result.commit

    with Trunk.open(path, branch="main", run=RUN) as trunk:
        with pytest.raises(DiskTrouble, match="No space left"):
            fill(trunk)
        assert len(claims) >= 3
        assert trunk.refresh() == claims[str(len(claims) - 1)]
        with pytest.raises(DiskTrouble, match="No space left"):
            fill(trunk)
        assert trunk.entry(RepoPath(b"d0/f")) is not None
    assert check(path, claims, git, sound) == claims

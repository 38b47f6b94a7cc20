"""Killed or out of disk at any instant, the repository is whole and nothing that was reported is missing."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from qodebase.commands.bench.support.crashes import (
    Broken,
    check,
    in_a_child,
    killed,
    land_all,
    make_repository,
    reported,
)
from qodebase.paths import RepoPath
from qodebase.trunk.batch import Landed
from qodebase.trunk.files import Files
from qodebase.trunk.landing import DiskTrouble, Trunk

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
    land_all(repository({b"a": b"one"}, name="count.git"), counted, lambda *pair: None, range(6))
    assert {"create", "write", "sync", "link", "rename", "unlink"} == set(counted.names)
    ends = set()
    for at in range(1, counted.count + 1):
        path = repository({b"a": b"one"}, name=f"{at}.git")
        child, pipe = in_a_child(path, Faulty(at, kill_myself), range(6))
        with open(pipe, "rb") as file:
            claims = reported(file.read())
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        ends.add(len(check(path, claims)))
        land_all(path, Files(durable=False), lambda *pair: None, range(6))
        assert len(check(path, claims)) == 6
    assert ends == {0, 3, 6}


def test_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path) -> None:
    *_, last = killed(make_repository(tmp_path / "main.git"), count=8, seed=7, durable=False)
    assert last.kills == 8
    assert last.landed >= last.reported >= 8


@pytest.mark.full
def test_two_hundred_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path) -> None:
    *_, last = killed(make_repository(tmp_path / "main.git"), count=200, seed=11, durable=False)
    assert last.kills == 200
    assert last.in_step


@pytest.mark.parametrize("fault", ["lost", "doubled", "no note", "lock", "half a pack", "tree"])
def test_the_check_after_a_kill_finds_a_planted_fault(fault: str, tmp_path: Path, git: Call, land: Call) -> None:
    path = make_repository(tmp_path / "main.git")
    land_all(path, Files(durable=False), lambda *pair: None, range(3))
    with Trunk.open(path, branch="main", run=RUN) as trunk:
        claims = {}
        if fault == "lost":
            claims = {"7": trunk.tip}
        elif fault == "doubled":
            land(trunk, {b"d1/f": b"again"}, intent="1")
        elif fault == "tree":
            land(trunk, {b"elsewhere": b"x"}, intent="9")
    if fault == "no note":
        git(path, "notes", "--ref=qodebase", "remove", "main")
    elif fault == "lock":
        (path / "refs/heads/main.lock").write_bytes(b"")
    elif fault == "half a pack":
        (path / "objects/pack/pack-0.pack").write_bytes(b"PACK")
    with pytest.raises(Broken):
        check(path, claims)


def operations_of_a_step(repository: Call, landing: Call) -> int:
    files = Faulty(0, disk_full)
    with Trunk.open(repository({b"a": b"one"}, name="count.git"), branch="main", run=RUN, _files=files) as trunk:
        trunk.land([landing(trunk, {b"d0/f": b"x"}, intent="0")], lambda shared, content: b"")
        files.count = 0
        trunk.land([landing(trunk, {b"d1/f": b"x"}, intent="1")], lambda shared, content: b"")
    assert files.count > 20
    return files.count


def test_a_disk_that_is_full_at_any_operation_stops_the_step_unless_it_is_durable_already(
    repository: Call, landing: Call, land: Call, git: Call, sound: Call
) -> None:
    last = operations_of_a_step(repository, landing)
    for at in range(1, last + 1):
        path = repository({b"a": b"one"}, name=f"{at}.git")
        files = Faulty(0, disk_full)
        with Trunk.open(path, branch="main", run=RUN, _files=files) as trunk:
            first = land(trunk, {b"d0/f": b"x"}, intent="0")
            files.at, files.count, files.names = at, 0, []
            batch = [landing(trunk, {b"d1/f": b"x"}, intent="1")]
            told: list[Landed] = []
            with suppress(DiskTrouble):
                told = trunk.land(batch, lambda shared, content: b"")
            if files.names[-1] != "unlink":
                left = [*path.glob("refs/**/*.lock"), *path.glob("objects/pack/tmp_*")]
                assert left == []
            files.at = 0
            moved = git(path, "rev-parse", "main").decode().strip() != first.commit
            assert moved if told else at < last
            assert trunk.refresh() == git(path, "rev-parse", "main").decode().strip()
            assert len(git(path, "notes", "--ref=qodebase", "list").splitlines()) == 1 + moved
            if not moved:
                trunk.land(batch, lambda shared, content: b"")
        assert set(check(path, {"0": first.commit})) == {"0", "1"}


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
    assert check(path, claims) == claims

"""Kill a landing process again and again, and find out whether anything was lost or doubled."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from qodebase.change import REGULAR
from qodebase.commands.bench.support.workload import environment, git
from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath
from qodebase.trailers import INTENT, RUN
from qodebase.trunk.batch import Edit, Landed, Landing, Person
from qodebase.trunk.files import Files
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader

NAME = "run-1"
_TOGETHER = 3
_AHEAD = 3000
_MOST_WAIT_MS = 20_000
_LONGEST = 0.02
"""A kill comes at most so many seconds after the first landing was reported; a step takes about 2 ms."""

Report = Callable[[str, str], None]


class Broken(QodebaseError):
    """A repository that is not what a killed trunk may leave."""

    exit_code = 1


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What a series of kills came to.

    Attributes:
        kills: how many processes were killed.
        landed: the changes on main at the end.
        reported: those that a process had been told of; none of them is missing.
        unreported: those that landed just before a kill, and whose report the kill cut off.
        in_step: kills after which an unfinished step had to be undone or its files removed.
    """

    kills: int
    landed: int
    reported: int
    unreported: int
    in_step: int


def make_repository(path: Path) -> Path:
    """Make a bare repository with one commit of one file ``a`` on main."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "--bare", "-b", "main", ".")
    head = b"commit refs/heads/main\ncommitter P <p@example.org> 1700000000 +0000\ndata 4\nbase\n"
    git(path, "fast-import", "--quiet", input=head + b"M 100644 inline a\ndata 3\none\n")
    return path


def land_all(path: Path, files: Files, report: Report, intents: range) -> None:
    """Land what has not landed yet, three at a time, and report what the trunk says has landed."""
    with Trunk.open(path, branch="main", run=NAME, _files=files) as trunk, Reader(path) as reader:
        done = reader.landed_intents(NAME, trunk.tip, None)
        left = [str(number) for number in intents if str(number) not in done]
        for at in range(0, len(left), _TOGETHER):
            names = left[at : at + _TOGETHER]
            results = trunk.land([_landing(trunk, name) for name in names], lambda shared, content: b"")
            for name, result in zip(names, results, strict=True):
                assert isinstance(result, Landed)
                report(name, result.commit)


def _landing(trunk: Trunk, name: str) -> Landing:
    path = RepoPath(b"d%s/f" % name.encode())
    person = Person(name="Agent", mail="agent@example.org", time=1_700_000_100)
    return Landing(
        message=f"Change {name}",
        author=person,
        committer=person,
        edits={path: Edit(mode=REGULAR, content=b"x" * 99)},
        expects={path: trunk.entry(path)},
        trailers=((RUN, NAME), (INTENT, name)),
        note=lambda landed: f"note of {landed.commit}\n".encode(),
    )


def in_a_child(path: Path, files: Files, intents: range) -> tuple[int, int]:
    """Start a process that lands; return its id and where it reports."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            land_all(path, files, lambda *pair: _say(write, pair), intents)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    return child, read


def _say(pipe: int, pair: tuple[str, str]) -> None:
    os.write(pipe, " ".join(pair).encode() + b"\n")


def reported(text: bytes) -> dict[str, str]:
    """Return what a process reported before its end; a line that was cut off does not count."""
    return dict(line.split() for line in text.decode().split("\n")[:-1])


def leftovers(path: Path) -> list[Path]:
    """Return the files that only an unfinished step leaves."""
    patterns = ("refs/**/*.lock", "objects/pack/tmp_*", "objects/pack/*.keep", "qodebase/claim-*")
    return [file for pattern in patterns for file in path.glob(pattern)]


def check(path: Path, claims: Mapping[str, str]) -> dict[str, str]:
    """Open a repository again, check that it is whole and return what has landed.

    Raises:
        Broken: a temporary file is left, an intent landed twice, one that was reported is missing, a commit has no
            note or a note no commit, the tree is not that of what landed, or ``git fsck --strict`` complains.
    """
    Trunk.open(path, branch="main", run=NAME).close()
    packs = {file.stem for file in path.glob("objects/pack/*.pack")}
    _demand(not leftovers(path), "temporary files are left")
    _demand(packs == {file.stem for file in path.glob("objects/pack/*.idx")}, "a pack has no index")
    with Reader(path) as reader:
        tip = reader.tip("main")
        _demand(tip is not None, "main is gone")
        assert tip is not None
        said = [dict(commit.trailers).get(INTENT) for commit in reader.log(tip)]
        intents = [intent for intent in said if intent is not None]
        _demand(len(intents) == len(set(intents)), "an intent landed twice")
        landed: dict[str, str] = dict(reader.landed_intents(NAME, tip, None))
        _demand(claims.items() <= landed.items(), "a landing that was reported is missing")
        _demand(set(dict(reader.notes())) == set(landed.values()), "notes and commits do not match")
        wanted = {b"a", *(b"d%s/f" % name.encode() for name in landed)}
        _demand({file for file, _ in reader.files(tip)} == wanted, "main's tree is not that of what landed")
    command = ["git", "-C", str(path), "fsck", "--strict", "--full", "--no-dangling", "--no-progress"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    _demand(done.returncode == 0 and not done.stdout + done.stderr, f"git fsck: {done.stdout}{done.stderr}")
    return landed


def _demand(fine: bool, what: str) -> None:
    if not fine:
        raise Broken(f"after a kill {what}")


def killed(path: Path, *, count: int, seed: int, durable: bool) -> Iterator[Tally]:
    """Kill a landing process at so many random moments, check after each, and yield how it stands.

    Raises:
        Broken: something was lost or doubled.
    """
    chance = random.Random(seed)
    claims: dict[str, str] = {}
    landed: dict[str, str] = {}
    in_step = 0
    for number in range(count):
        first = 6 * (number + 1)
        child, pipe = in_a_child(path, Files(durable=durable), range(first, first + _AHEAD))
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        poll.poll(_MOST_WAIT_MS)
        select.select([], [], [], chance.random() * _LONGEST)
        os.kill(child, signal.SIGKILL)
        _demand(os.waitpid(child, 0)[1] == signal.SIGKILL, "the process had ended by itself")
        with open(pipe, "rb") as file:
            claims |= reported(file.read())
        in_step += bool(leftovers(path))
        landed = check(path, claims)
        yield Tally(
            kills=number + 1,
            landed=len(landed),
            reported=len(claims),
            unreported=len(landed) - len(claims),
            in_step=in_step,
        )


def figures(tally: Tally) -> dict[str, int]:
    """Return a tally as plain data, with what none of its kills may have left."""
    return {**msgspec.structs.asdict(tally), "lost": 0, "doubled": 0}

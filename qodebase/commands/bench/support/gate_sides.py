"""Both sides of the bench of the gate."""

from __future__ import annotations

import asyncio
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lanes.checking.checker import SandboxedChecker
from lanes.checking.checkout import Checkout
from lanes.checking.sandbox import Sandbox, available
from lanes.checking.space import space_for_checks
from lanes.checking.trees import Trees
from qodebase.change import REGULAR
from qodebase.check import Check
from qodebase.clock import SystemClock
from qodebase.edits import Edit
from qodebase.errors import QodebaseError
from qodebase.git_environment import FORMATS
from qodebase.paths import RepoPath
from qodebase.ports import Verdict
from qodebase.trunk.batch import Edit as TrunkEdit
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader

TARGETS = {"warm_ms": 150.0, "fixtures_ms": 150.0, "judgement_ms": 100.0, "ratio": 2.0}
"""The most milliseconds of warm judgements, and how many times as long pytest must take that is started anew."""

_FILES = 5
_MANY = 300
_MODULE = RepoPath(b"sums.py")


class NoBench(QodebaseError):
    """What the bench needs is not here, or does not do what it should."""


@dataclass(slots=True)
class _Side:
    """Milliseconds of wall time, and of processor time where it is known, for each tree."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def measure(*, tests: int, repeats: int, sandbox: bool) -> dict[str, Any]:
    """Judge trees on both sides, in turn, and return what the bench prints.

    Raises:
        NoBench: the machine cannot hold checks, or a side finds a tree red.
    """
    why = available() if sandbox else ""
    if why:
        raise NoBench(f"this machine cannot hold checks: {why}", hint="Measure without: --unsafe-checks.")
    with space_for_checks() as space, asyncio.Runner() as runner:
        sides = runner.run(_contest(space, tests, repeats, sandbox=sandbox))
    warm, cold = sides["warm_ms"], sides["cold_ms"]
    figures = {name: round(statistics.median(side.wall), 1) for name, side in sides.items()}
    figures["ratio"] = round(statistics.median(cold.wall) / statistics.median(warm.wall), 2)
    missed = [name for name in sides if figures[name] > TARGETS.get(name, math.inf)]
    missed += [name for name in ("ratio",) if figures[name] < TARGETS[name]]
    return {
        "tests": tests,
        "checks_of_a_judgement": _MANY,
        "trees": repeats,
        "sandbox": sandbox,
        **figures,
        "warm_slowest_ms": round(max(warm.wall), 1),
        "cold_processor_ms": round(statistics.median(cold.processor), 1),
        "targets": TARGETS,
        "missed": missed,
    }


async def _contest(space: Path, tests: int, repeats: int, *, sandbox: bool) -> dict[str, _Side]:
    """Judge one tree more on each side than is counted: the first starts what is warm afterwards."""
    _make_repository(space / "repo.git", tests)
    sides = {name: _Side() for name in ("warm_ms", "fixtures_ms", "judgement_ms", "cold_ms")}
    with Reader(space / "repo.git") as reader, Trunk.open(space / "repo.git", branch="main", run="bench") as trunk:
        trees = Trees(reader)
        plain = _selection("sums")
        many = _many(tests)
        checks = {"plain": plain, "fixtures": _selection("fixtures"), **many}
        asked = {"warm_ms": ["plain"], "fixtures_ms": ["fixtures"], "judgement_ms": list(many)}
        checker = SandboxedChecker(checks, trees, SystemClock(), Sandbox(on=sandbox))
        folder = Checkout(space / "cold")
        try:
            for number in range(repeats + 1):
                for side, names in asked.items():
                    tree = _changed_tree(trunk, trees, tests, number, side)
                    with _timed(sides[side]):
                        judgement = await checker.check(tree, names)
                    if judgement.verdict is not Verdict.GREEN:
                        raise NoBench(f"the gate finds a good tree red: {judgement.output}", hint="Report this.")
                with _timed(sides["cold_ms"]):
                    folder.hold(trees.code(tree), {})
                    _run_anew(folder.root, plain)
        finally:
            await checker.close()
    for one in sides.values():
        del one.wall[0], one.processor[0]
    return sides


def _changed_tree(trunk: Trunk, trees: Trees, tests: int, number: int, side: str) -> str:
    """Return a tree in which one function is another one than in any tree before."""
    edits = {_MODULE: Edit(REGULAR, _module(tests, changed=number % tests, comment=f"{number} {side}"))}
    tree = trunk.tree_with({path: TrunkEdit(mode=edit.mode, content=edit.content) for path, edit in edits.items()})
    trees.tell(tree, trunk.tip_tree, edits)
    return tree


def _selection(kind: str) -> Check:
    return Check(tests=tuple(f"tests/test_{kind}_{number}.py" for number in range(_FILES)))


def _many(tests: int) -> dict[str, Check]:
    """Return many checks of one test each, which bring their files."""
    checks: dict[str, Check] = {}
    for file in range(_FILES):
        lines = [b"from sums import *\n"]
        numbers = range(file, _MANY, _FILES)
        for number in numbers:
            one = number % tests
            lines.append(b"\n\ndef test_%d():\n    assert sum_%d(%d) == %d\n" % (number, one, number, 2 * number))
        path = f"checks/test_{file}.py"
        files = {RepoPath(path.encode()): b"".join(lines)}
        checks |= {f"{number}": Check(tests=(f"{path}::test_{number}",), files=files) for number in numbers}
    return checks


@contextmanager
def _timed(side: _Side) -> Iterator[None]:
    began, used = time.perf_counter(), _processor()
    yield
    side.wall.append(1000 * (time.perf_counter() - began))
    side.processor.append(1000 * (_processor() - used))


def _processor() -> float:
    """Return the processor seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run_anew(folder: Path, check: Check) -> None:
    """Run the tests in a new Python; bytecode of what did not change is kept, as it is for people."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            folder,
            "-c",
            os.devnull,
            *check.tests,
        ],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise NoBench(f"pytest ends with {done.returncode}: {done.stdout.decode()}", hint="Is pytest installed here?")


def _make_repository(path: Path, tests: int) -> None:
    files = {_MODULE: _module(tests)}
    for number in range(_FILES):
        numbers = range(number, tests, _FILES)
        plain = [b"def test_%d():\n    assert sum_%d(%d) == %d\n" % (one, one, one, 2 * one) for one in numbers]
        fixture = b"import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
        asking = [b"def test_%d(two):\n    assert sum_%d(%d) == two * %d\n" % (one, one, one, one) for one in numbers]
        head = b"from sums import *\n"
        files[RepoPath(b"tests/test_sums_%d.py" % number)] = b"\n\n".join([head, *plain])
        files[RepoPath(b"tests/test_fixtures_%d.py" % number)] = b"\n\n".join([head, fixture, *asking])
    stream = [b"commit refs/heads/main\ncommitter B <b@example.org> 1700000000 +0000\ndata 4\nbase\n"]
    stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(text), text) for name, text in files.items()]
    made = ["git", "init", "-q", "--bare", "-b", "main", str(path)]
    subprocess.run(made, capture_output=True, check=True, env={**os.environ, **FORMATS})
    words = ["git", "-C", str(path), "fast-import", "--quiet"]
    subprocess.run(words, input=b"".join(stream), capture_output=True, check=True)


def _module(tests: int, changed: int = -1, comment: str = "") -> bytes:
    """Return the tested module; the changed function does the same in other words."""
    lines = []
    for one in range(tests):
        body = b"return 2 * one  # " + comment.encode() if one == changed else b"return one + one"
        lines.append(b"def sum_%d(one):\n    %s\n" % (one, body))
    return b"\n\n".join(lines)

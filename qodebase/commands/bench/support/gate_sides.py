"""Both sides of the bench of the gate."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lanes.checking.checker import SandboxedChecker
from lanes.checking.checkout import Checkout
from lanes.checking.sandbox import Sandbox, available
from lanes.checking.trees import Trees
from qodebase.change import REGULAR
from qodebase.check import Check
from qodebase.clock import SystemClock
from qodebase.edits import Edit
from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath
from qodebase.ports import Verdict
from qodebase.trunk.batch import Edit as TrunkEdit
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader

TARGETS = {"warm_ms": 150.0, "ratio": 2.0}
"""The most milliseconds of a warm judgement, and how many times as long pytest must take that is started anew."""

_FILES = 5
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
    with tempfile.TemporaryDirectory(prefix="qodebase-bench-") as space, asyncio.Runner() as runner:
        warm, cold = runner.run(_contest(Path(space).resolve(), tests, repeats, sandbox=sandbox))
    warm_ms, cold_ms = statistics.median(warm.wall), statistics.median(cold.wall)
    figures = {"warm_ms": round(warm_ms, 1), "cold_ms": round(cold_ms, 1), "ratio": round(cold_ms / warm_ms, 2)}
    missed = [name for name in ("warm_ms",) if figures[name] > TARGETS[name]]
    missed += [name for name in ("ratio",) if figures[name] < TARGETS[name]]
    return {
        "tests": tests,
        "trees": repeats,
        "sandbox": sandbox,
        **figures,
        "warm_slowest_ms": round(max(warm.wall), 1),
        "cold_processor_ms": round(statistics.median(cold.processor), 1),
        "targets": TARGETS,
        "missed": missed,
    }


async def _contest(space: Path, tests: int, repeats: int, *, sandbox: bool) -> tuple[_Side, _Side]:
    """Judge one tree more on each side than is counted: the first starts what is warm afterwards."""
    _make_repository(space / "repo.git", tests)
    warm, cold = _Side(), _Side()
    with Reader(space / "repo.git") as reader, Trunk.open(space / "repo.git", branch="main", run="bench") as trunk:
        trees = Trees(reader)
        check = Check(tests=tuple(f"tests/test_sums_{number}.py" for number in range(_FILES)))
        checker = SandboxedChecker({"sums": check}, trees, SystemClock(), Sandbox(on=sandbox))
        folder = Checkout(space / "cold")
        try:
            for number in range(repeats + 1):
                edits = {_MODULE: Edit(REGULAR, _module(tests, changed=number % tests, comment=number))}
                tree = trunk.tree_with(
                    {path: TrunkEdit(mode=edit.mode, content=edit.content) for path, edit in edits.items()}
                )
                trees.tell(tree, trunk.tip_tree, edits)
                with _timed(warm):
                    judgement = await checker.check(tree, ("sums",))
                if judgement.verdict is not Verdict.GREEN:
                    raise NoBench(f"the gate finds a good tree red: {judgement.output}", hint="Report this.")
                with _timed(cold):
                    folder.hold(trees.code(tree), {})
                    _run_anew(folder.root, check)
        finally:
            await checker.close()
    for side in (warm, cold):
        del side.wall[0], side.processor[0]
    return warm, cold


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
        lines = [b"from sums import *\n"]
        lines += [
            b"\n\ndef test_sum_%d():\n    assert sum_%d(%d) == %d\n" % (one, one, one, 2 * one)
            for one in range(number, tests, _FILES)
        ]
        files[RepoPath(b"tests/test_sums_%d.py" % number)] = b"".join(lines)
    stream = [b"commit refs/heads/main\ncommitter B <b@example.org> 1700000000 +0000\ndata 4\nbase\n"]
    stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(text), text) for name, text in files.items()]
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], capture_output=True, check=True)
    words = ["git", "-C", str(path), "fast-import", "--quiet"]
    subprocess.run(words, input=b"".join(stream), capture_output=True, check=True)


def _module(tests: int, changed: int = -1, comment: int = 0) -> bytes:
    """Return the tested module; the changed function does the same in other words."""
    lines = []
    for one in range(tests):
        body = b"return %d * one  # %d" % (2, comment) if one == changed else b"return one + one"
        lines.append(b"def sum_%d(one):\n    %s\n" % (one, body))
    return b"\n\n".join(lines)

"""Run tests on many states of the code, in a few warm processes; what these do says `results.scoring.worker`."""

from __future__ import annotations

import json
import marshal
import os
import re
import select
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

from qodebase.errors import QodebaseError
from results.scoring.reach import id_of
from results.scoring.states import Outcome, State, States
from results.scoring.suite import Test

Spawn = Callable[[Sequence[str]], "subprocess.Popen[bytes]"]
"""Starts a command with pipes for standard input and output; it may put it into a sandbox."""

_PRELOADED = re.compile(rb"\b(?:import|from)[ \t]+(pytest|hypothesis)\b")
_GREEN = Outcome(True)
_ANSWER = 64 << 20
_BATCH = 24


class NoWorker(QodebaseError):
    """The process that runs tests does not answer."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one test may use.

    Attributes:
        cpu_s: seconds of processor time; a loop without an end is left after them.
        wall_s: seconds in which it must come to an end, else its process is killed; it then gets a second run.
        memory_bytes: address space of a process.
    """

    cpu_s: float = 1.0
    wall_s: float = 10.0
    memory_bytes: int = 2 << 30


USUAL = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Tests to run on one state."""

    state: State
    tests: Sequence[Test]


def plain(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a command without a sandbox, with nothing of this process's surroundings."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONHASHSEED": "0"},
        cwd="/",
    )


class Runner:
    """Run tasks in ``workers`` processes; close it when done.

    Args:
        states: gives contents.
        tests: all tests that may be run; what they import from outside of the tree is loaded ahead.
        spawn: starts a process.
    """

    def __init__(
        self,
        states: States,
        tests: Sequence[Test],
        *,
        workers: int = 2,
        spawn: Spawn = plain,
        limits: Limits = USUAL,
    ) -> None:
        sources = {test.source for test in tests}
        preload = sorted({found.decode() for source in sources for found in _PRELOADED.findall(source)})
        lock = Lock()
        self.ran = 0
        self._workers = [_Worker(states, lock, spawn, limits, preload) for _ in range(max(1, workers))]

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.close()

    def run(self, tasks: Sequence[Task]) -> list[list[Outcome]]:
        """Return how each test of each task went.

        Raises:
            NoWorker: no process could be started.
        """
        found: list[list[Outcome]] = [[] for _ in tasks]
        size = max(1, min(_BATCH, -(-len(tasks) // len(self._workers))))
        todo = deque(range(start, min(start + size, len(tasks))) for start in range(0, len(tasks), size))

        def serve(worker: _Worker) -> None:
            while True:
                try:
                    batch = todo.popleft()
                except IndexError:
                    return
                for number, outcomes in zip(batch, worker.run([tasks[number] for number in batch]), strict=True):
                    found[number] = outcomes

        with ThreadPoolExecutor(len(self._workers), thread_name_prefix="scoring") as threads:
            for done in [threads.submit(serve, worker) for worker in self._workers]:
                done.result()
        self.ran += sum(map(len, found))
        return found


def _outcomes(red: dict[str, str], tests: int) -> list[Outcome]:
    return [Outcome(False, red[number]) if (number := str(place)) in red else _GREEN for place in range(tests)]


class _Died(Exception):
    """A worker did not answer."""


class _Worker:
    """One process, started when it is needed, and again when it died.

    ``lock`` is held while states are read: their repository serves one thread at a time.
    """

    def __init__(self, states: States, lock: Lock, spawn: Spawn, limits: Limits, preload: Sequence[str]) -> None:
        self._states = states
        self._lock = lock
        self._spawn = spawn
        self._limits = limits
        self._preload = list(preload)
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: set[str] = set()

    def run(self, tasks: Sequence[Task]) -> list[list[Outcome]]:
        """Run tasks together; one that ends the whole process, alone too, has nothing but red tests."""
        try:
            return self._answer(tasks)
        except _Died:
            self.close()
        if len(tasks) > 1:
            return [outcomes for task in tasks for outcomes in self.run([task])]
        return [[Outcome(False, "it ended the process that runs tests")] * len(task.tests) for task in tasks]

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        process.wait()

    def _answer(self, tasks: Sequence[Task]) -> list[list[Outcome]]:
        process = self._process or self._start()
        with self._lock:
            request = marshal.dumps(self._request(tasks))
        assert process.stdin is not None
        try:
            process.stdin.write(len(request).to_bytes(8, "big") + request)
            process.stdin.flush()
        except BrokenPipeError:
            raise _Died from None
        tests = sum(len(task.tests) for task in tasks)
        told = json.loads(self._line(process, 60 + self._limits.wall_s * 6 * (tests + 1)))
        return [_outcomes(red, len(task.tests)) for red, task in zip(told, tasks, strict=True)]

    def _start(self) -> subprocess.Popen[bytes]:
        settings = {"memory_bytes": self._limits.memory_bytes, "preload": self._preload}
        program = Path(__file__).with_name("worker.py")
        try:
            self._process = self._spawn([sys.executable, "-s", "-P", str(program), json.dumps(settings)])
        except OSError as error:
            raise NoWorker(
                f"the process that runs tests cannot be started: {error}",
                hint="Look whether the sandbox works here: `qodebase bench gate`.",
            ) from None
        self._sent = set()
        return self._process

    def _request(self, tasks: Sequence[Task]) -> dict[str, Any]:
        """Return a request, with all contents that may be imported and were not sent yet."""
        base = None if self._sent else {bytes(path): id for path, id in self._states.base.items()}
        wanted: dict[str, tuple[str, bytes]] = {}
        for task in tasks:
            for file in {test.file for test in task.tests}:
                wanted[id_of(file.source)] = file.path.text, file.source
                for path, id in task.state.sight(file).seen:
                    if id not in self._sent and id not in wanted:
                        wanted[id] = path.text, self._states.content(id)
        sources = {id: source for id, source in wanted.items() if id not in self._sent}
        self._sent.update(sources)
        return {
            "base": base,
            "sources": sources,
            "tasks": [
                (
                    {bytes(path): id for path, id in task.state.delta.items()},
                    [(bytes(test.path), id_of(test.source), test.function) for test in task.tests],
                )
                for task in tasks
            ],
            "cpu_s": self._limits.cpu_s,
            "wall_s": self._limits.wall_s,
        }

    def _line(self, process: subprocess.Popen[bytes], most_s: float) -> bytes:
        assert process.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], most_s)
            chunk = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            line += chunk
            if not chunk or len(line) > _ANSWER:
                raise _Died
        return line

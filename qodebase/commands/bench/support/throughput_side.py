"""The run of the throughput bench; run as a module, so that its time and memory are measured alone."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from qodebase.clock import SystemClock
from qodebase.commands.bench.support.throughput_work import Work
from qodebase.commands.bench.support.workload import GitFailed, environment
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import freeze, prepared
from qodebase.events import Admitted, Ended, Event, Landed, RunStarted
from qodebase.journal import read_events
from qodebase.runs import RunFolder

if TYPE_CHECKING:
    from fleet.driver import Driver

_ALL = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What the run took; times in seconds.

    Attributes:
        prepare: making intents and run folder, before the first sitting.
        start, last_landing: of the sitting, on the run's clock.
        end: when the process let go of the run, tidying included.
        landed_in: landings for each whole second since the start.
        busy_peak: the most intents that agents had in hand at once.
        code_check: in the job's proof of each change, in the run's process and its helper.
        pieces_helped: how many prompts and changes the helper made.
        processor: of the sitting, in all threads and processes.
        peak_rss: the largest memory of the run's process and of any other that it started, together, in bytes.
    """

    prepare: float
    start: float
    last_landing: float
    end: float
    landed_in: dict[int, int]
    busy_peak: int
    code_check: float
    pieces_helped: int
    processor: float
    peak_rss: int


class Watch:
    """Reads the events of a run, once it is over: hearing them would be a part of what is measured."""

    def __init__(self) -> None:
        self.start = self.last = 0.0
        self.landed_in: dict[int, int] = {}
        self.busy_peak = 0
        self._busy = 0

    def hear(self, event: Event) -> None:
        """Count an event."""
        match event:
            case RunStarted():
                self.start = self.last = event.at
            case Admitted():
                self._busy += 1
                self.busy_peak = max(self.busy_peak, self._busy)
            case Landed():
                self._busy -= 1
                self.last = event.at
                second = int(event.at - self.start)
                self.landed_in[second] = self.landed_in.get(second, 0) + 1
            case Ended():
                self._busy -= 1


def measure(work: Work, out: Path, *, workers: int) -> Measured:
    """Take the run in a process of its own.

    Raises:
        GitFailed: that process failed.
    """
    words = [str(work.repository), str(work.cache), str(out), str(workers)]
    command = [sys.executable, "-m", "qodebase.commands.bench.support.throughput_side", *words]
    done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    if done.returncode:
        raise GitFailed(f"the run's process failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return msgspec.json.decode(done.stdout, type=Measured)


def _run(work: Work, out: Path, workers: int) -> Measured:
    clock = SystemClock()
    began = time.perf_counter()
    with prepared(work.order(out, workers=workers), work.surroundings, clock) as ready:
        folder = freeze(ready, clock)
    prepare = time.perf_counter() - began
    processor = _processor()
    drivers: list[Driver] = []
    asyncio.run(_sit(folder, work, clock, drivers.append))
    end, processor = clock.now(), _processor() - processor
    workshop = drivers[0].workshop
    watch = Watch()
    for event in read_events(folder.journal):
        watch.hear(event)
    return Measured(
        prepare=prepare,
        start=watch.start,
        last_landing=watch.last,
        end=end,
        landed_in=watch.landed_in,
        busy_peak=watch.busy_peak,
        code_check=workshop.proof_s,
        pieces_helped=workshop.helped,
        processor=processor,
        peak_rss=sum(resource.getrusage(who).ru_maxrss for who in _ALL) * 1024,
    )


async def _sit(folder: RunFolder, work: Work, clock: SystemClock, started: Callable[[Driver], None]) -> None:
    await sit(folder, work.surroundings, clock, first=True, started=started)


def _processor() -> float:
    """Return the processor seconds of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in _ALL]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    repository, cache, folder, number = sys.argv[1:]
    made = Work(repository=Path(repository), cache=Path(cache), files=0, answered=0, documented=0)
    print(msgspec.json.encode(_run(made, Path(folder), int(number))).decode())

"""The trunk's side of the landing bench; run as a module, so that its memory is measured alone."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import msgspec

from qodebase.change import REGULAR, Hunk
from qodebase.collector import seldom_collected
from qodebase.collision import Declined, Entry
from qodebase.commands.bench.support.workload import (
    INDEX,
    PERSON,
    RUN,
    TIME,
    GitFailed,
    Job,
    environment,
    read_jobs,
)
from qodebase.paths import RepoPath
from qodebase.trunk.batch import Edit, Landed, Landing, Person, SharedEdit
from qodebase.trunk.landing import Trunk

_WITH_CHILDREN = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What landing a piece of work took; times in seconds, sizes in bytes.

    Attributes:
        landed: how many changes are on main.
        seconds: opening, landing and closing, without starting Python.
        processor: the processor time of the same, in all threads and in processes that were started.
        compact: what `Trunk.compact` took after it, where that was measured.
        idle_rss, peak_rss: the process's largest memory before the trunk was opened, and in all, with that of the
            largest process that it started.
    """

    landed: int
    seconds: float
    processor: float
    compact: float
    idle_rss: int
    peak_rss: int


def measure(repository: Path, jobs: Path, *, batch: int) -> Measured:
    """Land the changes of a file in a process of its own.

    Raises:
        GitFailed: that process failed.
    """
    words = [str(repository), str(jobs), str(batch)]
    command = [sys.executable, "-m", "qodebase.commands.bench.support.trunk_side", *words]
    done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    if done.returncode:
        raise GitFailed(f"the trunk's process failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return msgspec.json.decode(done.stdout, type=Measured)


def measure_compaction(repository: Path) -> float:
    """Return the seconds of one `Trunk.compact`."""
    with Trunk.open(repository, branch="main", run=RUN) as trunk:
        started = time.perf_counter()
        trunk.compact()
        return time.perf_counter() - started


def with_compaction(measured: Measured, seconds: float) -> Measured:
    """Return the same measurement with the time of a compaction."""
    return msgspec.structs.replace(measured, compact=seconds)


def _landings(jobs: Iterator[Job]) -> Iterator[Landing]:
    name, mail = PERSON
    person = Person(name=name, mail=mail, time=TIME)
    for job in jobs:
        path = RepoPath(job.path)
        note = job.note
        yield Landing(
            message=job.subject,
            author=person,
            committer=person,
            edits={path: Edit(mode=REGULAR, content=job.content, before=job.before)},
            expects={path: Entry(REGULAR, job.replaces)},
            shared=(_line(job),) if job.line else (),
            trailers=job.trailers,
            note=lambda landed, note=note: note,  # type: ignore[misc]
        )


def _line(job: Job) -> SharedEdit:
    return SharedEdit(path=RepoPath(INDEX), base=None, change=(Hunk(offset=0, text=job.line),))


def _redo(shared: SharedEdit, content: bytes | None) -> bytes | Declined:
    from replay_rules.sorted_index import insert

    assert isinstance(shared.change, tuple)
    return insert(content or b"", shared.change[0].text)


def _land(repository: Path, jobs: Path, batch: int) -> Measured:
    idle, landed = _peak_rss(), 0
    started, processor = time.perf_counter(), _processor()
    with open(jobs, "rb", buffering=1 << 20) as file, ExitStack() as held:
        held.enter_context(seldom_collected())
        landings = _landings(read_jobs(file))
        trunk = held.enter_context(Trunk.open(repository, branch="main", run=RUN))
        while some := list(islice(landings, batch)):
            landed += sum(isinstance(result, Landed) for result in trunk.land(some, _redo))
    return Measured(
        landed=landed,
        seconds=time.perf_counter() - started,
        processor=_processor() - processor,
        compact=0.0,
        idle_rss=idle,
        peak_rss=_peak_rss(),
    )


def _processor() -> float:
    used = [resource.getrusage(who) for who in _WITH_CHILDREN]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_rss() -> int:
    return sum(resource.getrusage(who).ru_maxrss for who in _WITH_CHILDREN) * 1024


if __name__ == "__main__":
    where, work, number = sys.argv[1:]
    print(msgspec.json.encode(_land(Path(where), Path(work), int(number))).decode())

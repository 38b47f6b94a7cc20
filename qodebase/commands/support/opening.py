"""Open a run again: its folder, its job on its base, its repository."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError
from qodebase.intent import Ending
from qodebase.runs import RunFolder, Settings

if TYPE_CHECKING:
    from qodebase.code import CommitTree
    from qodebase.ports import Job
    from qodebase.trunk.reader import Reader

HOME = Path("runs")
"""Where runs are kept when no folder is given, below the current folder."""


class JobChanged(QodebaseError):
    """A run whose job or prompt is not the one that it was frozen with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A run with its job, opened on the run's base."""

    folder: RunFolder
    settings: Settings
    job: Job
    reader: Reader
    base: CommitTree


def find_run(run: str) -> RunFolder:
    """Find a run by path, name or ``last``."""
    return RunFolder.find(run, home=HOME)


@contextmanager
def opened(folder: RunFolder, *, same_job: bool) -> Iterator[Opened]:
    """Open a run's job on its base.

    Args:
        same_job: refuse a job that is not the one that the run was frozen with.

    Raises:
        JobChanged: it is not; the message names both digests.
    """
    from fleet.jobs.registry import load_job, make_job
    from qodebase.code import CommitTree
    from qodebase.ports import ReadsRepository, Routed
    from qodebase.trunk.reader import Reader

    settings = folder.settings()
    kind = load_job(settings.job, file=settings.job_file)
    job = make_job(kind, settings.job_settings, source=str(folder.root / "settings.json"))
    if same_job and job.digest != settings.job_digest:
        raise JobChanged(
            f"the job {settings.job} has changed since the freeze: {settings.job_digest} then, {job.digest} now",
            hint="Go on with the version that the run began with, or start a new run.",
        )
    with Reader(folder.repository) as reader:
        base = CommitTree(reader, settings.base)
        try:
            if isinstance(job, ReadsRepository):
                job.read_from(folder.repository)
            job.open(base)
            if isinstance(job, Routed):
                job.route(settings.lanes, sum(intent.ending is Ending.PENDING for intent in folder.intents()))
            yield Opened(folder=folder, settings=settings, job=job, reader=reader, base=base)
        finally:
            job.close()

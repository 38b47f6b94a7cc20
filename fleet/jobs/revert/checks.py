"""The checks of an earlier run that stay in force while some of its landings are undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fleet.jobs.registry import load_job, make_job
from qodebase.check import Check
from qodebase.code import CommitTree
from qodebase.intent import Ending, Intent
from qodebase.journal import read_events
from qodebase.ports import HasChecks, Job, ReadsRepository, Routed
from qodebase.runs import RunFolder
from qodebase.state import RunState
from qodebase.trunk.reader import Reader


@contextmanager
def job_of(folder: RunFolder, git: Path) -> Iterator[Job]:
    """Open a run's job on its own base.

    Args:
        git: a repository that holds the base; the run's own need not be there.
    """
    settings = folder.settings()
    job = make_job(
        load_job(settings.job, file=settings.job_file), settings.job_settings, source=str(folder.root / "settings.json")
    )
    with Reader(git) as reader:
        try:
            if isinstance(job, ReadsRepository):
                job.read_from(git)
            job.open(CommitTree(reader, settings.base))
            if isinstance(job, Routed):
                job.route(settings.lanes, sum(intent.ending is Ending.PENDING for intent in folder.intents()))
            yield job
        finally:
            job.close()


def checks_of_run(run: Path, names: Iterable[str], git: Path) -> Mapping[str, Check]:
    """Return some of the checks that a run's job declares."""
    with job_of(RunFolder(run), git) as job:
        declared = job.checks() if isinstance(job, HasChecks) else {}
        return {name: declared[name] for name in names}


def in_force(folder: RunFolder, declared: Iterable[str], undone: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a run's checks that hold once some of its landings are undone.

    These are the standing ones, which no intent names, and those of the other landed intents, without what these ended.
    """
    state = RunState(folder.intents())
    state.apply_all(read_events(folder.journal) if folder.journal.exists() else ())
    gone = set(undone)
    landed = [known.intent for id, known in state.intents.items() if known.ending is Ending.LANDED and id not in gone]
    named = _named(known.intent for known in state.intents.values())
    retired = {check for intent in landed for check in intent.retires}
    held = _named(landed) - retired
    return tuple(name for name in declared if name in held or (name not in named and name not in retired))


def _named(intents: Iterable[Intent]) -> set[str]:
    return {check for intent in intents for check in intent.checks}

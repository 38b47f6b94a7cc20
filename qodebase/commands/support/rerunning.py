"""Run an archived run again from its recorded answers, and compare what comes out."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.archive_file import BUNDLE, FOLDER, BadArchive, Manifest, unpack
from qodebase.commands.support.archiving import NotArchived, git
from qodebase.commands.support.making import made
from qodebase.errors import QodebaseError
from qodebase.scratch import ScratchFolder

if TYPE_CHECKING:
    from qodebase.commands.support.recorded import RecordedModel, Recording
    from qodebase.events import Event
    from qodebase.intent import Intent
    from qodebase.runs import RunFolder, Settings

_OBJECT = re.compile(r"[0-9a-f]{40}")
_THEIRS = "refs/recorded"
_MOST_NAMED = 50
_HISTORIC = ("zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "zeroPaddedDate")
"""What old commits have that harms nobody."""


class NoAnswers(QodebaseError):
    """An archive of a run that kept no answers."""


class NeedsJob(QodebaseError):
    """An archived run of a job that is a file of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """What a rerun came to.

    Attributes:
        run: the recorded run's id.
        tree, recorded_tree: of main at the end, here and there.
        paths: the paths at which they differ, with git's letter for how.
        endings: intents that ended otherwise: id, there, here.
        asked_otherwise: intents that got a recorded answer although their prompt was another.
        unanswered: intents that were asked what the recorded run was not.
        in_order: landings came in the recorded order, or any order would have done.
        foreign: commits of people on the recorded main, which are not repeated.
        folder: the new run.
    """

    run: str
    tree: str
    recorded_tree: str
    paths: tuple[tuple[str, str], ...]
    endings: tuple[tuple[str, str, str], ...]
    asked_otherwise: tuple[str, ...]
    unanswered: tuple[str, ...]
    in_order: bool
    foreign: int
    landed: int
    seconds: float
    folder: Path

    @property
    def equal(self) -> bool:
        """Return whether the trees are the same."""
        return self.tree == self.recorded_tree

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            **asdict(self),
            "equal": self.equal,
            "paths": [{"path": path, "how": how} for how, path in self.paths],
            "endings": [{"intent": intent, "recorded": there, "here": here} for intent, there, here in self.endings],
            "folder": str(self.folder),
        }


def rerun(file: Path, out: Path, *, numbered: bool = False, job_file: str = "", unsafe_checks: bool = False) -> Rerun:
    """Repeat an archived run in a new folder.

    Args:
        numbered: see `qodebase.commands.support.making.made`.
        job_file: the job, where it is a file of its own; none is taken from the archive.
        unsafe_checks: run the job's checks without a sandbox.

    Raises:
        BadArchive: it must not, or cannot, be unpacked.
        NoAnswers, NeedsJob, JobChanged: what is missing.
        RunExists: ``out`` is taken.
    """
    from qodebase.commands.support.recorded import RecordedModel
    from qodebase.runs import RunFolder
    from qodebase.segments import SegmentReader

    began = time.monotonic()
    with ScratchFolder("rerun") as space:
        there = space / "archive"
        manifest = unpack(file, there)
        recorded = RunFolder(there / FOLDER)
        settings = recorded.settings()
        _check(file, manifest, settings, job_file)
        recording = _recording(recorded)
        with made(out, numbered=numbered) as folder:
            _freeze(
                folder, recorded, manifest, recording, there / BUNDLE, job_file=job_file, unsafe_checks=unsafe_checks
            )
        with closing(SegmentReader(recorded.attempts)) as kept:
            model = RecordedModel(recording, kept)
            asyncio.run(_sit(folder, settings, recording, model))
        return _compared(recorded, folder, manifest, model, time.monotonic() - began)


def _compared(
    recorded: RunFolder, folder: RunFolder, manifest: Manifest, model: RecordedModel, seconds: float
) -> Rerun:
    tree = git(folder.repository, "rev-parse", f"refs/heads/{manifest.branch}^{{tree}}")
    there, here = _endings(recorded), _endings(folder)
    others = [(intent, ending, here.get(intent, "")) for intent, ending in there.items() if here.get(intent) != ending]
    return Rerun(
        run=manifest.run,
        tree=tree,
        recorded_tree=manifest.tree,
        paths=_differing(folder.repository, manifest.tree, tree),
        endings=tuple(others[:_MOST_NAMED]),
        asked_otherwise=tuple(model.otherwise)[:_MOST_NAMED],
        unanswered=tuple(model.unanswered)[:_MOST_NAMED],
        in_order=model.order.kept,
        foreign=_foreign(recorded),
        landed=sum(ending == "landed" for ending in here.values()),
        seconds=seconds,
        folder=folder.root,
    )


def _check(file: Path, manifest: Manifest, settings: Settings, job_file: str) -> None:
    """Look at what git and the job will be handed."""
    said = (manifest.base, manifest.branch, manifest.run)
    if said != (settings.base, settings.branch, settings.run):
        raise BadArchive(f"{file}: its settings are not those of the run that it names")
    if not all(_OBJECT.fullmatch(name) for name in (manifest.base, manifest.tip, manifest.tree)):
        raise BadArchive(f"{file}: base, tip or tree is no object's name")
    if settings.branch.startswith("-"):
        raise BadArchive(f"{file}: {settings.branch!r} is no branch")
    if settings.job_file and not job_file:
        raise NeedsJob(
            f"the job of {settings.run} is a file of its own, and no code is taken from an archive",
            hint=f"Give it: --job PATH (it was {Path(settings.job_file).name}).",
        )


def _recording(recorded: RunFolder) -> Recording:
    from qodebase.commands.support.recorded import recording_of
    from qodebase.events import Answered

    events = list(_events(recorded))
    if any(isinstance(event, Answered) and event.outcome == "answer" and not event.ref for event in events):
        raise NoAnswers(
            "the run kept no answers, only their digests (--keep-prompts off)",
            hint="Such a run cannot be repeated without asking its model again.",
        )
    return recording_of(events)


def _freeze(
    folder: RunFolder,
    recorded: RunFolder,
    manifest: Manifest,
    recording: Recording,
    bundle: Path,
    *,
    job_file: str,
    unsafe_checks: bool,
) -> None:
    """Fill the new run's folder: the base, the recorded settings without models and caps, the intents in order."""
    import secrets

    import msgspec

    from qodebase.caps import NO_CAPS
    from qodebase.commands.support.environment import environment, keep_environment
    from qodebase.runs import plain_name

    settings = recorded.settings()
    _repository(folder.repository, bundle, manifest)
    keep_environment(folder.root, environment() | {"rerun_of": settings.run})
    again = msgspec.structs.replace(
        settings,
        run=f"{plain_name(folder.name)}-{secrets.token_hex(4)}",
        job_file=str(Path(job_file).resolve()) if job_file else "",
        repository=str(folder.repository),
        model="recorded",
        models={},
        replay_model="",
        escalate_model="",
        caps=NO_CAPS,
        stop_if=(),
        cache="off",
        sign=False,
        sample=None,
        ramp=None,
        unsafe_checks=unsafe_checks,
        created=time.time(),
    )
    folder.freeze(again, _in_order(recorded.intents(), recording))


def _repository(repository: Path, bundle: Path, manifest: Manifest) -> None:
    """Make the repository as it was when the run began; what the run made of it stands in refs of its own."""
    repository.mkdir()
    branch = f"heads/{manifest.branch}"
    try:
        git(repository, "init", "-q", "--bare", "-b", manifest.branch, ".")
        allowed = [word for name in _HISTORIC for word in ("-c", f"fetch.fsck.{name}=ignore")]
        whole = ("-c", "fetch.fsckObjects=true", *allowed)
        git(repository, *whole, "fetch", "-q", "--no-tags", "--", str(bundle.resolve()), f"+refs/*:{_THEIRS}/*")
        git(repository, "update-ref", f"refs/{branch}", manifest.base)
        tree = git(repository, "rev-parse", f"{_THEIRS}/{branch}^{{tree}}")
    except NotArchived as error:
        raise BadArchive(f"the archive's repository cannot be used: {error.message}") from None
    if tree != manifest.tree:
        raise BadArchive(f"the archive's repository holds another tree, {tree}, than the archive says")


def _in_order(intents: Iterable[Intent], recording: Recording) -> list[Intent]:
    """Return the intents as they were admitted, each behind what its fork held; the others come last."""
    known = {intent.id: intent for intent in intents}
    first = []
    for name, newest in recording.admitted.items():
        if name in known:
            intent = known.pop(name)
            first.append(intent.behind([newest]) if newest and recording.ordered else intent)
    return [*first, *known.values()]


async def _sit(folder: RunFolder, recorded: Settings, recording: Recording, model: RecordedModel) -> None:
    """Work on the run, with the recorded model in the place of each that was asked."""
    from fleet.channels import Channel, Channels
    from fleet.driver import Driver, Parts
    from qodebase.clock import SystemClock
    from qodebase.commands.support.checks import judging_of
    from qodebase.commands.support.disk import disk_of
    from qodebase.commands.support.opening import opened

    clock = SystemClock()
    limit = len(recording.admitted)
    channel = Channel(model=model)
    with disk_of(folder.root), folder.locked(), opened(folder, same_job=True) as run:
        judging = judging_of(run, clock)
        driver = Driver(
            folder,
            run.settings,
            Parts(
                job=run.job,
                channels=Channels(fresh=channel, escalate=channel if recorded.escalate_model else None),
                clock=clock,
                checker=judging.checker,
                verdicts=judging.verdicts,
                tell=judging.tell,
                most_attempts=run.settings.attempts,
                stall_after_s=run.settings.stall_after_s,
                listeners=(model.hear,),
            ),
            choose=lambda pending: pending[:limit],
            limit=limit,
        )
        try:
            await driver.run()
        finally:
            await judging.close()


def _endings(folder: RunFolder) -> dict[str, str]:
    from qodebase.state import RunState

    states = RunState(folder.intents()).apply_all(_events(folder)).intents
    return {name: str(states[name].ending) for name in sorted(states)}


def _events(folder: RunFolder) -> Iterable[Event]:
    from qodebase.journal import read_events

    return read_events(folder.journal) if folder.journal.exists() else ()


def _foreign(recorded: RunFolder) -> int:
    from qodebase.events import Foreign

    return sum(len(event.commits) for event in _events(recorded) if isinstance(event, Foreign))


def _differing(repository: Path, there: str, here: str) -> tuple[tuple[str, str], ...]:
    if there == here:
        return ()
    said = git(repository, "diff-tree", "-r", "--name-status", "--no-renames", there, here)
    pairs = [line.partition("\t") for line in said.splitlines()]
    return tuple((how, path) for how, _, path in pairs)[:_MOST_NAMED]

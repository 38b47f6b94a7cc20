"""Undoing landings of a run: what is selected, the order for a new run, and what it would do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.commands.support.starting import Order, Prepared, prepared
from qodebase.commands.support.surroundings import surroundings
from qodebase.errors import QodebaseError
from qodebase.runs import RunFolder, Settings

if TYPE_CHECKING:
    from fleet.jobs.revert.foresee import Foreseen
    from qodebase.paths import CommitId
    from qodebase.ports import Clock, Job
    from results.selection import Selection


class NothingSelected(QodebaseError):
    """A selector that no landing meets, or none given."""


class StillWorking(QodebaseError):
    """A run that lands still."""


class BadTime(QodebaseError):
    """A text that is no moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """What a person says of the landings to undo; all of it must hold.

    Attributes:
        intents: ids, paths or commits.
        lanes, models: any of these.
        since, until: moments, ISO 8601 or seconds since the epoch.
        where: an SQL condition.
        everything: all landings, where nothing else is said.
    """

    intents: Sequence[str] = ()
    lanes: Sequence[str] = ()
    models: Sequence[str] = ()
    since: str = ""
    until: str = ""
    where: str = ""
    everything: bool = False

    @property
    def given(self) -> bool:
        """Return whether anything was said."""
        return bool(
            self.intents or self.lanes or self.models or self.since or self.until or self.where or self.everything
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoing:
    """How the new run is to work.

    Attributes:
        out: its folder; None: beside the old run's.
        author, sign, unsafe_checks, land_on: as for `qodebase run`.
        push_to: the repository of ``land_on``; empty: where the other run pushed, or its user's repository.
        replay_model: who redoes what merge and rules could not.
    """

    out: Path | None = None
    author: str = ""
    sign: bool = False
    replay_model: str = ""
    unsafe_checks: bool = False
    land_on: str = ""
    push_to: str = ""


@contextmanager
def undoing(folder: RunFolder, selector: Selector, how: Undoing, clock: Clock) -> Iterator[Prepared]:
    """Prepare a run that undoes what is selected of another one; nothing is written.

    Its result belongs into the user's repository, as the other run's does.

    Raises:
        QodebaseError: what is wrong, and what to do.
    """
    order = undo_order(folder, selected(folder, selector), how)
    with prepared(order, surroundings(), clock) as ready:
        yield replace(ready, source=replace(ready.source, path=Path(folder.settings().repository)))


def selected(folder: RunFolder, selector: Selector) -> list[CommitId]:
    """Return the commits of a run's landings that are meant.

    Raises:
        NothingSelected: nothing was said, or no landing meets it.
        BadTime, BadCondition, NoIntent: a part of it cannot be read.
    """
    from results.frames import Frames
    from results.selection import select

    if not selector.given:
        raise NothingSelected(
            "which landings shall be undone?",
            hint="Select some: --intent, --lane, --model, --since, --until or --where SQL; --all takes every one.",
        )
    found = select(Frames(folder, kept=False), _selection(folder, selector))
    if not found:
        raise NothingSelected(
            f"no landing of {folder.root} is meant by that",
            hint=f"See them: `qodebase status {folder.called}`, `qodebase diff {folder.called}`.",
        )
    return found


def undo_order(folder: RunFolder, commits: Sequence[CommitId], how: Undoing) -> Order:
    """Return the order for a run that undoes landings of another one, on what that one's main is now.

    Raises:
        StillWorking: the other run lands still.
        NothingSelected: its repository has no such branch.
    """
    from fleet.jobs.revert.checks import in_force, job_of
    from qodebase.commands.support.checks import checks_of

    if holder := folder.holder():
        raise StillWorking(
            f"{folder.root} is being worked on by {holder}",
            hint=f"Wait for it, or stop that process first (Ctrl-C); `qodebase resume {folder.called}` goes on later.",
        )
    settings = folder.settings()
    with job_of(folder, folder.repository) as job:
        declared = checks_of(job)
        undone = _undone(folder, commits)
        shared, shards = _shared(job, folder, settings)
        checks = in_force(folder, declared, undone)
    return Order(
        job="revert",
        repository=folder.repository,
        branch=settings.branch,
        land_on=how.land_on,
        push_to=how.push_to or (settings.push_to or settings.repository if how.land_on else ""),
        settings={
            "undo": tuple(commits),
            "shared": shared,
            "shards": shards,
            "of": str(folder.root.resolve()),
            "checks": checks,
        },
        models=settings.models,
        replay_model=how.replay_model,
        author=how.author,
        sign=how.sign,
        train_max=settings.train_max,
        lanes=settings.lanes,
        rules=settings.rules,
        privacy=settings.privacy,
        unsafe_checks=how.unsafe_checks,
        out=how.out or _beside(folder),
        numbered=how.out is None,
        source="the revert",
    )


def foreseen(ready: Prepared) -> list[Foreseen]:
    """Return what would become of each landing that is to be undone; nothing is kept."""
    from fleet.given.job import GivenJob
    from fleet.jobs.revert.foresee import foresee
    from lanes.fork import Main
    from replay_rules.registry import chooser

    job = ready.job
    assert isinstance(job, GivenJob), "the job of an undoing"
    shared = frozenset(one.path for one in job.shared)
    main = Main(job.tree(ready.source.commit), job.tree, job.differing, shared)
    return list(foresee(job, ready.intents, main, chooser(ready.order.rules.off, ready.order.rules.bind)))


def _selection(folder: RunFolder, selector: Selector) -> Selection:
    from qodebase.commands.support.intent_names import find_intents
    from qodebase.journal import read_events
    from qodebase.state import RunState
    from results.selection import Selection

    intents = None
    if selector.intents:
        states = RunState(folder.intents()).apply_all(read_events(folder.journal)).intents
        intents = [state.intent.id for name in selector.intents for state in find_intents(states, name)]
    return Selection(
        intents=intents,
        lanes=selector.lanes,
        models=selector.models,
        since=_moment(selector.since, "--since"),
        until=_moment(selector.until, "--until"),
        where=selector.where,
    )


def _moment(text: str, flag: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise BadTime(
            f"{flag} {text!r} is no moment", hint="Write 2026-01-31T18:00 (local time), or seconds since the epoch."
        ) from None


def _undone(folder: RunFolder, commits: Sequence[CommitId]) -> list[str]:
    from qodebase.journal import read_events
    from qodebase.state import RunState

    wanted = set(commits)
    states = RunState(folder.intents()).apply_all(read_events(folder.journal)).intents
    return [id for id, state in states.items() if state.commit in wanted]


def _shared(
    job: Job, folder: RunFolder, settings: Settings
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the shared paths by the rules that undo them, and the shards that were folded into each."""
    from qodebase.trunk.reader import Reader
    from replay_rules.registry import inverse_of

    shared: dict[str, dict[str, None]] = {}
    shards: dict[str, tuple[str, ...]] = {}
    with Reader(folder.repository) as reader:
        tip = reader.tip(settings.branch)
        for one in job.shared:
            rule = inverse_of(one.rule)
            folded = one.compose_into is not None and tip is not None and reader.entry(tip, one.path) is None
            path = one.compose_into if folded and one.compose_into is not None else one.path
            if rule is None:
                continue
            shared.setdefault(rule, {})[path.text] = None
            if folded:
                shards[path.text] = (*shards.get(path.text, ()), one.path.text)
    return {rule: tuple(paths) for rule, paths in shared.items()}, shards


def _beside(folder: RunFolder) -> Path:
    root = folder.root.resolve()
    names = (root.with_name(f"{root.name}-revert-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())

"""Export: replay what a run landed onto another commit, a branch and a text for a pull request a group."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from qodebase.code import CommitTree
from qodebase.commands.support.handover.asking import commit_named, commits_above, has
from qodebase.commands.support.handover.branches import Made, Maker
from qodebase.commands.support.handover.finding import By as FoundBy
from qodebase.commands.support.handover.finding import Finder, Found, candidates_of, standing
from qodebase.commands.support.handover.groups import SHARED, By, Group, grouped, key_by
from qodebase.commands.support.handover.landed import Work, Works, refuse_live, works_of
from qodebase.commands.support.handover.replaying import Branch, LeftOut, Onto, replay_groups
from qodebase.commands.support.handover.sharing import Sharing
from qodebase.commands.support.handover.writing import Writer
from qodebase.commands.support.opening import Opened, opened
from qodebase.paths import CommitId
from qodebase.runs import RunFolder
from qodebase.trunk.reader import Reader
from replay_rules.registry import chooser


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What is to be exported, and how.

    Attributes:
        repository: where the branches go; ``onto`` names a commit of it.
        most: at most so many files a branch.
        drop: landings that are left out.
    """

    repository: Path
    onto: str
    by: By
    most: int = 200
    squash: bool = False
    force: bool = False
    drop: Sequence[CommitId] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What came out.

    Attributes:
        base: the commit that the branches begin on.
        branches: those with commits; each is written unless it was a dry run.
        dropped: landings that were not wanted; ``left_out`` could not be replayed, ``there`` are on ``base`` already.
    """

    base: CommitId
    branches: Sequence[Made]
    dropped: Sequence[Work]
    left_out: Sequence[LeftOut]
    there: Sequence[Work]
    works: Works


def export(folder: RunFolder, wanted: Export, *, dry_run: bool) -> Exported:
    """Replay a run's landings onto a commit of a repository, a branch a group.

    Raises:
        StillWorking, NothingLanded: the run has nothing to export now.
        NoSuchCommit, NoOwners, BranchExists, CheckedOut: what is wanted cannot be.
    """
    refuse_live(folder)
    base = commit_named(wanted.repository, wanted.onto)
    with opened(folder, same_job=False) as run, Reader(wanted.repository) as reader:
        works = works_of(run)
        tree = CommitTree(reader, base)
        drop = frozenset(wanted.drop)
        kept = [work for work in works.works if work.commit.id not in drop]
        groups = grouped(kept, key_by(wanted.by, tree, wanted.onto), wanted.most)
        branches = _replayed(groups, run, tree, _there(works.works, run, wanted.repository, base, reader))
        with Writer(wanted.repository, run.settings.run, dry_run=dry_run) as writer:
            maker = Maker(writer=writer, run=run.settings.run, onto=tree, squash=wanted.squash, force=wanted.force)
            newest = works.works[-1]
            made = [maker.make(branch, newest) for branch in branches if branch.replayed or branch.shared]
            if made and not dry_run:
                maker.finish(newest)
    return Exported(
        base=base,
        branches=made,
        dropped=[work for work in works.works if work.commit.id in drop],
        left_out=[one for branch in branches for one in branch.left_out],
        there=[work for branch in branches for work in branch.there],
        works=works,
    )


def _there(works: Sequence[Work], run: Opened, repository: Path, tip: CommitId, reader: Reader) -> set[str]:
    """Return the intents that a commit has come to hold since the run's base, by what its history says.

    Without trailers that name it, an edit made alike counts only where it is meant once.
    """
    if not has(repository, run.settings.base):
        return set()
    above = commits_above(repository, tip, run.settings.base)
    candidates = standing(candidates_of(repository, reader, above, run.settings.run))
    finder = Finder(candidates, {}, (run.reader, reader))
    found = [one for one in map(finder.find, works) if isinstance(one, Found)]
    return {
        one.work.intent for one in found if one.by is FoundBy.TRAILERS or all(map(run.job.idempotent, one.work.own))
    }


def _replayed(groups: Sequence[Group], run: Opened, tree: CommitTree, there: Container[str]) -> list[Branch]:
    """Replay all groups; all is done again without a landing whose lines have no place in a shared path."""
    shared = run.job.shared
    onto = Onto(
        tree,
        run.base,
        run.reader,
        shared=frozenset(one.path for one in shared),
        rules=chooser(run.settings.rules.off, run.settings.rules.bind),
        idempotent=run.job.idempotent,
    )
    tip = run.reader.tip(run.settings.branch)
    open_shards = {
        one.compose_into for one in shared if tip is not None and run.reader.entry(tip, one.path) is not None
    }
    composed = {one.compose_into for one in shared if one.compose_into is not None} - open_shards
    without: dict[str, str] = {}
    while True:
        branches = replay_groups(groups, onto, without, there)
        sharing = Sharing(onto, shared, composed)
        kept = [one.work for branch in branches for one in branch.replayed]
        kept += [work for branch in branches for work in branch.there]
        sharing.take(sorted(kept, key=lambda work: work.place))
        if not sharing.declined:
            break
        without |= sharing.declined
    last = next(branch for branch in branches if branch.name == SHARED)
    last.shared = sharing.edits
    if not last.shared:
        last.there += [one.work for one in last.replayed if not one.edits]
        last.replayed = [one for one in last.replayed if one.edits]
    return branches

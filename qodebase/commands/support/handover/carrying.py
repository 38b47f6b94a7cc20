"""Carry: write a run's records as notes onto the commits of another branch that hold its work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qodebase.codec import BadData
from qodebase.commands.support.handover.asking import Diff, ask, commit_named, commits_above
from qodebase.commands.support.handover.branches import person_of
from qodebase.commands.support.handover.finding import Candidate, Finder, Found, Missing, candidates_of
from qodebase.commands.support.handover.landed import refuse_live, works_of
from qodebase.commands.support.handover.writing import Writer
from qodebase.commands.support.opening import opened
from qodebase.paths import CommitId
from qodebase.record import Record, read_notes, write_notes
from qodebase.runs import RunFolder, plain_name
from qodebase.trunk.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What came out.

    Attributes:
        tip: the commit that the branch was at.
        found: intents with their commits, in the order of landing; ``missing`` are on none.
        written: how many records were written; the others were there.
        kept_out: commits whose note is no record, which stays as it is, with the intents that they hold.
    """

    tip: CommitId
    found: Sequence[Found]
    missing: Sequence[Missing]
    written: int
    kept_out: dict[CommitId, list[str]]


def carry(folder: RunFolder, repository: Path, ref: str, *, dry_run: bool) -> Carried:
    """Find a run's intents on a branch and write their records there.

    Raises:
        StillWorking, NothingLanded: the run has nothing to carry now.
        NoSuchCommit: the repository has no such branch.
    """
    refuse_live(folder)
    tip = commit_named(repository, ref)
    with opened(folder, same_job=False) as run, Reader(repository) as reader:
        works = works_of(run).works
        settings = run.settings
        candidates = candidates_of(repository, reader, commits_above(repository, tip, settings.base), settings.run)
        shared = frozenset(one.path for one in run.job.shared)
        versions: defaultdict[str, list[Diff]] = defaultdict(list)
        for one in _exported(repository, reader, tip, settings.run):
            if len(one.named) == 1:
                (intent,) = one.named
                versions[intent].append({path: differs for path, differs in one.diff.items() if path not in shared})
        finder = Finder(candidates, versions, (run.reader, reader))
        outcomes = [finder.find(work) for work in works]
        found = [one for one in outcomes if isinstance(one, Found)]
        with Writer(repository, settings.run, dry_run=dry_run) as writer:
            written, kept_out = _note(writer, found)
            if written and not dry_run:
                person = person_of(works[-1].commit.committer)
                writer.write((), person, f"{written} carried records")
    return Carried(
        tip=tip,
        found=found,
        missing=[one for one in outcomes if isinstance(one, Missing)],
        written=written,
        kept_out=kept_out,
    )


def _exported(repository: Path, reader: Reader, tip: CommitId, run: str) -> list[Candidate]:
    """Return the commits of the run's exported branches that the branch at ``tip`` does not hold."""
    ours = f"refs/heads/qodebase/{plain_name(run)}"
    refs = ask(repository, "for-each-ref", "--format=%(refname)", ours).decode().split()
    if not refs:
        return []
    said = ask(repository, "rev-list", "--reverse", "--no-merges", *refs, f"^{tip}").decode().split()
    return candidates_of(repository, reader, [CommitId(id) for id in said], run)


def _note(writer: Writer, found: Sequence[Found]) -> tuple[int, dict[CommitId, list[str]]]:
    """Prepare the notes; return how many records are new, and the commits whose notes cannot take any."""
    by_commit: defaultdict[CommitId, list[Found]] = defaultdict(list)
    for one in found:
        by_commit[one.candidate.commit].append(one)
    written = 0
    kept_out: dict[CommitId, list[str]] = {}
    for commit, held in by_commit.items():
        note = writer.note(commit)
        try:
            there = () if note is None else read_notes(note)
        except BadData:
            kept_out[commit] = [one.work.intent for one in held]
            continue
        known = {(record.run, record.intent) for record in there}
        fresh = [_record(one) for one in held if (one.work.record.run, one.work.intent) not in known]
        if fresh:
            writer.add_note(commit, write_notes([*there, *fresh]))
            written += len(fresh)
    return written, kept_out


def _record(one: Found) -> Record:
    return one.work.carried(one.candidate.parent or one.work.record.parent)

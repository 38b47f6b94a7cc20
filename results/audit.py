"""Audit a run, or any repository that carries its notes: everything is rebuilt from repository and journal.

An audit is never circular: what is expected is computed from the base commit and the journalled changes, not read off
what landed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from qodebase.collector import seldom_collected
from qodebase.errors import QodebaseError
from qodebase.runs import RunFolder
from qodebase.trunk.objects import MissingObject
from results.audit_branch import check_branch
from results.audit_content import ContentAudit
from results.audit_journal import check_endings, check_journal, check_ledger
from results.audit_landings import check_commits, check_notes, check_refs
from results.audit_noted import check_commits_and_notes
from results.audit_texts import check_texts
from results.evidence import Evidence, gather
from results.findings import Audit, Check, Notebook
from results.fsck import Fsck
from results.history import Commit
from results.ledger import ledger_of
from results.means import Means, Progress
from results.repository import Repository

_STEP = 100


class NoBranch(QodebaseError):
    """A repository without the branch that an audit needs."""


def _silent(done: int, total: int, what: str) -> None:
    return None


def verify_run(folder: RunFolder, means: Means | None = None, *, progress: Progress = _silent) -> Audit:
    """Audit a run folder.

    Args:
        folder: the run.
        means: what the job can prove; without it that part is not checked, and the audit says so.
        progress: is told ``done, total, what``.

    Raises:
        BadData: the settings or frozen intents cannot be read.
        NoBranch, NotARepository: the run's repository is not there.
    """
    began = time.monotonic()
    with seldom_collected(), Repository(folder.repository) as repository:
        fsck = Fsck(folder.repository)
        try:
            evidence = gather(folder, repository)
            if evidence is None:
                raise NoBranch(f"{folder.repository} has no branch {folder.settings().branch}")
            with closing(evidence):
                checks, not_checked = _check_run(evidence, means or Means(), fsck, progress)
        finally:
            fsck.stop()
    return Audit(
        subject=evidence.settings.run,
        checks=tuple(checks),
        not_checked=tuple(not_checked),
        seconds=time.monotonic() - began,
    )


def _check_run(evidence: Evidence, means: Means, fsck: Fsck, progress: Progress) -> tuple[list[Check], list[str]]:
    history = evidence.history
    progress(0, len(history.commits), "journal and notes")
    noted, records = check_notes(evidence)
    texts, uncompared = check_texts(evidence)
    checks = [
        check_ledger(ledger_of(evidence.state, history)),
        check_journal(evidence),
        check_endings(evidence),
        check_commits(evidence),
        noted,
        check_refs(evidence.repository.reader, history, evidence.settings.branch),
        texts,
    ]
    not_checked = ["what a process does to the run just now"] if evidence.live else []
    not_checked += uncompared
    if history.reaches_base:
        content = ContentAudit(evidence, means, records)
        checks += _see_all(content, history.commits, progress)
        not_checked += content.not_checked
    else:
        not_checked.append("what the landings did: main does not stand on the run's base")
    branch, unreached = check_branch(evidence)
    checks += branch
    not_checked += unreached
    progress(len(history.commits), len(history.commits), "git fsck")
    checks.append(fsck.check(history.base, {commit.id: commit.intent for commit in history.ours}))
    return checks, not_checked


def _see_all(content: ContentAudit, commits: Sequence[Commit], progress: Progress) -> list[Check]:
    """Look at every commit; a repository that lacks objects cannot be looked at to the end, and that is a finding."""
    try:
        for done, commit in enumerate(commits):
            if done % _STEP == 0:
                progress(done, len(commits), "landings")
            content.see(commit)
        return content.checks()
    except MissingObject as error:
        book = Notebook("content")
        book.wrong(f"main cannot be read: {error.message}")
        return [book.check("not to the end")]


def verify_repository(path: Path, *, branch: str, progress: Progress = _silent) -> Audit:
    """Audit a repository that has only commits and notes: a reduced audit, which says what it could not check.

    Raises:
        NoBranch, NotARepository: there is nothing to audit.
    """
    began = time.monotonic()
    fsck = Fsck(path)
    try:
        with Repository(path) as repository:
            tip = repository.reader.tip(branch)
            if tip is None:
                raise NoBranch(f"{path} has no branch {branch}", hint="Name another one with --branch.")
            line = list(repository.reader.log(tip))
            progress(0, len(line), "commits and notes")
            checks, landed = check_commits_and_notes(repository, line)
        checks.append(fsck.check(None, landed))
    finally:
        fsck.stop()
    return Audit(
        subject=str(path),
        checks=tuple(checks),
        not_checked=(
            "the ledger, and intents that did not land: there is no journal",
            "what the landings did: their changes and replays are kept in the run folder",
            "the job's own promise, and which lines shared paths must hold",
        ),
        seconds=time.monotonic() - began,
    )

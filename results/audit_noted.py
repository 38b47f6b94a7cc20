"""Audit a repository that has only commits and notes: which intents stand where, by trailers and by carried records.

A commit lands the intent that its trailers name, on the branch or in what a merge brought in. A commit of a squash
merge holds the work of several; their records were carried to it, each with its origin, and make it theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from qodebase.paths import CommitId
from qodebase.record import Record
from qodebase.trunk.commits import CommitFacts
from qodebase.trunk.objects import MissingObject
from results.audit_landings import check_compositions, check_once, compare_notes, records_in
from results.audit_records import RecordsAudit
from results.findings import Check, Notebook
from results.history import Commit, merged_in
from results.repository import Repository

Notes = dict[CommitId, list[bytes]]


def check_commits_and_notes(
    repository: Repository, line: Sequence[CommitFacts]
) -> tuple[list[Check], dict[CommitId, str]]:
    """Check that each intent landed once, with its record; return the commits that land one as well.

    Args:
        line: the branch along first parents, newest first.
    """
    notes: defaultdict[CommitId, list[bytes]] = defaultdict(list)
    for commit, note in repository.reader.notes():
        notes[commit].append(note)
    commits = [Commit.of(facts) for facts in line][::-1]
    every = [*commits, *merged_in(repository.reader, line, notes)]
    landings = [commit for commit in every if commit.run and commit.intent]
    carried = _carried(every, notes)
    told, records = _check_records(landings, every, notes, carried)
    on_line = {commit.id for commit in commits}
    checks = [_check_landed_once(landings, carried, every), told]
    try:
        audit = RecordsAudit(repository, commits, {id: found for id, found in records.items() if id in on_line})
        checks.append(audit.check())
    except MissingObject as error:
        book = Notebook("records")
        book.wrong(f"main cannot be read: {error.message}")
        checks.append(book.check("not to the end"))
    return checks, {commit.id: commit.intent for commit in landings}


def _carried(commits: Sequence[Commit], notes: Notes) -> dict[CommitId, list[Record]]:
    """Return the records that were carried to commits whose trailers do not name their intents alone."""
    found = {}
    for commit in commits:
        held = [record for record in records_in(notes.get(commit.id, ())) if record.origin is not None]
        more = [record for record in held if (record.run, record.intent) != (commit.run, commit.intent)]
        if more:
            found[commit.id] = more
    return found


def _check_landed_once(
    landings: Sequence[Commit], carried: Mapping[CommitId, list[Record]], every: Sequence[Commit]
) -> Check:
    book = Notebook("commits")
    by_id = {commit.id: commit for commit in every}
    runs: defaultdict[str, defaultdict[str, list[Commit]]] = defaultdict(lambda: defaultdict(list))
    for commit in landings:
        runs[commit.run][commit.intent].append(commit)
    for id, records in carried.items():
        for record in records:
            runs[record.run][record.intent].append(by_id[id])
    for landed in runs.values():
        check_once(book, landed)
    count = len(landings) + sum(map(len, carried.values()))
    return book.check(f"{count} landings of {len(runs)} runs among {len(every)} commits")


def _check_records(
    landings: Sequence[Commit], every: Sequence[Commit], notes: Notes, carried: Mapping[CommitId, list[Record]]
) -> tuple[Check, dict[CommitId, list[Record]]]:
    book = Notebook("notes")
    records = {id: [record] for id, record in compare_notes(book, landings, notes).items()}
    composed = [commit for commit in every if commit.run and commit.composes]
    check_compositions(book, composed, notes)
    for commit in every:
        held = carried.get(commit.id, [])
        for record in held:
            if record.parent != commit.parent or record.base != commit.parent:
                message = "its record was carried to this commit and names another one below it"
                book.wrong(message, intents=(record.intent,), commits=(commit.id,))
        missing = set(commit.several) - {record.intent for record in held if record.run == commit.run}
        if missing:
            book.wrong("its commit names it, and no note has its record", intents=sorted(missing), commits=(commit.id,))
        if held:
            records.setdefault(commit.id, []).extend(held)
    known = {commit.id for commit in (*landings, *composed)} | carried.keys()
    left_over = [commit for commit in notes if commit not in known]
    if left_over:
        book.note("notes of commits that land nothing on this branch", commits=left_over)
    count = len(landings) + sum(map(len, carried.values()))
    return book.check(f"{count} landings, {len(notes)} notes"), records

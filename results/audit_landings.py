"""Audit the landings as commits and notes: each intent once, on a history that stands on the base, with its record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from qodebase.codec import BadData
from qodebase.composition import read_composition
from qodebase.paths import CommitId
from qodebase.record import Record, read_notes
from qodebase.trunk.reader import Reader
from qodebase.trunk.refs import NOTES_REF
from results.audit_told import check_told
from results.evidence import Evidence
from results.findings import Check, Notebook
from results.history import Commit, History


def check_commits(evidence: Evidence) -> Check:
    """Compare main's history with the journal's landings, commit by commit."""
    book = Notebook("commits")
    history = evidence.history
    if not history.reaches_base:
        book.wrong("main does not stand on the run's base any more", commits=(history.base, history.tip))
    by_id = {commit.id: commit for commit in history.ours}
    for intent, landings in evidence.landed.items():
        for landed in landings:
            commit = by_id.get(landed.commit)
            if commit is None:
                message = "the commit that the journal names is not on main: main was rewritten"
                book.wrong(message, intents=(intent,), commits=(landed.commit,))
            elif (commit.intent, commit.parent) != (intent, landed.parent):
                message = "the journal names another intent or parent than the commit"
                book.wrong(message, intents=(intent, commit.intent), commits=(commit.id,))
            elif _ride(commit) != (str(landed.attempt), str(landed.replay), landed.lane, landed.train):
                message = "the journal names another attempt, replay, lane or train than the commit"
                book.wrong(message, intents=(intent,), commits=(commit.id,))
    check_once(book, history.landings)
    counted = f"{len(history.ours)} landings and {len(history.foreign)} foreign commits on main since the base"
    return book.check(counted)


def _ride(commit: Commit) -> tuple[str, str, str, str]:
    return commit.attempt, commit.replay, commit.lane, commit.train


def check_once(book: Notebook, landings: Mapping[str, Sequence[Commit]]) -> None:
    """Write down every intent that more than one commit lands."""
    for intent, commits in landings.items():
        if len(commits) > 1:
            book.wrong(f"landed {len(commits)} times", intents=(intent,), commits=[commit.id for commit in commits])


def check_notes(evidence: Evidence) -> tuple[Check, dict[CommitId, Record]]:
    """Check that each landing has exactly one record that says the same, and that no record is left over.

    Returns:
        the check, and the records of the landings.
    """
    book = Notebook("notes")
    landings = evidence.history.ours
    records = compare_notes(book, landings, evidence.notes)
    check_told(book, evidence, records)
    on_main = {landing.id for landing in landings}
    check_compositions(book, evidence.history.composed, evidence.notes)
    on_main |= {commit.id for commit in evidence.history.composed}
    for commit, notes in evidence.notes.items():
        held = records_in(notes) if commit not in on_main else ()
        left_over = tuple(record.intent for record in held if record.run == evidence.settings.run)
        if not left_over:
            continue
        if evidence.unfinished:
            message = "a note of a commit that is not on main: a process ended before main moved; resuming undoes it"
            book.note(message, intents=left_over, commits=(commit,))
        else:
            message = "a note of a commit that does not land anything on main"
            book.wrong(message, intents=left_over, commits=(commit,))
    return book.check(f"{len(landings)} landings, {len(evidence.notes)} notes"), records


def check_compositions(book: Notebook, composed: Sequence[Commit], notes: Mapping[CommitId, Sequence[bytes]]) -> None:
    """Write down every commit that composes shards and has not exactly one note that says the same."""
    for commit in composed:
        found = notes.get(commit.id, ())
        try:
            told = read_composition(found[0]) if len(found) == 1 else None
        except BadData:
            told = None
        if told is None or (told.run, told.composes.text, told.parent) != (commit.run, commit.composes, commit.parent):
            book.wrong("its commit composes shards, and no note, or not one alone, says the same", commits=(commit.id,))


def compare_notes(
    book: Notebook, landings: Iterable[Commit], notes: Mapping[CommitId, Sequence[bytes]]
) -> dict[CommitId, Record]:
    """Write down every landing without exactly one record that says what its commit says; return the records."""
    records = {}
    for commit in landings:
        found = notes.get(commit.id, ())
        fault = ""
        if len(found) != 1:
            fault = f"its commit has {len(found)} notes" if found else "its commit has no note"
        else:
            try:
                told = read_notes(found[0])
            except BadData as error:
                fault = f"its note is no record: {error.message}"
            else:
                own = [record for record in told if (record.run, record.intent) == (commit.run, commit.intent)]
                records[commit.id] = own[0] if len(own) == 1 else told[0]
                differs = _differences(commit, records[commit.id])
                fault = f"its note and its commit do not agree on: {', '.join(differs)}" if differs else ""
                if len(own) > 1:
                    fault = f"its note holds {len(own)} records of it"
                elif own and any(record.origin is None for record in told if record is not own[0]):
                    fault = "its note holds a record more, which was not carried here"
        if fault:
            book.wrong(fault, intents=(commit.intent,), commits=(commit.id,))
    return records


def _differences(commit: Commit, record: Record) -> list[str]:
    pairs = {
        "run": (commit.run, record.run),
        "intent": (commit.intent, record.intent),
        "attempt": (commit.attempt, str(record.attempt)),
        "replay": (commit.replay, str(record.replay)),
        "lane": (commit.lane, record.lane),
        "train": (commit.train, record.train),
        "parent": (commit.parent, record.parent),
    }
    return [name for name, (told, recorded) in pairs.items() if told != recorded]


def records_in(notes: Iterable[bytes]) -> Iterator[Record]:
    """Yield all records that the notes of a commit hold; what is none is left out."""
    for note in notes:
        with suppress(BadData):
            yield from read_notes(note)


def check_refs(reader: Reader, history: History, branch: str) -> Check:
    """Check that main and the notes have their refs."""
    book = Notebook("refs")
    refs = [branch]
    if reader.tip(NOTES_REF) is not None:
        refs.append(NOTES_REF)
    elif history.ours:
        book.wrong(f"{NOTES_REF} is missing, and {len(history.ours)} intents landed")
    return book.check(", ".join(refs))

"""A repository in which records were carried to other commits: each intent once, on the commit that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from qodebase.paths import CommitId
from qodebase.record import Record, write_notes
from results.audit import verify_repository
from results.findings import Audit

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun

PERSON = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


def squashed(toy: ToyRun, message: str = "Merge a pull request") -> CommitId:
    """Put all that main holds on the branch ``squashed``, as one commit on the base."""
    commit = toy.git(*PERSON, "commit-tree", "main^{tree}", "-p", toy.ids[0], "-m", message)
    toy.git("update-ref", "refs/heads/squashed", commit)
    return CommitId(commit)


def carried(toy: ToyRun) -> list[Record]:
    """Return the records of all landings, as they are on a commit on the base."""
    numbers = [number for number, commit in enumerate(toy.commits) if commit.intent is not None]
    return [toy.record(number).carried(toy.ids[number + 1], toy.ids[0]) for number in numbers]


def note(toy: ToyRun, commit: CommitId, records: Sequence[Record]) -> None:
    text = write_notes(records).decode()
    toy.git(*PERSON, "notes", "--ref=qodebase", "add", "--force", "--file=-", commit, stdin=text.encode())


def audit(toy: ToyRun) -> Audit:
    return verify_repository(toy.git_dir, branch="squashed")


def test_a_commit_that_holds_the_records_of_all_is_clean(toy: ToyRun) -> None:
    records = carried(toy)
    note(toy, squashed(toy), records)
    found = audit(toy)
    assert found.ok
    assert found.checks[0].counted.startswith(f"{len(records)} landings of 1 runs")


def test_a_commit_that_names_several_needs_a_record_of_each(toy: ToyRun) -> None:
    records = carried(toy)
    names = "".join(f"Qodebase-Intent: {record.intent}\n" for record in records)
    commit = squashed(toy, f"Land all\n\nQodebase-Run: {records[0].run}\n{names}")
    note(toy, commit, records)
    assert audit(toy).ok
    note(toy, commit, records[1:])
    (finding,) = audit(toy).findings
    assert finding.intents == (records[0].intent,)
    assert finding.message == "its commit names it, and no note has its record"


def test_a_message_that_ends_with_one_intent_may_hold_the_records_of_more(toy: ToyRun) -> None:
    *others, last = carried(toy)
    words = {
        "Intent": last.intent,
        "Attempt": last.attempt,
        "Replay": last.replay,
        "Lane": last.lane,
        "Train": last.train,
    }
    trailers = "".join(f"Qodebase-{key}: {value}\n" for key, value in words.items())
    commit = squashed(toy, f"Land all\n\n* Do the others.\n\nQodebase-Run: {last.run}\n{trailers}")
    note(toy, commit, [*others, last])
    assert audit(toy).ok
    note(toy, commit, others)
    assert any("do not agree on: intent" in finding.message for finding in audit(toy).findings)


def test_an_intent_on_two_commits_is_doubled(toy: ToyRun) -> None:
    records = carried(toy)
    first = squashed(toy)
    second = toy.git(*PERSON, "commit-tree", "main^{tree}", "-p", first, "-m", "Again")
    toy.git("update-ref", "refs/heads/squashed", second)
    note(toy, first, records)
    note(toy, CommitId(second), [records[0].carried(first, first)])
    (finding,) = audit(toy).findings
    assert (finding.message, finding.intents) == ("landed 2 times", (records[0].intent,))


def test_a_record_that_belongs_on_another_commit_is_named(toy: ToyRun) -> None:
    records = carried(toy)
    note(toy, squashed(toy), [*records[1:], msgspec.structs.replace(records[0], parent=toy.ids[1])])
    (finding,) = audit(toy).findings
    assert finding.message == "its record was carried to this commit and names another one below it"


def test_what_a_merge_brought_in_counts_and_needs_its_notes(toy: ToyRun) -> None:
    merge = toy.git(*PERSON, "commit-tree", "main^{tree}", "-p", toy.ids[0], "-p", "main", "-m", "Merge")
    toy.git("update-ref", "refs/heads/squashed", merge)
    found = audit(toy)
    assert found.ok
    assert found.checks[0].counted.startswith(f"{len(carried(toy))} landings of 1 runs")
    toy.git(*PERSON, "notes", "--ref=qodebase", "remove", toy.ids[1])
    (finding,) = audit(toy).findings
    assert finding.message == "its commit has no note"


def test_a_record_more_in_the_note_of_a_landing_must_have_been_carried_there(toy: ToyRun) -> None:
    toy.git("update-ref", "refs/heads/squashed", "main")
    first, second = toy.record(0), toy.record(1)
    note(toy, toy.ids[1], [first, msgspec.structs.replace(second, intent="doc:forged")])
    (finding,) = audit(toy).findings
    assert finding.message == "its note holds a record more, which was not carried here"
    note(toy, toy.ids[1], [first, first])
    (finding,) = audit(toy).findings
    assert finding.message == "its note holds 2 records of it"

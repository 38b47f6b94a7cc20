"""What a repository proves with its commits and notes alone, each forgery named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from qodebase.paths import RepoPath
from qodebase.record import Record
from results.audit import verify_repository
from results.findings import Audit

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun

INDEX = RepoPath(b"docs/INDEX.md")
VICTIM = "doc:src/m1/f0004.py"
LINE = b"- `src/m1/f0004.py` `x` constant\n"


def _audit(toy: ToyRun) -> Audit:
    return verify_repository(toy.git_dir, branch="main")


def _place(toy: ToyRun, intent: str) -> int:
    return [commit.intent for commit in toy.commits].index(intent)


def test_an_honest_repository_satisfies_every_check_and_says_what_was_not_checked(honest: ToyRun) -> None:
    audit = _audit(honest)
    assert audit.findings == ()
    assert audit.check("records").counted == "13 landings against the commits between base and landing"
    assert [text.partition(":")[0] for text in audit.not_checked] == [
        "the ledger, and intents that did not land",
        "what the landings did",
        "the job's own promise, and which lines shared paths must hold",
    ]


def test_a_dropped_landing_is_missed_by_the_notes_behind_it(toy: ToyRun) -> None:
    toy.rewrite(commit for commit in toy.commits if commit.intent != VICTIM)
    findings = _audit(toy).check("records").findings
    missed = [finding.intents for finding in findings if "no commit before it lands it" in finding.message]
    assert missed
    assert {intents[0] for intents in missed} == {VICTIM}


def test_a_doubled_landing_is_named(toy: ToyRun) -> None:
    twin = toy.commits[_place(toy, VICTIM)]
    toy.rewrite([*toy.commits, replace(twin, edits={RepoPath(b"README"): b"again"})])
    (finding,) = _audit(toy).check("commits").findings
    assert (finding.message, finding.intents) == ("landed 2 times", (VICTIM,))


def test_a_missing_note_is_named(toy: ToyRun) -> None:
    toy.git("-c", "user.name=T", "-c", "user.email=t@t", "notes", "--ref=qodebase", "remove", toy.commit_of(VICTIM))
    (finding,) = _audit(toy).findings
    assert (finding.message, finding.intents) == ("its commit has no note", (VICTIM,))


def test_an_index_line_that_stands_twice_is_named_with_the_landing_that_doubled_it(toy: ToyRun) -> None:
    place = _place(toy, VICTIM)
    toy.rewrite(
        replace(commit, edits={**commit.edits, INDEX: (commit.edits[INDEX] or b"").replace(LINE, LINE + LINE)})
        if number >= place and INDEX in commit.edits
        else commit
        for number, commit in enumerate(toy.commits)
    )
    (finding,) = _audit(toy).findings
    assert (finding.path, finding.intents) == (INDEX, (VICTIM,))
    assert finding.message == f"a line stands there 2 times: {LINE.decode().strip()}"


def test_content_of_a_path_that_had_moved_needs_a_note_that_says_how_it_was_redone(toy: ToyRun) -> None:
    place = _place(toy, "edit:bottom")
    toy.commits[place] = replace(toy.commits[place], collided=())
    toy.rewrite(toy.commits)
    (finding,) = _audit(toy).findings
    assert (finding.path, finding.intents) == (RepoPath(b"src/common.py"), ("edit:bottom",))
    assert finding.message == "main had moved under it since its base, and its note does not say so"


def test_a_changed_code_token_of_another_landings_file_is_named(toy: ToyRun) -> None:
    path = RepoPath(VICTIM.removeprefix("doc:").encode())
    place = _place(toy, VICTIM)
    heir = toy.commits[place + 1]
    forged = (toy.commits[place].edits[path] or b"").replace(b"x = 4", b"x = 5")
    toy.rewrite(
        [*toy.commits[: place + 1], replace(heir, edits={**heir.edits, path: forged}), *toy.commits[place + 2 :]]
    )
    (finding,) = _audit(toy).findings
    assert (finding.path, finding.intents) == (path, (heir.intent,))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"verdict": "red"}, "its note says that the gate's verdict was red"),
        ({"base": "f" * 40}, "its note names a base that main did not come through before it"),
    ],
)
def test_a_note_that_tells_of_no_honest_landing_is_named(
    toy: ToyRun, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], message: str
) -> None:
    honest = toy.record

    def record(number: int) -> Record:
        told = honest(number)
        return Record(**{**_fields(told), **changed}) if told.intent == VICTIM else told

    monkeypatch.setattr(toy, "record", record)
    toy.rewrite(toy.commits)
    (finding,) = _audit(toy).findings
    assert (finding.message, finding.intents) == (message, (VICTIM,))


def _fields(record: Record) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def test_commits_of_people_and_notes_of_other_branches_are_no_faults(toy: ToyRun) -> None:
    toy.add_foreign({INDEX: b"# Rewritten\n\n", RepoPath(b"README"): b"by hand"})
    assert _audit(toy).findings == ()

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.events import ChangeMade, Landed
from qodebase.intent import Undone
from qodebase.journal import read_events
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import SharedPath, Tree
from qodebase.record import Record, Times, Usage, write_note, write_notes
from qodebase.segments import Ref, SegmentWriter
from results.audit import NoBranch, verify_repository, verify_run
from results.findings import Audit
from results.means import Means, redo_step

if TYPE_CHECKING:
    from tests.results.conftest import Commit, ToyAudit, ToyRun

INDEX = RepoPath(b"docs/INDEX.md")
README = RepoPath(b"README")
VICTIM = "doc:src/m1/f0004.py"
SHARED = (SharedPath(path=INDEX, rule="sorted-index"),)

Lines = list[dict[str, Any]]


@pytest.fixture
def means(toy_audit: ToyAudit) -> Means:
    return Means(job=lambda base: toy_audit, shared=SHARED)


def _place(toy: ToyRun, intent: str) -> int:
    return [commit.intent for commit in toy.commits].index(intent)


def _found(audit: Audit, check: str) -> dict[str, tuple[str, ...]]:
    return {finding.message: finding.intents for finding in audit.check(check).findings}


def _names(audit: Audit, check: str, intent: str) -> bool:
    return any(intent in intents for intents in _found(audit, check).values())


def _bad_checks(audit: Audit) -> set[str]:
    return {check.name for check in audit.checks if not check.ok}


def test_an_honest_run_satisfies_every_check(honest: ToyRun, means: Means) -> None:
    audit = verify_run(honest.folder, means)
    assert audit.findings == ()
    assert audit.ok
    assert audit.not_checked == ()
    assert audit.check("ledger").counted.startswith("19 intents = 13 landed + 1 sent back")
    assert audit.check("content").counted == "13 landings: 12 paths as the change makes them, 1 redone again"
    assert audit.check("shared paths").counted == "docs/INDEX.md: 9 landings, 11 expected, 11 there"


def test_an_audit_is_plain_data_and_tells_its_progress(honest: ToyRun, means: Means) -> None:
    told: list[tuple[int, int, str]] = []
    audit = verify_run(honest.folder, means, progress=lambda *step: told.append(step))
    assert json.loads(json.dumps(audit.as_dict())) == audit.as_dict()
    assert told[0] == (0, 13, "journal and notes")
    assert told[-1] == (13, 13, "git fsck")


@pytest.mark.parametrize("full", [False, True])
def test_the_job_is_asked_for_every_landing_and_told_whether_to_prove_all(
    honest: ToyRun, toy_audit: ToyAudit, full: bool
) -> None:
    bases: list[str] = []

    def job(base: Tree) -> ToyAudit:
        bases.append(base.commit)
        return toy_audit

    audit = verify_run(honest.folder, Means(job=job, shared=SHARED, full=full))
    assert audit.check("promise").counted == "13 landings"
    assert toy_audit.full == {full}
    assert bases == [honest.base]


def test_without_job_and_ladder_the_audit_says_what_it_could_not_check(honest: ToyRun) -> None:
    audit = verify_run(honest.folder, Means(shared=SHARED, redo=None))
    assert audit.ok
    assert audit.not_checked == (
        "the job's own promise, that changes keep to the scopes of their intents, and the whole of the shared paths: "
        "the job is not at hand",
        "1 paths that were redone: the replay ladder is not at hand",
    )


def test_a_dropped_landing_is_named(toy: ToyRun, means: Means) -> None:
    toy.rewrite(commit for commit in toy.commits if commit.intent != VICTIM)
    audit = verify_run(toy.folder, means)
    assert _found(audit, "ledger") == {"landed in the journal, but no commit of main lands it": (VICTIM,)}
    assert "12 landed" in audit.check("ledger").counted
    assert _names(audit, "commits", VICTIM)


def test_a_landing_dropped_with_its_lines_kept_is_named_by_what_is_left_over(toy: ToyRun, means: Means) -> None:
    place = _place(toy, VICTIM)
    dropped, heir = toy.commits[place], toy.commits[place + 1]
    toy.commits[place + 1] = replace(heir, edits={**dropped.edits, **heir.edits})
    toy.rewrite(toy.commits[:place] + toy.commits[place + 1 :])
    audit = verify_run(toy.folder, means)
    assert _found(audit, "ledger") == {"landed in the journal, but no commit of main lands it": (VICTIM,)}
    path = RepoPath(VICTIM.removeprefix("doc:").encode())
    (extra,) = [finding for finding in audit.check("content").findings if "does not touch" in finding.message]
    assert (extra.path, extra.intents) == (path, (heir.intent,))
    assert _names(audit, "shared paths", heir.intent or "")


def test_a_doubled_landing_is_named(toy: ToyRun, means: Means) -> None:
    place = _place(toy, VICTIM)
    twin = toy.commits[place]
    toy.rewrite([*toy.commits, replace(twin, edits={README: b"again"})])
    audit = verify_run(toy.folder, means)
    assert _found(audit, "ledger") == {"landed 2 times": (VICTIM,)}
    assert _names(audit, "content", VICTIM)


def test_a_missing_note_is_named(toy: ToyRun, means: Means) -> None:
    _notes(toy, "remove", toy.commit_of(VICTIM))
    audit = verify_run(toy.folder, means)
    assert _bad_checks(audit) == {"notes"}
    assert _found(audit, "notes") == {"its commit has no note": (VICTIM,)}


def test_a_note_of_another_landing_is_named(toy: ToyRun, means: Means) -> None:
    _notes(toy, "copy", "-f", toy.commit_of("edit:top"), toy.commit_of(VICTIM))
    audit = verify_run(toy.folder, means)
    (message,) = _found(audit, "notes")
    assert message.startswith("its note and its commit do not agree on: intent")
    assert _names(audit, "notes", VICTIM)


def test_a_note_that_is_no_record_is_named(toy: ToyRun, means: Means) -> None:
    _notes(toy, "add", "-f", "-m", "scribble", toy.commit_of(VICTIM))
    audit = verify_run(toy.folder, means)
    assert _bad_checks(audit) == {"notes"}
    assert _names(audit, "notes", VICTIM)


def test_a_note_on_a_commit_that_is_not_on_main_is_left_over(toy: ToyRun, means: Means) -> None:
    _notes(toy, "copy", toy.commit_of(VICTIM), toy.base)
    audit = verify_run(toy.folder, means)
    assert _found(audit, "notes") == {"a note of a commit that does not land anything on main": (VICTIM,)}


def test_a_note_of_somebody_else_is_left_alone(toy: ToyRun, means: Means) -> None:
    _notes(toy, "add", "-m", "a person's note", toy.base)
    assert verify_run(toy.folder, means).ok


def test_a_note_of_two_records_on_a_commit_that_lands_nothing_is_left_over(toy: ToyRun, means: Means) -> None:
    records = [toy.record(_place(toy, intent)) for intent in (VICTIM, "edit:top")]
    _notes(toy, "add", "-m", write_notes(records).decode(), toy.base)
    message = "a note of a commit that does not land anything on main"
    assert _found(verify_run(toy.folder, means), "notes") == {message: (VICTIM, "edit:top")}


@pytest.mark.parametrize(
    ("intent", "field", "changed"),
    [
        (VICTIM, "asked", {"asked": "Do as you like."}),
        (VICTIM, "agent", {"agent": "agent-2"}),
        (VICTIM, "model", {"model": "another"}),
        (VICTIM, "tree", {"tree": "f" * 40}),
        (VICTIM, "verdict", {"verdict": "red"}),
        (VICTIM, "checks", {"checks": ("sound",)}),
        (VICTIM, "collisions", {"collisions": ()}),
        (VICTIM, "prompt", {"plan": {"prompt": "another", "answer": "", "change": ""}}),
        (VICTIM, "change", {"plan": {"prompt": "p", "answer": "", "change": ""}}),
        (VICTIM, "usage", {"usage": Usage(calls=1, input_tokens=11, output_tokens=5, cost_usd=0.001)}),
        ("hot:second", "usage", {"usage": Usage(calls=2, input_tokens=20, output_tokens=10, cost_usd=0.001)}),
        (VICTIM, "times", {"times": Times(admitted=1.0, answered=2.0, queued=3.0, landed=4.0)}),
        (VICTIM, "deterministic", {"deterministic": True}),
        (VICTIM, "simulated", {"simulated": False}),
        (VICTIM, "undoes", {"undoes": Undone(run="other", intent="edit:top", commit=CommitId("f" * 40))}),
        (VICTIM, "base", {"base": "f" * 40}),
    ],
)
def test_a_field_of_a_note_that_the_journal_does_not_say_is_named(
    toy: ToyRun, means: Means, monkeypatch: pytest.MonkeyPatch, intent: str, field: str, changed: dict[str, Any]
) -> None:
    _tell(toy, monkeypatch, intent, changed)
    (message,) = _found(verify_run(toy.folder, means), "notes")
    said, _, fields = message.partition(": ")
    assert said == "its note tells what the journal does not"
    assert field in fields.split(", ")
    assert _names(verify_run(toy.folder, means), "notes", intent)


@pytest.mark.parametrize("field", ["admitted", "answered", "queued", "landed"])
@pytest.mark.parametrize("shift_s", [-5.0, 5.0])
def test_a_time_of_a_note_that_does_not_fit_between_the_events_around_it_is_named(
    toy: ToyRun, means: Means, monkeypatch: pytest.MonkeyPatch, field: str, shift_s: float
) -> None:
    times = toy.told["hot:second"].times
    changed = msgspec.structs.replace(times, **{field: getattr(times, field) + shift_s})
    _tell(toy, monkeypatch, "hot:second", {"times": changed})
    assert _found(verify_run(toy.folder, means), "notes") == {
        "its note tells what the journal does not: times": ("hot:second",)
    }


@pytest.mark.parametrize(
    ("kind", "what", "intent"),
    [
        ("asked", "prompt", VICTIM),
        ("asked", "prompt", "back"),
        ("answered", "answer", VICTIM),
        ("answered", "answer", "back"),
        ("change made", "change", "hot:second"),
    ],
)
def test_a_kept_text_that_is_not_the_one_that_the_journal_names_is_a_finding(
    toy: ToyRun, means: Means, kind: str, what: str, intent: str
) -> None:
    segments = SegmentWriter(toy.folder.attempts)
    other = segments.put(b'[{"role":"user","text":"Do something else."}]').text
    segments.close()

    def doctored(lines: Lines) -> Lines:
        return [line | {"ref": other} if _is(line, kind, intent) else line for line in lines]

    toy.edit_lines("journal.jsonl", doctored)
    message = f"the {what} that is kept is not the one that the journal names"
    assert _found(verify_run(toy.folder, means), "texts") == {message: (intent,)}


def test_texts_that_cannot_be_read_are_named_and_those_that_nobody_keeps_are_not_missed(
    toy: ToyRun, means: Means
) -> None:
    (segment,) = toy.folder.attempts.iterdir()
    content = bytearray(segment.read_bytes()[:-5])
    content[20] ^= 0xFF
    segment.write_bytes(content)
    check = verify_run(toy.folder, means).check("texts")
    assert [(one.message, one.intents) for one in check.findings] == [
        ("a kept prompt cannot be read", ("doc:src/m0/f0000.py",))
    ]
    assert [(one.message, one.intents) for one in check.noted] == [("a kept answer cannot be read", ("back",))]

    def forgotten(lines: Lines) -> Lines:
        return [line | {"ref": ""} if line["kind"] in ("asked", "answered") else line for line in lines]

    toy.edit_lines("journal.jsonl", forgotten)
    assert verify_run(toy.folder, means).check("texts").ok


def test_prompts_whose_texts_an_archive_left_out_are_told_as_not_compared(toy: ToyRun, means: Means) -> None:
    segments = SegmentWriter(toy.folder.attempts)
    nothing = segments.put(b"[]").text
    segments.close()

    def taken_out(lines: Lines) -> Lines:
        return [line | {"ref": nothing} if line["kind"] == "asked" else line for line in lines]

    toy.edit_lines("journal.jsonl", taken_out)
    audit = verify_run(toy.folder, means)
    assert audit.ok
    assert audit.not_checked == ("17 prompts: their texts were taken out, or their limits are not in the journal",)


def test_symbols_of_a_note_that_its_change_does_not_name_are_a_finding(
    toy: ToyRun, means: Means, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tell(toy, monkeypatch, VICTIM, {"symbols": ("src/common.py#main",)})
    audit = verify_run(toy.folder, means)
    assert _found(audit, "content") == {"its note names other symbols than its change": (VICTIM,)}


def _tell(toy: ToyRun, monkeypatch: pytest.MonkeyPatch, intent: str, changed: dict[str, Any]) -> None:
    """Write all notes again, that of one intent with other fields."""
    honest = toy.record

    def record(number: int) -> Record:
        told = honest(number)
        return msgspec.structs.replace(told, **changed) if told.intent == intent else told

    monkeypatch.setattr(toy, "record", record)
    toy.rewrite(toy.commits)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("landed from attempt 1", "landed from attempt 2", "its note tells what the journal does not: its sentence"),
        (
            'verdict: "green"',
            'verdict: "red"\nverdict: "green"',
            "its note is no record: note: field b'verdict' stands",
        ),
    ],
)
def test_what_people_would_read_in_a_note_is_what_its_fields_say_once(
    toy: ToyRun, means: Means, old: str, new: str, message: str
) -> None:
    note = write_note(toy.record(_place(toy, VICTIM))).decode()
    _notes(toy, "add", "-f", "-m", note.replace(old, new), toy.commit_of(VICTIM))
    (found,) = _found(verify_run(toy.folder, means), "notes")
    assert found.startswith(message)


def _notes(toy: ToyRun, *arguments: str) -> None:
    toy.git("-c", "user.name=T", "-c", "user.email=t@t", "notes", "--ref=qodebase", *arguments)


def test_an_index_line_that_stands_twice_is_named(toy: ToyRun, means: Means) -> None:
    line = b"- `src/m1/f0004.py` `x` constant\n"
    _rewrite_from(toy, VICTIM, lambda content: content.replace(line, line + line), INDEX)
    audit = verify_run(toy.folder, means)
    assert _names(audit, "shared paths", VICTIM)
    assert "too many: - `src/m1/f0004.py` `x` constant" in _found(audit, "shared paths")
    assert audit.check("content").ok


def test_an_index_line_that_is_missing_is_named(toy: ToyRun, means: Means) -> None:
    line = b"- `src/m1/f0004.py` `x` constant\n"
    _rewrite_from(toy, VICTIM, lambda content: content.replace(line, b""), INDEX)
    audit = verify_run(toy.folder, means)
    assert _names(audit, "shared paths", VICTIM)
    assert "missing: - `src/m1/f0004.py` `x` constant" in _found(audit, "shared paths")


def test_a_changed_code_token_is_named(toy: ToyRun, means: Means) -> None:
    path = RepoPath(VICTIM.removeprefix("doc:").encode())
    _rewrite_from(toy, VICTIM, lambda content: content.replace(b"x = 4", b"x = 5"), path)
    audit = verify_run(toy.folder, means)
    assert _found(audit, "content") == {"its content is not what its change makes": (VICTIM,)}
    assert _found(audit, "promise") == {"more than a header was changed": (VICTIM,)}
    (finding,) = audit.check("final tree").findings
    assert (finding.path, finding.intents) == (path, (VICTIM,))


def test_a_merge_that_dropped_a_side_is_named(toy: ToyRun, means: Means) -> None:
    _rewrite_from(toy, "edit:bottom", lambda content: content.replace(b"two\n", b"2\n"), RepoPath(b"src/common.py"))
    audit = verify_run(toy.folder, means)
    assert _found(audit, "content") == {"its content is not what its change makes": ("edit:bottom",)}
    assert not audit.check("final tree").ok


def _rewrite_from(toy: ToyRun, intent: str, forge: Any, path: RepoPath) -> None:
    """Write history again with a path's content forged from an intent's landing on."""
    place = _place(toy, intent)
    toy.rewrite(
        replace(commit, edits=_forged(commit, forge, path)) if number >= place else commit
        for number, commit in enumerate(toy.commits)
    )


def _forged(commit: Commit, forge: Any, path: RepoPath) -> Mapping[RepoPath, bytes | None]:
    return {name: forge(content) if name == path else content for name, content in commit.edits.items()}


def test_a_changed_file_mode_is_named(toy: ToyRun, means: Means) -> None:
    path = RepoPath(VICTIM.removeprefix("doc:").encode())
    place = _place(toy, VICTIM)
    toy.commits[place] = replace(toy.commits[place], executable=frozenset({path}))
    toy.rewrite(toy.commits)
    audit = verify_run(toy.folder, means)
    assert _found(audit, "content") == {"its file mode is 100755, and its change makes 100644": (VICTIM,)}
    assert not audit.check("final tree").ok


def test_a_path_that_a_landing_left_out_or_deleted_is_named(toy: ToyRun, means: Means) -> None:
    path = RepoPath(VICTIM.removeprefix("doc:").encode())
    place = _place(toy, VICTIM)
    toy.commits[place] = replace(toy.commits[place], edits={**toy.commits[place].edits, path: None})
    toy.rewrite(toy.commits)
    audit = verify_run(toy.folder, means)
    assert _found(audit, "content") == {"its change keeps this path, and it is gone": (VICTIM,)}
    assert _names(audit, "promise", VICTIM)


def test_a_replay_that_the_journal_does_not_name_is_a_finding(toy: ToyRun, means: Means) -> None:
    toy.edit_lines("journal.jsonl", lambda lines: [line for line in lines if not _is(line, "collision", "edit:bottom")])
    audit = verify_run(toy.folder, means)
    message = "main had moved under it, and the journal names no replay"
    assert _found(audit, "content") == {message: ("edit:bottom",)}


def test_a_model_replay_is_proved_by_the_change_that_it_made(toy: ToyRun, means: Means) -> None:
    toy.edit_lines("journal.jsonl", lambda lines: [line for line in lines if line["kind"] != "replayed"])
    audit = verify_run(toy.folder, means)
    assert _found(audit, "content") == {"the journal holds no change for it": ("hot:second",)}


def test_a_step_that_declines_what_it_once_redid_is_a_finding(honest: ToyRun) -> None:
    means = Means(shared=SHARED, redo=lambda collision, by: Declined(why=f"{by} has changed"))
    audit = verify_run(honest.folder, means)
    assert _found(audit, "content") == {"redone by merge, which now declines it: merge has changed": ("edit:bottom",)}


def test_steps_of_the_ladder_are_done_again_by_name() -> None:
    collision = Collision(
        path=INDEX, base=Side(content=b"a\n"), main=Side(content=b"a\nb\n"), change=Side(content=b"a\n")
    )
    assert redo_step(collision, "merge") == Resolved(content=b"a\nb\n")
    assert isinstance(redo_step(collision, "rule:no-such-rule"), Declined)
    assert isinstance(redo_step(collision, "model:some"), Declined)


def test_a_run_that_a_process_works_on_is_audited_as_far_as_it_is(toy: ToyRun, means: Means) -> None:
    with toy.folder.locked():
        audit = verify_run(toy.folder, means)
    assert audit.ok
    assert audit.not_checked == ("what a process does to the run just now",)


def test_a_removed_journal_line_of_a_landing_is_named(toy: ToyRun, means: Means) -> None:
    toy.edit_lines("journal.jsonl", lambda lines: [line for line in lines if not _is(line, "landed", VICTIM)])
    audit = verify_run(toy.folder, means)
    assert _found(audit, "ledger") == {"a commit of main lands it, but the journal does not say so": (VICTIM,)}
    assert _names(audit, "journal", VICTIM)


@pytest.mark.parametrize("kind", ["admitted", "asked", "answered", "change made", "queued", "landed"])
def test_any_removed_journal_line_leaves_a_gap_that_names_the_intent(toy: ToyRun, means: Means, kind: str) -> None:
    toy.edit_lines("journal.jsonl", lambda lines: [line for line in lines if not _is(line, kind, VICTIM)])
    audit = verify_run(toy.folder, means)
    assert _names(audit, "journal", VICTIM)
    if kind == "change made":
        assert _found(audit, "content") == {"the journal holds no change for it": (VICTIM,)}


def test_a_journal_line_that_stands_twice_is_named(toy: ToyRun, means: Means) -> None:
    toy.edit_lines(
        "journal.jsonl", lambda lines: [line for line in lines for _ in range(1 + _is(line, "landed", VICTIM))]
    )
    audit = verify_run(toy.folder, means)
    assert _names(audit, "journal", VICTIM)
    assert _found(audit, "endings") == {"ended 2 times": (VICTIM,)}


def test_a_journal_line_of_another_run_is_named(toy: ToyRun, means: Means) -> None:
    toy.edit_lines(
        "journal.jsonl",
        lambda lines: [line | {"run": "other"} if _is(line, "landed", VICTIM) else line for line in lines],
    )
    assert _found(verify_run(toy.folder, means), "journal") == {"events of another run: other": (VICTIM,)}


def test_a_broken_journal_line_is_a_finding_and_not_the_end_of_the_audit(toy: ToyRun, means: Means) -> None:
    lines = toy.folder.journal.read_bytes().splitlines(keepends=True)
    lines[-3] = b"}not json{\n"
    toy.folder.journal.write_bytes(b"".join(lines))
    audit = verify_run(toy.folder, means)
    assert any(f"line {len(lines) - 2} is not JSON" in message for message in _found(audit, "journal"))
    assert audit.check("content").ok


def _is(line: dict[str, Any], kind: str, intent: str) -> bool:
    return bool(line["kind"] == kind and line.get("intent") == intent)


@pytest.mark.parametrize("forged", [{"verdict": "red"}, {"train": "other"}, {"of": "main"}, {"tree": "f" * 40}])
def test_a_landing_without_a_green_verdict_in_the_journal_is_named(
    toy: ToyRun, means: Means, forged: dict[str, str]
) -> None:
    train = toy.commits[_place(toy, VICTIM)].train

    def judged(line: dict[str, Any]) -> bool:
        return bool(line["kind"] == "judged" and line["train"] == train)

    toy.edit_lines("journal.jsonl", lambda lines: [line | forged if judged(line) else line for line in lines])
    assert _found(verify_run(toy.folder, means), "notes")[
        "landed, and the journal has no green verdict on a train of it"
    ] == (VICTIM,)


@pytest.mark.parametrize("forged", [{"lane": "docs"}, {"train": "src-99"}])
def test_a_landing_that_the_journal_has_in_another_lane_or_train_is_named(
    toy: ToyRun, means: Means, forged: dict[str, str]
) -> None:
    toy.edit_lines(
        "journal.jsonl", lambda lines: [line | forged if _is(line, "landed", VICTIM) else line for line in lines]
    )
    message = "the journal names another attempt, replay, lane or train than the commit"
    assert _found(verify_run(toy.folder, means), "commits") == {message: (VICTIM,)}


def test_changes_that_were_swapped_in_the_attempts_are_named(toy: ToyRun, means: Means) -> None:
    def swap(lines: Lines) -> Lines:
        made = [line for line in lines if line["kind"] == "change made"]
        made[0]["ref"], made[1]["ref"] = made[1]["ref"], made[0]["ref"]
        return lines

    toy.edit_lines("journal.jsonl", swap)
    message = "the attempts hold another change for it than the journal names"
    assert _found(verify_run(toy.folder, means), "content") == {message: tuple(work.intent for work in toy.works()[:2])}


def test_an_ending_that_was_taken_out_of_the_journal_of_a_run_that_ended_is_named(toy: ToyRun, means: Means) -> None:
    def forge(lines: Lines) -> Lines:
        kept = [line for line in lines if not _is(line, "ended", "refuse")]
        return [
            line | {"seq": seq} | ({"why": "ended"} if line is lines[-1] else {}) for seq, line in enumerate(kept, 1)
        ]

    toy.edit_lines("journal.jsonl", forge)
    message = "pending, and the run stopped because every intent had ended"
    assert _found(verify_run(toy.folder, means), "journal") == {message: ("refuse", "later")}


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ([], "an agent took it before any sitting began"),
        ([{"sitting": 2}], "sitting 2 begins where sitting 1 is due"),
        ([{}, {}], "sitting 1 begins where sitting 2 is due"),
        ([{"base": "f" * 40}], "a sitting began on another base than the run's"),
    ],
)
def test_sittings_that_are_missing_or_doubled_or_stand_on_another_base_are_named(
    toy: ToyRun, means: Means, forged: Lines, message: str
) -> None:
    def forge(lines: Lines) -> Lines:
        again = [*(lines[0] | line for line in forged), *lines[1:]]
        return [line | {"seq": seq} for seq, line in enumerate(again, 1)]

    toy.edit_lines("journal.jsonl", forge)
    assert _found(verify_run(toy.folder, means), "journal").keys() == {message}


def test_an_intent_removed_from_the_frozen_ones_is_named(toy: ToyRun, means: Means) -> None:
    toy.edit_lines("intents.jsonl", lambda lines: [line for line in lines if line["id"] != VICTIM])
    audit = verify_run(toy.folder, means)
    assert _found(audit, "endings") == {
        "in the journal, but not among the frozen intents": (VICTIM,),
        f"the frozen intents were changed; {toy.folder.settings().intents} were frozen": (),
    }
    assert _found(audit, "ledger") == {
        "a commit of main lands it, but it is not among the frozen intents": (VICTIM,),
    }


def test_an_intent_that_ended_and_landed_is_named(toy: ToyRun, means: Means) -> None:
    def end(lines: Lines) -> Lines:
        ended = {"kind": "ended", "v": 1, "run": "toy-1", "intent": VICTIM, "ending": "refused", "reason": "forged"}
        return [*lines, ended | {"seq": lines[-1]["seq"] + 1, "at": lines[-1]["at"]}]

    toy.edit_lines("journal.jsonl", end)
    audit = verify_run(toy.folder, means)
    assert _found(audit, "endings") == {"ended 2 times": (VICTIM,)}
    assert _found(audit, "ledger") == {"a commit of main lands it, but the journal ended it: refused": (VICTIM,)}


def test_changed_attempts_are_named(toy: ToyRun, means: Means) -> None:
    made = next(event for event in read_events(toy.folder.journal) if isinstance(event, ChangeMade))
    segment = toy.folder.attempts / "000001.seg"
    content = bytearray(segment.read_bytes())
    content[Ref.parse(made.ref).offset + 20] ^= 0xFF
    segment.write_bytes(bytes(content))
    audit = verify_run(toy.folder, means)
    (message,) = _found(audit, "content")
    assert message.startswith("its journalled change cannot be read")
    assert _names(audit, "content", toy.works()[0].intent)


def test_a_kill_between_git_and_journal_is_noted_and_no_fault(toy: ToyRun, means: Means) -> None:
    last = toy.works()[-1].intent

    def cut(lines: Lines) -> Lines:
        return lines[: next(number for number, line in enumerate(lines) if _is(line, "landed", last))]

    toy.edit_lines("journal.jsonl", cut)
    with toy.folder.journal.open("ab") as journal:
        journal.write(b'{"kind": "lan')
    audit = verify_run(toy.folder, means)
    assert audit.findings == ()
    (noted,) = audit.check("ledger").noted
    assert noted.intents == (last,)
    assert "13 landed" in audit.check("ledger").counted
    assert audit.check("journal").noted[0].message.startswith("the last line is torn: 13 bytes")


def test_a_kill_between_the_notes_and_main_is_noted_and_no_fault(toy: ToyRun, means: Means) -> None:
    last = toy.works()[-1].intent
    toy.edit_lines("journal.jsonl", lambda lines: lines[: [_is(line, "landed", last) for line in lines].index(True)])
    toy.git("update-ref", "refs/heads/main", toy.ids[-2])
    audit = verify_run(toy.folder, means)
    assert audit.findings == ()
    assert audit.check("notes").noted[0].intents == (last,)


def test_commits_of_people_are_listed_with_the_intents_whose_paths_they_changed(toy: ToyRun, means: Means) -> None:
    path = RepoPath(VICTIM.removeprefix("doc:").encode())
    first = toy.add_foreign({path: b"rewritten\n", README: b"new"})
    second = toy.add_foreign({README: None})
    audit = verify_run(toy.folder, means)
    assert audit.findings == ()
    noted = audit.check("foreign").noted
    assert [(finding.commits, finding.intents) for finding in noted] == [((first,), (VICTIM,)), ((second,), ())]


def test_a_person_may_edit_the_index_on_top_and_landings_before_it_are_still_proved(toy: ToyRun, means: Means) -> None:
    index = toy.git("show", f"main:{INDEX.decode()}").encode() + b"\n"
    toy.add_foreign({INDEX: index + b"- `by hand` `x` constant\n"})
    assert verify_run(toy.folder, means).findings == ()
    _rewrite_from(toy, VICTIM, lambda content: content.replace(b"f0004", b"f9999"), INDEX)
    toy.add_foreign({INDEX: index})
    audit = verify_run(toy.folder, means)
    assert "missing: - `src/m1/f0004.py` `x` constant" in _found(audit, "shared paths")


def test_landings_behind_a_persons_edit_of_the_index_are_proved_from_that_edit_on(toy: ToyRun, means: Means) -> None:
    by_hand = b"- `zz` `by hand` constant\n"
    place = _place(toy, VICTIM)
    before = toy.commits[place - 1].edits[INDEX] or b""
    person = replace(toy.commits[0], intent=None, collided=(), edits={INDEX: before + by_hand})
    behind = [
        replace(commit, edits={**commit.edits, INDEX: (commit.edits[INDEX] or b"") + by_hand})
        if INDEX in commit.edits
        else commit
        for commit in toy.commits[place:]
    ]
    toy.rewrite([*toy.commits[:place], person, *behind])
    audit = verify_run(toy.folder, means)
    assert audit.check("shared paths").findings == ()
    assert audit.check("foreign").noted[0].intents == ()
    assert audit.check("final tree").ok


def test_main_on_another_root_is_a_finding(toy: ToyRun, means: Means) -> None:
    who = ("-c", "user.name=T", "-c", "user.email=t@t")
    root = toy.git(*who, "commit-tree", "-m", "another root", toy.git("rev-parse", "main^{tree}"))
    toy.git("update-ref", "refs/heads/main", root)
    audit = verify_run(toy.folder, means)
    assert "main does not stand on the run's base any more" in _found(audit, "commits")
    assert len(audit.check("ledger").findings[0].intents) == 13
    assert audit.not_checked == ("what the landings did: main does not stand on the run's base",)


def test_a_damaged_object_is_a_finding_of_git_fsck(toy: ToyRun, means: Means) -> None:
    blob = toy.git("hash-object", "-w", "--stdin", stdin=b"loose")
    toy.add_foreign({README: b"loose"})
    loose = toy.git_dir / "objects" / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"not zlib")
    audit = verify_run(toy.folder, means)
    assert any(blob in message for message in _found(audit, "git fsck"))


def test_a_repository_without_the_branch_is_an_error(toy: ToyRun, means: Means) -> None:
    toy.git("update-ref", "-d", "refs/heads/main")
    with pytest.raises(NoBranch):
        verify_run(toy.folder, means)
    with pytest.raises(NoBranch, match="no branch nosuch"):
        verify_repository(toy.git_dir, branch="nosuch")


def test_a_repository_with_only_notes_gets_a_reduced_audit(toy: ToyRun) -> None:
    audit = verify_repository(toy.git_dir, branch="main")
    assert audit.ok
    assert audit.check("commits").counted == "13 landings of 1 runs among 14 commits"
    assert len(audit.not_checked) == 3
    twin = toy.commits[_place(toy, VICTIM)]
    toy.rewrite([*toy.commits, replace(twin, edits={README: b"again"})])
    _notes(toy, "remove", toy.commit_of("edit:top"))
    audit = verify_repository(toy.git_dir, branch="main")
    assert _found(audit, "commits") == {"landed 2 times": (VICTIM,)}
    assert _found(audit, "notes") == {"its commit has no note": ("edit:top",)}


def test_an_audit_in_a_git_hook_reads_the_repository_of_the_run(
    honest: ToyRun, means: Means, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert verify_run(honest.folder, means).findings == ()


def test_objects_that_somebody_replaced_for_a_look_are_audited_as_they_are(toy: ToyRun, means: Means) -> None:
    path = VICTIM.removeprefix("doc:")
    other = toy.git("hash-object", "-w", "--stdin", stdin=b"y = 2\n")
    toy.git("replace", toy.git("rev-parse", f"main:{path}"), other)
    assert verify_run(toy.folder, means).findings == ()


def test_an_audit_changes_nothing(honest: ToyRun, means: Means) -> None:
    def snapshot() -> dict[str, bytes]:
        files = [path for path in honest.folder.root.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in files}

    before = snapshot()
    verify_run(honest.folder, means)
    assert snapshot() == before


def test_the_toy_journal_names_the_commits_of_the_toy_repository(honest: ToyRun) -> None:
    landed = [event.commit for event in read_events(honest.folder.journal) if isinstance(event, Landed)]
    assert landed == honest.ids[1:]

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qodebase.codec import BadData
from qodebase.collision import Collided, Kind, Step
from qodebase.intent import Undone
from qodebase.paths import CommitId, RepoPath
from qodebase.record import Origin, Record, Times, Usage, read_note, read_notes, write_note, write_notes

ID = CommitId("0" * 40)
RECORD = Record(
    run="run-1",
    intent="doc:a",
    asked="Document a.",
    agent="agent-7",
    model="outline",
    attempt=2,
    replay=1,
    lane="src",
    train="src#1.4",
    base=ID,
    parent=ID,
    tree=ID,
    verdict="green",
    checks=("one",),
    collisions=(),
    symbols=("a#b",),
    plan={"prompt": "p"},
    usage=Usage(calls=2, input_tokens=5, cost_usd=0.25),
    times=Times(admitted=1.0, answered=2.0, queued=3.0, landed=4.5),
)


def collided(path: bytes, count: int, by: str) -> Collided:
    return Collided(path=RepoPath(path), kind=Kind.CONTENT, intents=("x",), count=count, steps=(Step(by=by),))


@given(
    st.text(st.characters(exclude_categories=["Cs"])), st.binary(), st.text(st.characters(exclude_categories=["Cs"]))
)
def test_a_record_comes_back_from_its_note(asked: str, path: bytes, symbol: str) -> None:
    record = msgspec.structs.replace(
        RECORD, asked=asked, symbols=(symbol,), collisions=(collided(path, 2, "merge"), collided(b"b", 1, "rule:x"))
    )
    assert read_note(write_note(record)) == record


def test_a_note_begins_with_a_sentence_for_people_and_has_a_line_for_each_field() -> None:
    record = msgspec.structs.replace(RECORD, collisions=(collided(b"a", 1, "merge"), collided(b"b", 3, "model:m")))
    lines = write_note(record).decode().split("\n")
    assert lines[0] == (
        "doc:a: landed from attempt 2 of agent-7 (outline); a had moved under it by 1 landed intent, redone by merge; "
        "b had moved under it by 3 landed intents, redone by model:m."
    )
    assert lines[1] == ""
    named = [line.partition(": ")[0] for line in lines[2:-1]]
    assert [*named, "undoes", "origin"] == list(Record.__struct_fields__)
    assert 'asked: "Document a."' in lines
    assert lines[-1] == ""


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (b"", "run"),
        (b"only words", "run"),
        (b"words\n\nno field here\n", "a line without a field"),
        (b"words\n\nrun: {\n", "field b'run'"),
        (b"words\n\n\xff: 1\n", "field"),
        (write_note(RECORD).replace(b"attempt: 2", b'attempt: "two"'), r"\$\.attempt"),
        (write_note(RECORD).replace(b"verdict", b"opinion"), "verdict"),
    ],
)
def test_a_note_that_is_no_record_is_an_error_that_names_the_field(note: bytes, said: str) -> None:
    with pytest.raises(BadData, match="^note of x: .*" + said):
        read_note(note, source="note of x")


def test_usage_adds_up_and_one_unknown_cost_makes_the_sum_unknown() -> None:
    one = Usage(calls=1, input_tokens=2, cached_tokens=3, output_tokens=4, cost_usd=0.5)
    assert one + one == Usage(calls=2, input_tokens=4, cached_tokens=6, output_tokens=8, cost_usd=1.0)
    unknown = Usage(calls=1, cost_usd=None)
    assert (one + unknown).cost_usd is None
    assert (unknown + one).calls == 2
    assert Usage() + one == one


def test_a_collision_is_resolved_by_its_last_step_unless_that_declined() -> None:
    declined = Step(by="merge", declined="overlap")
    assert Collided(path=RepoPath(b"a"), kind=Kind.CONTENT).resolved_by == ""
    first = Collided(path=RepoPath(b"a"), kind=Kind.CONTENT, steps=(declined,))
    assert first.resolved_by == ""
    assert first.then([Step(by="model:m")]).resolved_by == "model:m"
    assert first.then([Step(by="model", declined="no")]).resolved_by == ""
    assert first.then([Step(by="model:m")]).steps[0] == declined


def test_a_record_names_what_its_commit_takes_back() -> None:
    undone = Undone(commit=CommitId("7" * 40), run="first", intent="doc:b")
    record = msgspec.structs.replace(RECORD, undoes=undone)
    note = write_note(record)
    assert f"; undoes {undone.commit} (doc:b)".encode() in note.partition(b"\n")[0]
    assert read_note(note) == record


def test_a_path_that_moved_before_the_run_is_told_so() -> None:
    record = msgspec.structs.replace(RECORD, collisions=(collided(b"a", 0, "merge"),))
    assert "a had moved under it by what came before the run, redone by merge" in write_note(record).decode()


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4))
def test_a_note_of_several_records_gives_each_back(asked: list[str]) -> None:
    records = [msgspec.structs.replace(RECORD, asked=text, intent=str(number)) for number, text in enumerate(asked)]
    note = write_notes(records)
    assert list(read_notes(note)) == records
    assert note.startswith(write_note(records[0]))
    with pytest.raises(BadData):
        read_notes(note + b"\nand a person's words\n")


def test_a_carried_record_keeps_where_the_run_landed_it() -> None:
    landed, first, second = (CommitId(digit * 40) for digit in "123")
    once = RECORD.carried(landed, first)
    assert (once.base, once.parent) == (first, first)
    assert once.origin == Origin(commit=landed, parent=RECORD.parent, base=RECORD.base)
    again = once.carried(CommitId("4" * 40), second)
    assert (again.parent, again.origin) == (second, once.origin)
    assert read_note(write_note(again)) == again
    assert f"carried here from {landed} of run run-1".encode() in write_note(again)

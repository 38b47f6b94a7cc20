from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from fleet.spending import Spending
from qodebase import events
from qodebase.clock import SystemClock
from qodebase.codec import BadData
from qodebase.collision import Collided, Kind
from qodebase.commands.bench.support.long_run import write_run
from qodebase.journal import Journal, read_events
from qodebase.paths import CommitId, RepoPath
from qodebase.runs import RunFolder
from results.flow import Flow
from results.frames import Frames, NoFrame, load
from results.metrics import values_of
from results.run_data import RunData
from results.schema import SCHEMAS
from results.summary import Tally

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


@pytest.fixture(scope="module")
def frames(honest: ToyRun) -> Frames:
    return load(honest.folder)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_frame_of_an_empty_run_has_its_schema(empty_run: RunFolder, name: str) -> None:
    frame = getattr(load(empty_run), name)
    assert frame.schema == SCHEMAS[name].polars()
    assert frame.height == (1 if name == "intents" else 0)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_frame_of_a_real_run_has_its_schema(frames: Frames, name: str) -> None:
    assert getattr(frames, name).schema == SCHEMAS[name].polars()


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_torn_journal_gives_the_frames_of_its_whole_lines(toy: ToyRun, name: str) -> None:
    journal = toy.folder.journal.read_bytes()
    toy.folder.journal.write_bytes(journal[: len(journal) * 2 // 3])
    frame = getattr(load(toy.folder), name)
    assert frame.schema == SCHEMAS[name].polars()
    if name == "intents":
        assert frame.height == len(toy.works()) + len(toy.others())
    if name == "landings":
        assert 0 < frame.height < len(toy.works())


def test_landings_are_the_commits_and_notes_of_the_repository_in_order(honest: ToyRun, frames: Frames) -> None:
    log = honest.git("log", "--reverse", "--format=%H %P", f"{honest.base}..main").split()
    assert frames.landings["commit"].to_list() == log[0::2]
    assert frames.landings["parent"].to_list() == log[1::2]
    assert frames.landings.height == len(honest.git("notes", "--ref=qodebase", "list").splitlines())


def test_intents_tell_how_each_of_them_ended(honest: ToyRun, frames: Frames) -> None:
    counts = dict(frames.intents["ending"].value_counts().iter_rows())
    assert counts == {"landed": 13, "skipped": 2, "refused": 1, "no answer": 1, "sent back": 1, "pending": 1}
    rows = {row["intent"]: row for row in frames.intents.iter_rows(named=True)}
    assert rows["skip:one"]["reason"] == "documented already"
    assert rows["skip:one"]["attempts"] == 0
    assert rows["skip:one"]["agent"] is None
    assert rows["skip:one"]["seconds"] is None
    assert rows["hot:second"]["replays"] == 1
    assert rows["hot:second"]["calls"] == 2
    assert rows["hot:second"]["cost_usd"] == pytest.approx(0.003)
    assert rows["refuse"]["unknown_cost_calls"] == 1
    assert rows["edit:bottom"]["commit"] == honest.commit_of("edit:bottom")


def test_collisions_tell_what_moved_the_path_and_how_it_was_redone(frames: Frames) -> None:
    rows = {row["intent"]: row for row in frames.collisions.iter_rows(named=True)}
    assert len(rows) == frames.collisions.height == 10
    assert (rows["edit:bottom"]["redone_by"], rows["edit:bottom"]["rule"]) == ("merge", None)
    assert rows["edit:bottom"]["with_intents"] == ["edit:top"]
    assert (rows["hot:second"]["redone_by"], rows["hot:second"]["rule"]) == ("model", "toy")
    assert rows["hot:second"]["declined"] == ["merge: both sides changed the same lines"]
    index = rows["doc:src/m2/f0008.py"]
    assert (index["redone_by"], index["rule"], index["collision"]) == ("rule", "sorted-index", "shared")
    assert index["moved_by"] == 3


def test_throughput_has_a_row_for_each_second_and_sums_to_what_happened(frames: Frames) -> None:
    throughput = frames.throughput
    assert throughput["second"].to_list() == list(range(throughput.height))
    assert throughput["landed"].sum() == frames.landings.height
    assert throughput["collided"].sum() == frames.collisions.height
    assert throughput["ended"].sum() == 3
    assert throughput["answered"].sum() == frames.attempts.height
    assert throughput["in_flight"].max() == throughput["queued"].max() == 1
    assert throughput.row(-1, named=True)["in_flight"] == 0


class _SetClock:
    simulated = True

    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at


def test_throughput_leaves_out_the_time_between_two_sittings(empty_run: RunFolder) -> None:
    clock = _SetClock()
    journal = Journal(empty_run.journal, run="toy-1", clock=clock)  # type: ignore[arg-type]
    start = {"base": "0" * 40, "tip": "0" * 40, "workers": 1, "real_pid": 1}
    journal.write(events.RunStarted, sitting=1, **start)
    clock.at = 102.5
    journal.write(events.Admitted, intent="doc:a", attempt=1, actor="agent-1", base="0" * 40)
    clock.at = 5000.0
    journal.write(events.RunStarted, sitting=2, **start)
    clock.at = 5001.0
    journal.write(events.RunStopped, why="limit", tip="0" * 40)
    journal.close()
    rows = load(empty_run).throughput.select("second", "sitting", "in_flight").rows()
    assert rows == [(0, 1, 0), (1, 1, 0), (2, 1, 1), (4900, 2, 0), (4901, 2, 0)]


def _killed_and_resumed(folder: RunFolder) -> Iterator[events.Event]:
    """Yield the events of a run that was killed a second after its change was handed in, and resumed 5,000 s later."""
    clock = _SetClock()
    journal = Journal(folder.journal, run="toy-1", clock=clock)  # type: ignore[arg-type]
    tip = CommitId("0" * 40)
    start = {"base": tip, "tip": tip, "workers": 1, "real_pid": 1, "actor": "driver"}
    agent = {"intent": "doc:a", "attempt": 1, "actor": "agent-1"}

    def tell(at: float, kind: type[events.Event], **fields: Any) -> events.Event:
        clock.at = at
        return journal.write(kind, **fields)

    yield tell(100, events.RunStarted, sitting=1, **start)
    yield tell(101, events.Admitted, base=tip, **agent)
    yield tell(101, events.Asked, call=1, purpose="fresh", model="m", prompt="p", **agent)
    yield tell(5_101, events.CutOff, call=1, model="m", **agent | {"actor": "driver"})
    yield tell(5_101.5, events.RunStarted, sitting=2, **start)
    yield tell(5_102, events.Admitted, base=tip, **agent)
    yield tell(5_103, events.Queued, lanes=("src",), lane="src", **agent)
    yield tell(5_103.25, events.RunStopped, why="interrupted", tip=tip, actor="driver")
    yield tell(9_000, events.RunStarted, sitting=3, **start)
    yield tell(9_001, events.Landed, commit=CommitId("1" * 40), parent=tip, **agent | {"actor": "trunk"})
    yield tell(9_002, events.RunStopped, why="ended", tip=tip, actor="driver")
    journal.close()


def test_what_is_written_of_a_killed_process_before_the_next_one_starts_is_no_time_of_the_run(
    empty_run: RunFolder,
) -> None:
    told = list(_killed_and_resumed(empty_run))
    frames = load(empty_run)
    rows = frames.throughput.select("second", "sitting", "worked_s").rows()
    assert rows[:3] == [(0, 1, 1.0), (1, 1, 0.0), (5001, 2, 0.5)]
    assert frames.throughput["worked_s"].sum() == 1 + 1.75 + 2
    assert Tally(()).apply_all(told).summary().seconds == Spending().apply_all(told).seconds() == 1 + 1.75 + 2


def test_an_intent_took_the_time_in_which_processes_worked_and_an_attempt_taken_again_is_one(
    empty_run: RunFolder,
) -> None:
    list(_killed_and_resumed(empty_run))
    frames = load(empty_run)
    (intent,), (landing,) = frames.intents.rows(named=True), frames.landings.rows(named=True)
    assert (intent["attempts"], intent["admitted_at"], intent["seconds"]) == (1, 101, 1.75 + 1)
    assert (landing["seconds"], landing["queued_s"]) == (1.75 + 1, 0.25 + 1)


def test_an_intent_tells_whom_it_waited_for_and_how_long(empty_run: RunFolder) -> None:
    clock = _SetClock()
    journal = Journal(empty_run.journal, run="toy-1", clock=clock)  # type: ignore[arg-type]
    tip = CommitId("0" * 40)
    start = {"base": tip, "tip": tip, "workers": 1, "real_pid": 1, "actor": "driver"}
    told: list[events.Event] = []

    def tell(at: float, kind: type[events.Event], **fields: Any) -> None:
        clock.at = at
        told.append(journal.write(kind, **fields))

    tell(100, events.RunStarted, sitting=1, **start)
    tell(101, events.Held, intent="doc:a", by="doc:b", actor="admission")
    waiting = load(empty_run).intents.row(0, named=True)
    assert (waiting["held_by"], waiting["held_s"]) == ("doc:b", None)
    assert Tally(()).apply_all(told).summary().held == 1
    tell(5_000, events.RunStarted, sitting=2, **start)
    assert Tally(()).apply_all(told).summary().held == 0
    tell(5_001, events.Held, intent="doc:a", by="doc:c", actor="admission")
    tell(5_003, events.Admitted, intent="doc:a", attempt=1, actor="agent-1", base=tip)
    journal.close()
    frames = load(empty_run)
    taken = frames.intents.row(0, named=True)
    assert (taken["held_by"], taken["held_s"]) == ("doc:b", 3)
    assert values_of(frames)["held"] == 1
    assert Tally(()).apply_all(told).summary().held == 0


def test_calls_of_a_simulated_model_are_marked_whatever_the_clock(empty_run: RunFolder) -> None:
    journal = Journal(empty_run.journal, run="toy-1", clock=SystemClock())
    tip = CommitId("0" * 40)
    models = {"made up": events.ModelKind(simulated=True), "real": events.ModelKind()}
    journal.write(events.RunStarted, sitting=1, base=tip, tip=tip, workers=1, real_pid=1, models=models)
    for call, model in enumerate(models, start=1):
        which = {"intent": "doc:a", "attempt": 1, "call": call, "model": model}
        journal.write(events.Asked, purpose="fresh", prompt="p", **which)
        journal.write(events.Answered, outcome="answer", **which)
    journal.close()
    frames = load(empty_run)
    assert frames.attempts.select("model", "simulated", "simulated_model").rows() == [
        ("made up", False, True),
        ("real", False, False),
    ]
    assert frames.costs.select("model", "simulated_model").rows() == [("made up", True), ("real", False)]


def test_costs_sum_the_calls_of_a_model_and_purpose(frames: Frames) -> None:
    rows = {row["purpose"]: row for row in frames.costs.iter_rows(named=True)}
    assert (rows["fresh"]["calls"], rows["fresh"]["answers"], rows["fresh"]["unknown_cost_calls"]) == (16, 15, 3)
    assert (rows["replay"]["calls"], rows["replay"]["cost_usd"]) == (1, 0.002)
    assert frames.costs["cost_usd"].sum() == pytest.approx(frames.intents["cost_usd"].sum())
    assert frames.costs["input_tokens"].sum() == frames.attempts["input_tokens"].sum()


def test_a_call_without_an_end_is_open_and_one_cut_off_by_a_kill_costs_an_unknown_sum(toy: ToyRun) -> None:
    def cut(lines: list[dict[str, object]]) -> list[dict[str, object]]:
        (asked,) = [line for line in lines if line["kind"] == "asked" and line["call"] == 3]
        at = lines.index(asked)
        return lines[: at + 1]

    toy.edit_lines("journal.jsonl", cut)
    assert load(toy.folder).attempts["outcome"].to_list() == ["answer", "answer", "open"]
    journal = Journal(toy.folder.journal, run="toy-1", clock=_SetClock())  # type: ignore[arg-type]
    intent = toy.works()[2].intent
    journal.write(events.CutOff, intent=intent, attempt=1, call=3, model="toy")
    journal.close()
    frames = load(toy.folder)
    assert frames.attempts["outcome"].to_list() == ["answer", "answer", "cut off"]
    assert frames.costs.row(0, named=True)["unknown_cost_calls"] == 1


def test_trains_tell_who_rode_on_them_and_how_long_the_gate_took(honest: ToyRun, frames: Frames) -> None:
    rows = frames.trains.rows(named=True)
    assert [row["members"] for row in rows] == [[work.intent] for work in honest.works()]
    assert {(row["of"], row["verdict"], row["size"], row["runs"], row["gate_s"]) for row in rows} == {
        ("train", "green", 1, 0, 0.25)
    }
    assert [row["tip"] for row in rows] == honest.ids[:-1]


def _journal(folder: RunFolder) -> Journal:
    return Journal(folder.journal, run="toy-1", clock=_SetClock())  # type: ignore[arg-type]


def test_what_the_gate_judges_beside_trains_is_no_train(empty_run: RunFolder) -> None:
    journal = _journal(empty_run)
    ride = {"lane": "src", "train": "src-1"}
    journal.write(
        events.TrainBuilt, members=("doc:a",), tip=CommitId("1" * 40), tree="t1", size=4, guessed=True, **ride
    )
    journal.write(events.Judged, tree="t0", verdict="red", checks=2, of="base", runs=1, failed=("old",))
    journal.write(events.Judged, tree="t1", verdict="green", checks=3, runs=2, flake=True, **ride)
    journal.write(events.TrainBuilt, members=("doc:a", "doc:b"), tip=CommitId("2" * 40), tree="t2", **ride)
    journal.write(events.Judged, tree="t2", verdict="hold", checks=3, runs=1, **ride)
    journal.close()
    base, first, second = load(empty_run).trains.rows(named=True)
    assert (base["of"], base["members"], base["size"], base["most"], base["failed"]) == ("base", [], 0, None, ["old"])
    assert (first["size"], first["most"], first["guessed"], first["flake"], first["runs"]) == (1, 4, True, True, 2)
    assert (second["members"], second["tip"], second["verdict"]) == (["doc:a", "doc:b"], "2" * 40, "hold")


def test_a_check_that_is_lost_has_a_row_with_its_owner_and_who_broke_it(empty_run: RunFolder) -> None:
    journal = _journal(empty_run)
    journal.write(events.RunStarted, sitting=1, base=CommitId("0" * 40), tip=CommitId("0" * 40), workers=1, real_pid=1)
    journal.write(events.CheckLost, check="a", owner="doc:a", by="doc:b", commit=CommitId("1" * 40), cause="doc:b")
    journal.write(events.CheckLost, check="base/x", commit=CommitId("2" * 40), cause="a person")
    journal.close()
    rows = load(empty_run).losses.select("check", "intent", "lost_by", "second", "cause").rows()
    assert rows == [("a", "doc:a", "doc:b", 0, "doc:b"), ("base/x", None, None, 0, "a person")]


def test_calls_of_a_replay_that_was_thrown_away_are_counted_as_wasted(empty_run: RunFolder) -> None:
    journal = _journal(empty_run)
    journal.write(events.Wasted, intent="doc:a", attempt=1, replay=1, why="the one ahead went back", calls=2)
    journal.close()
    assert load(empty_run).intents["wasted_calls"].to_list() == [2]


def test_an_attempt_begun_again_starts_its_story_anew(empty_run: RunFolder) -> None:
    journal = _journal(empty_run)
    which = {"intent": "doc:a", "base": CommitId("0" * 40)}
    made = {**which, "change": "c", "ref": "1:0", "paths": (RepoPath(b"p"),)}
    met = Collided(path=RepoPath(b"p"), kind=Kind.CONTENT)
    journal.write(events.Admitted, attempt=1, actor="agent-1", **which)
    journal.write(events.ChangeMade, attempt=1, **made)
    journal.write(events.Queued, intent="doc:a", attempt=1, lanes=("src",), lane="src")
    journal.write(events.CollisionMet, intent="doc:a", attempt=1, collided=met)
    journal.write(events.Admitted, attempt=2, actor="agent-2", **which)
    journal.write(events.Landed, intent="doc:a", attempt=2, commit=CommitId("1" * 40), parent=CommitId("0" * 40))
    journal.close()
    frames = load(empty_run)
    (intent,), (landing,) = frames.intents.rows(named=True), frames.landings.rows(named=True)
    assert (intent["agent"], intent["attempts"], intent["collided"], intent["queued_at"]) == ("agent-2", 2, 0, None)
    assert (landing["agent"], landing["base"], landing["paths"], landing["queued_s"]) == ("agent-2", None, 0, None)
    assert landing["collided"] == 0
    assert frames.collisions["landed"].to_list() == [False]


def test_a_wait_at_the_gate_begins_when_an_attempt_is_handed_in_and_no_lane_that_takes_it_again_shortens_it(
    empty_run: RunFolder,
) -> None:
    clock = _SetClock()
    journal = Journal(empty_run.journal, run="toy-1", clock=clock)  # type: ignore[arg-type]
    tip = CommitId("0" * 40)

    def tell(at: float, kind: type[events.Event], **fields: object) -> None:
        clock.at = at
        journal.write(kind, intent="doc:a", **fields)

    queued = {"lanes": ("src",), "lane": "src"}
    tell(100, events.Admitted, attempt=1, actor="agent-1", base=tip)
    tell(110, events.Queued, attempt=1, **queued)
    tell(120, events.SentBack, attempt=1, reason="red")
    tell(130, events.Admitted, attempt=2, actor="agent-2", base=tip)
    tell(140, events.Queued, attempt=2, **queued)
    tell(180, events.Queued, attempt=2, **queued)
    tell(190, events.Landed, attempt=2, commit=CommitId("1" * 40), parent=tip)
    journal.close()
    frames = load(empty_run)
    (landing,), (intent,) = frames.landings.rows(named=True), frames.intents.rows(named=True)
    assert (landing["queued_s"], landing["seconds"]) == (50, 90)
    assert (intent["queued_at"], intent["seconds"]) == (140, 60)


def test_processes_that_worked_in_one_second_have_all_worked(empty_run: RunFolder) -> None:
    clock = _SetClock()
    journal = Journal(empty_run.journal, run="toy-1", clock=clock)  # type: ignore[arg-type]
    tip = CommitId("0" * 40)
    for sitting in range(1, 4):
        journal.write(events.RunStarted, sitting=sitting, base=tip, tip=tip, workers=1, real_pid=1)
        clock.at += 0.25
        journal.write(events.RunStopped, why="interrupted", tip=tip)
        clock.at += 0.0625
    journal.close()
    run = RunData(empty_run)
    assert Tally(run.intents).apply_all(run.events).summary().seconds == 0.75
    assert load(empty_run).throughput.select("second", "sitting", "worked_s").rows() == [(0, 3, 0.75)]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A made-up run of 20,000 events."""
    return write_run(tmp_path_factory.mktemp("long") / "run", events_wanted=20_000)


def test_the_frames_of_a_long_run_count_what_its_journal_holds(long: RunFolder) -> None:
    frames = Frames(long, kept=False)
    kinds = Counter(type(event) for event in read_events(long.journal))
    assert sum(kinds.values()) >= 20_000
    assert frames.landings.height == kinds[events.Landed] == frames.throughput["landed"].sum()
    assert frames.attempts.height == kinds[events.Asked] == frames.costs["calls"].sum()
    assert frames.collisions.height == kinds[events.CollisionMet] == frames.throughput["collided"].sum()
    assert frames.trains.height == kinds[events.Judged]
    assert frames.trains["size"].sum() == kinds[events.Queued]
    assert frames.intents["input_tokens"].sum() == frames.attempts["input_tokens"].sum()
    endings = dict(frames.intents["ending"].value_counts().iter_rows())
    assert endings == {"landed": kinds[events.Landed], "no answer": kinds[events.Ended]}


def test_the_frames_of_a_long_run_have_the_figures_of_its_summary(long: RunFolder) -> None:
    run, frames = RunData(long), Frames(long, kept=False)
    summary = Tally(run.intents).apply_all(run.events).summary()
    assert frames.throughput["worked_s"].sum() == pytest.approx(summary.seconds)
    assert frames.throughput["landed"].max() == summary.busiest_second
    assert frames.costs["cost_usd"].sum() == pytest.approx(summary.cost_usd)
    redone = frames.collisions["redone_by"].value_counts().rows()
    assert dict(redone) == {step: summary.redone_by(step) for step in ("merge", "rule", "model")}


def test_in_flight_and_queued_are_those_that_an_event_by_event_count_gives(long: RunFolder) -> None:
    flow, second, counted = Flow(), 0, {}
    for event in read_events(long.journal):
        second = max(second, int(event.at - 1_000_000.0005))
        flow.apply(event)
        counted[second] = (len(flow.in_flight), len(flow.queued))
    found = Frames(long, kept=False).throughput.select("second", "in_flight", "queued").rows()
    assert {second: tuple(row) for second, *row in found} == counted


def test_a_name_that_is_no_frame_is_an_error_that_lists_them(frames: Frames) -> None:
    with pytest.raises(NoFrame) as raised:
        frames.frame("landing")
    assert "landings" in raised.value.hint


def test_a_broken_line_in_the_journal_is_an_error_that_names_it(toy: ToyRun) -> None:
    lines = toy.folder.journal.read_bytes().splitlines(keepends=True)
    lines[4] = b"}{\n"
    toy.folder.journal.write_bytes(b"".join(lines))
    with pytest.raises(BadData, match="line 5"):
        load(toy.folder).landings  # noqa: B018

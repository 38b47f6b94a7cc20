from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from qodebase import events
from qodebase.journal import Journal
from qodebase.runs import RunFolder
from results.frames import Frames, load
from results.schema import SCHEMAS

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

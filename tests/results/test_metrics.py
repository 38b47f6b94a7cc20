from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from qodebase import events
from qodebase.clock import VirtualClock
from qodebase.codec import BadData
from qodebase.journal import Journal
from qodebase.paths import CommitId
from qodebase.runs import RunFolder
from results.frames import Frames, load
from results.metrics import ALL, SCHEMA, SCORE, metric_of, metrics_frame, values_of
from results.run_data import RunData
from results.summary import Tally

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


@pytest.fixture(scope="module")
def values(honest: ToyRun) -> dict[str, float]:
    return values_of(load(honest.folder))


def test_every_metric_is_declared_once_and_says_what_it_means() -> None:
    assert len({metric.name for metric in ALL}) == len(ALL)
    assert all(metric.doc.endswith(".") and metric.unit and metric.smallest_effect > 0 for metric in ALL)


def test_the_metrics_of_a_run_are_those_of_its_summary(honest: ToyRun, values: dict[str, float]) -> None:
    run = RunData(honest.folder)
    summary = Tally(run.intents).apply_all(run.events).summary()
    assert values["landed"] == summary.landed
    assert values["seconds"] == pytest.approx(summary.seconds)
    assert values["landed_per_second"] == pytest.approx(summary.per_second)
    assert values["busiest_second"] == summary.busiest_second
    assert values["redone_by_rule"] == values["redone_by_rule.sorted-index"] == summary.redone_by("rule")
    assert values["redone_by_model"] == values["redone_by_model.toy"] == summary.redone_by("model")
    assert values["redone_by_merge"] == summary.redone_by("merge")
    assert values["model_replays"] == 1
    assert values["not_redone"] == summary.not_redone


def test_metrics_are_computed_as_their_words_say(values: dict[str, float]) -> None:
    assert values["collision_rate"] == 10 / 13
    assert values["landed_share"] == 13 / 19
    assert values["calls_per_landing"] == 17 / 13
    assert values["tokens_per_landing"] == 17 * 15 / 13
    assert values["wasted_calls_share"] == values["wasted_tokens_share"] == 3 / 17
    assert values["doubled"] == 0
    assert values["gate_wait_p50_s"] < values["time_to_land_p50_s"] <= values["time_to_land_p99_s"]
    assert values["busiest_minute"] == pytest.approx(values["landed_per_second"])


def test_a_cost_that_is_not_known_of_every_call_is_no_metric(toy: ToyRun, values: dict[str, float]) -> None:
    assert "cost_usd" not in values
    assert "cost_per_landing_usd" not in values
    toy.edit_lines(
        "journal.jsonl",
        lambda lines: [line | {"cost_usd": 0.5} if line["kind"] == "answered" else line for line in lines],
    )
    found = values_of(load(toy.folder))
    assert (found["cost_usd"], found["cost_per_landing_usd"]) == (17 * 0.5, 17 * 0.5 / 13)


def test_a_run_in_which_nothing_happened_has_no_rates(empty_run: RunFolder) -> None:
    found = values_of(load(empty_run))
    assert (found["intents"], found["landed"], found["landed_share"]) == (1, 0, 0)
    assert not found.keys() & {"seconds", "landed_per_second", "time_to_land_p50_s", "collision_rate", "busiest_second"}


def test_metrics_of_a_scorer_come_from_the_runs_score(toy: ToyRun, values: dict[str, float]) -> None:
    assert not values.keys() & {"lost_own", "lost_in_landing", "wrong_fresh_share", "wrong_redone_share", "passing"}
    score = {"lost_own": 3, "lost_in_landing": 0, "wrong_fresh": 2, "wrong_redone": 1, "passing": 12}
    score |= {"judged_fresh": 20, "judged_redone": 4}
    (toy.folder.root / SCORE).write_text(json.dumps(score))
    found = values_of(load(toy.folder))
    assert (found["lost_own"], found["lost_in_landing"], found["passing"]) == (3, 0, 12)
    assert (found["wrong_fresh_share"], found["wrong_redone_share"]) == (2 / 20, 1 / 4)


def test_a_part_of_answers_that_nobody_counted_is_no_metric(toy: ToyRun) -> None:
    (toy.folder.root / SCORE).write_text(json.dumps({"wrong_fresh": 2, "wrong_redone": 1}))
    assert not values_of(load(toy.folder)).keys() & {"wrong_fresh_share", "wrong_redone_share"}


@pytest.fixture
def journal(empty_run: RunFolder) -> Iterator[Journal]:
    journal = Journal(empty_run.journal, run="toy-1", clock=_SetClock())
    yield journal
    journal.close()


class _SetClock(VirtualClock):
    def now(self) -> float:
        return 1000.0


def _call(journal: Journal, call: int, purpose: str, outcome: str = "answer", source: str = "provider") -> None:
    which = {"intent": "doc:a", "attempt": 1, "call": call, "model": "m"}
    journal.write(events.Asked, purpose=purpose, prompt="p", **which)
    if outcome == "cut off":
        journal.write(events.CutOff, **which)
    else:
        journal.write(events.Answered, outcome=outcome, source=source, input_tokens=10, **which)


def test_a_replay_that_was_thrown_away_is_wasted_once(journal: Journal, empty_run: RunFolder) -> None:
    wasted = {"intent": "doc:a", "attempt": 1, "replay": 1, "why": "main came to something else", "calls": 1}
    tip, commit = CommitId("0" * 40), CommitId("1" * 40)
    _call(journal, 1, "fresh")
    _call(journal, 2, "replay", "cut off")
    journal.write(events.Wasted, **wasted)
    _call(journal, 3, "replay")
    journal.write(events.Wasted, **wasted)
    _call(journal, 4, "replay")
    journal.write(events.Replayed, intent="doc:a", attempt=1, base=tip, replay=1, change="c", ref="1:0")
    journal.write(events.Landed, intent="doc:a", attempt=1, replay=1, commit=commit, parent=tip)
    frames = load(empty_run)
    assert frames.attempts["thrown_away"].to_list() == [False, True, True, False]
    found = values_of(frames)
    assert (found["wasted_calls_share"], found["wasted_tokens_share"]) == (2 / 4, 10 / 30)


def test_an_answer_that_the_run_held_already_is_no_call(journal: Journal, empty_run: RunFolder) -> None:
    _call(journal, 1, "fresh")
    _call(journal, 2, "fresh", source="run")
    journal.write(events.Landed, intent="doc:a", attempt=1, commit=CommitId("1" * 40), parent=CommitId("0" * 40))
    assert values_of(load(empty_run))["calls_per_landing"] == 1


def test_so_many_of_the_landed_took_no_longer_than_a_percentile_says(empty_run: RunFolder) -> None:
    import polars as pl

    frames = Frames(empty_run)
    took = [1.0] * 6 + [5.0, 5.0, 5.0, 500.0]
    frames.__dict__["landings"] = pl.DataFrame({"intent": list(map(str, range(10))), "seconds": took, "queued_s": took})
    found = values_of(frames)
    assert [found[f"time_to_land_p{share}_s"] for share in (50, 90, 99)] == [1, 5, 500]
    assert found["gate_wait_p99_s"] == 500


def test_a_score_that_is_no_json_is_an_error_with_its_file(toy: ToyRun) -> None:
    (toy.folder.root / SCORE).write_text("{")
    with pytest.raises(BadData, match=r"score\.json is not JSON"):
        values_of(load(toy.folder))


def test_the_busiest_minute_of_a_long_run_is_a_mean_over_sixty_seconds(empty_run: RunFolder) -> None:
    import polars as pl

    frames = Frames(empty_run)
    seconds = list(range(200))
    landed = [10 if 100 <= second < 160 else second % 2 for second in seconds]
    frame = pl.DataFrame({"second": seconds, "landed": landed, "worked_s": [1.0] * 200, "sitting": [1] * 200})
    frames.__dict__["throughput"] = frame.with_columns(simulated=pl.lit(True))
    found = values_of(frames)
    assert (found["busiest_second"], found["busiest_minute"]) == (10, 10)


def test_the_frame_of_metrics_has_a_row_a_metric_and_labels_what_is_simulated(
    honest: ToyRun, values: dict[str, float]
) -> None:
    frame = metrics_frame(load(honest.folder))
    assert frame.schema == SCHEMA.polars()
    assert dict(frame.select("metric", "value").iter_rows()) == values
    assert frame["simulated"].all()
    assert metric_of("redone_by_rule.sorted-index").unit == "paths"

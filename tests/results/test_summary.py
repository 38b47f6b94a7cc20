from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from qodebase.collision import Collided, Kind, Step
from qodebase.events import Asked, CollisionMet, Landed, Replayed, RunStarted, RunStopped
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from results.frames import load
from results.run_data import RunData
from results.summary import Tally

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun

NO_COMMIT = CommitId("0" * 40)


def test_the_summary_of_a_run_has_the_figures_of_its_frames(honest: ToyRun) -> None:
    run, frames = RunData(honest.folder), load(honest.folder)
    summary = Tally(run.intents).apply_all(run.events).summary()
    assert summary.landed == frames.landings.height
    assert sum(summary.endings.values()) == summary.intents == frames.intents.height
    assert summary.collided_paths == frames.collisions.height
    assert summary.redone == {"rule:sorted-index": 8, "merge": 1, "model:toy": 1}
    assert (summary.redone_by("merge"), summary.redone_by("rule"), summary.redone_by("model")) == (1, 8, 1)
    assert summary.not_redone == 0
    assert summary.reasons[Ending.SKIPPED] == {"documented already": 2}
    assert summary.calls == frames.attempts.height
    assert summary.cost_usd == pytest.approx(frames.costs["cost_usd"].sum())
    assert summary.unknown_cost_calls == frames.costs["unknown_cost_calls"].sum()
    assert summary.busiest_second == frames.throughput["landed"].max()
    assert summary.per_second == pytest.approx(summary.landed / summary.seconds)
    assert (summary.stopped, summary.sittings, summary.simulated) == ("limit", 1, True)


def test_a_tally_counts_what_is_under_way_after_every_event(honest: ToyRun) -> None:
    run = RunData(honest.folder)
    tally = Tally(run.intents)
    landed = 0
    for event in run.events:
        tally.apply(event)
        landed += isinstance(event, Landed)
        summary = tally.summary()
        assert summary.landed == landed
        assert sum(summary.endings.values()) == summary.intents
        assert summary.in_flight + summary.queued <= summary.pending
        assert all(count for counts in summary.reasons.values() for count in counts.values())


def test_a_running_sitting_is_timed_up_to_now_and_the_time_between_sittings_is_left_out() -> None:
    tally = Tally([])
    tally.apply(RunStarted(sitting=1, at=10.0, base=NO_COMMIT, tip=NO_COMMIT, workers=1, real_pid=1))
    assert tally.summary(now=14.0).seconds == 4.0
    tally.apply(RunStopped(at=15.0, why="interrupted", tip=NO_COMMIT))
    assert tally.summary(now=99.0).seconds == 5.0
    tally.apply(RunStarted(sitting=2, at=1000.0, base=NO_COMMIT, tip=NO_COMMIT, workers=1, real_pid=1))
    assert tally.summary(now=1001.0).seconds == 6.0
    assert tally.summary().stopped == ""


def _collision(path: bytes, *, replay: int) -> CollisionMet:
    steps = (Step(by="merge", declined="both sides changed the same lines"),)
    collided = Collided(path=RepoPath(path), kind=Kind.CONTENT, steps=steps)
    return CollisionMet(intent="a", attempt=1, collided=collided, replay=replay)


def test_what_no_step_redid_is_open_until_a_model_redid_it() -> None:
    tally = Tally([Intent(id="a", asked="Do a.", scope=())])
    tally.apply(_collision(b"p", replay=0))
    assert (tally.summary().not_redone, tally.summary().redone) == (1, {})
    tally.apply(Asked(intent="a", attempt=1, call=1, purpose="replay", model="big", prompt=""))
    tally.apply(Replayed(intent="a", attempt=1, base=NO_COMMIT, replay=1, change="", ref=""))
    assert (tally.summary().not_redone, tally.summary().redone) == (0, {"model:big": 1})


def test_collisions_that_are_written_again_with_a_recovered_landing_stay_redone() -> None:
    tally = Tally([Intent(id="a", asked="Do a.", scope=())])
    tally.apply(Asked(intent="a", attempt=1, call=1, purpose="replay", model="big", prompt=""))
    tally.apply(Replayed(intent="a", attempt=1, base=NO_COMMIT, replay=1, change="", ref=""))
    tally.apply(_collision(b"p", replay=1))
    tally.apply(Landed(intent="a", attempt=1, commit=NO_COMMIT, parent=NO_COMMIT, replay=1))
    assert (tally.summary().not_redone, tally.summary().redone) == (0, {"model:big": 1})


def test_a_summary_is_plain_data(honest: ToyRun) -> None:
    run = RunData(honest.folder)
    plain = Tally(run.intents).apply_all(run.events).summary().as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["endings"]["landed"] == 13

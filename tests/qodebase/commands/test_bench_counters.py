"""The counters bench on few intents: every raise and every function is on main once, also after a kill."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from qodebase.cli import make_app


def counted(*words: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(make_app(), ["bench", "counters", *words, "--json", "--check"], prog_name="qodebase")
    return done.exit_code, json.loads(done.stdout)


def expect_each_once(told: dict[str, Any], intents: int) -> None:
    assert (told["intents"], told["landed"], told["lost"], told["doubled"]) == (intents, intents, 0, 0)
    assert told["endings"] == {"landed": intents}
    assert (told["verified"], told["findings"]) == (True, [])
    assert told["collided"] == told["merged_by_git"] + told["merged_by_rule"] + told["redone_by_model"]


def test_sixty_intents_in_one_lane_lose_and_double_nothing() -> None:
    code, told = counted("--agents", "30", "--intents", "60")
    expect_each_once(told, 60)
    assert code == 0
    assert told["missed"] == []
    assert told["agents"] == 30
    assert told["collided"] >= 30
    assert 0 < told["merged_by_rule"] < 12
    assert 6 <= told["test_runs"] <= 60
    assert told["seconds"] > 0
    assert told["sittings"] == 1
    assert "think" in told["simulated"]


def test_no_model_redoes_a_counter_where_intents_claim_theirs() -> None:
    code, told = counted("--agents", "20", "--intents", "30", "--claims")
    expect_each_once(told, 30)
    assert code == 0
    assert (told["claims"], told["redone_by_model"], told["missed"]) == (True, 0, [])
    assert told["collided"] == told["merged_by_rule"] < 12
    assert 0 < told["held"] < 30


@pytest.mark.full
def test_two_sectors_go_on_after_a_kill() -> None:
    code, told = counted("--agents", "15", "--intents", "30", "--sectors", "2", "--kill")
    expect_each_once(told, 60)
    assert code == 0
    assert (told["killed"], told["sittings"]) == (True, 2)
    assert {name: part["landed"] for name, part in told["by_sector"].items()} == {"sector_00": 30, "sector_01": 30}


@pytest.mark.full
def test_the_published_run_has_its_targets() -> None:
    _, told = counted()
    expect_each_once(told, 300)
    assert told["collided"] >= 150
    assert told["test_runs"] <= 105

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import Result

from qodebase.commands.status import run_status
from qodebase.runs import RunFolder

Call = Callable[..., Result]


def status_of(call: Call, run: str = "one") -> dict[str, Any]:
    result = call("status", run, "--json")
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_ledger_of_the_status_adds_up_and_gives_reasons(call: Call) -> None:
    found = status_of(call)
    assert found["ledger"] == {
        "landed": 4,
        "sent back": 1,
        "no answer": 1,
        "refused": 0,
        "skipped": 0,
        "cancelled": 0,
        "pending": 0,
    }
    assert sum(found["ledger"].values()) == found["intents"] == 6
    assert sum(found["reasons"]["no answer"].values()) == sum(found["reasons"]["sent back"].values()) == 1
    assert "nothing was said" in next(iter(found["reasons"]["no answer"]))


def test_the_status_of_an_ended_run_says_speed_and_known_and_unknown_cost(home: Path, call: Call) -> None:
    found = status_of(call)
    events = [json.loads(line) for line in (home / "runs/one/journal.jsonl").read_text().splitlines()]
    answers = [event for event in events if event["kind"] == "answered"]
    assert (found["state"], found["live"], found["holder"], found["sittings"]) == ("ended", False, "", 1)
    assert found["simulated"] is True
    assert found["calls"] == len(answers)
    assert found["cost_usd"] == sum(event.get("cost_usd") or 0.0 for event in answers) == 1.25
    assert found["unknown_cost_calls"] == 1
    assert found["per_second"] == 4 / found["seconds"]


def test_the_field_names_of_the_status_stay_as_scripts_know_them(call: Call) -> None:
    assert {
        *("run", "folder", "state", "live", "holder", "job", "model", "repository", "branch", "base", "tip", "workers"),
        *("started_at", "last_at", "intents", "ledger", "reasons", "sittings", "stopped", "simulated", "waiting"),
        *("in_flight", "queued", "per_second", "busiest_second", "seconds", "collided_intents", "collided_paths"),
        *("redone", "redone_by_merge", "redone_by_rule", "redone_by_model", "not_redone", "calls", "cache_calls"),
        *("input_tokens", "cached_tokens", "output_tokens", "cost_usd", "unknown_cost_calls", "foreign", "next"),
    } <= set(status_of(call))


def test_people_read_endings_with_reasons_cost_and_the_next_commands(call: Call) -> None:
    text = call("status", "last").stdout
    assert "the clock is simulated" in text
    assert "stopped: ended (sitting 1" in text
    assert "no answer  1  empty: nothing was said: 1" in text
    assert "$1.25 and 1 calls of unknown cost" in text
    assert "qodebase verify runs/one" in text
    assert "qodebase resume" not in text


def test_a_killed_run_says_so_and_names_what_waits_and_how_to_go_on(
    killed: Callable[[str], RunFolder], call: Call
) -> None:
    killed("edit-2")
    found = status_of(call)
    assert found["state"] == "killed"
    assert found["ledger"]["pending"] == 2
    assert found["waiting"] == {"main": 2}
    assert found["next"][0] == "qodebase resume runs/one"
    assert "killed, no end was written" in call("status", "one").stdout


def test_a_run_that_a_process_holds_is_live(copy: RunFolder, call: Call) -> None:
    with copy.locked():
        found = status_of(call)
        text = call("status", "one").stdout
    assert found["live"] is True
    assert found["holder"] in text
    assert "qodebase resume" not in text


def test_a_run_in_which_nothing_has_happened_is_not_started(copy: RunFolder) -> None:
    copy.journal.unlink()
    status = run_status(copy)
    assert status.state == "not started"
    assert status.summary.pending == 6
    assert status.tip == copy.settings().base


def test_a_name_that_is_no_run_is_refused_and_the_runs_there_are_named(call: Call) -> None:
    result = call("status", "two")
    assert result.exit_code == 2
    assert "no run 'two'" in result.stderr
    assert "Runs there: one." in result.stderr
    assert result.stdout == ""

"""The benches of models and of their faults, scaled down: every figure is there, and right where it must be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from qodebase.cli import make_app

MODELS = {
    "agents", "median_latency_s", "error_share", "gate_per_s", "seconds", "direct_per_s", "direct_errors_per_s",
    "direct_processor_ms_an_answer",
    "most_in_flight", "loop_lag_p50_ms", "loop_lag_p99_ms", "peak_rss_mib", "targets", "missed", "simulated",
    "environment",
}  # fmt: skip
LITELLM = {"litellm_per_s", "litellm_seconds", "litellm_processor_ms_an_answer", "litellm_loop_lag_p99_ms"}
FAULTS = {
    "intents", "endings", "every_intent_right", "wrong", "ledger_balances", "findings", "cost_counted_once", "cost",
    "replies_that_came_too_late",
    "secrets_found", "workers", "median_latency_s", "replies", "bursts_of_429", "most_in_flight", "seconds",
    "seconds_fault_free", "ratio_to_fault_free",
}  # fmt: skip


def call(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["bench", *arguments], prog_name="qodebase")


def told(done: Result) -> dict[str, Any]:
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def expect_right(found: dict[str, Any], intents: int) -> None:
    assert (found["every_intent_right"], found["wrong"]) == (True, [])
    assert (found["ledger_balances"], found["findings"]) == (True, [])
    assert found["cost_counted_once"], found["cost"]
    assert found["secrets_found"] == 0
    assert found["intents"] == sum(found["endings"].values()) == intents


def test_the_bench_of_models_tells_every_figure_and_what_it_misses() -> None:
    size = ["--agents", "50", "--gate", "200", "--seconds", "0.5", "--latency", "0.02", "--litellm-seconds", "0"]
    done = call("models", *size, "--json", "--check")
    found = told(done)
    assert set(found) == MODELS
    assert 0 < found["direct_per_s"] <= 250
    assert "direct_per_s" in found["missed"]
    assert done.exit_code == 1


def test_the_bench_of_faults_ends_every_intent_right() -> None:
    size = ["--intents", "40", "-w", "40", "--latency", "0.01", "--bursts", "1", "--litellm-intents", "0"]
    done = call("faults", *size, "--seed", "89", "--json")
    found = told(done)
    assert set(found) == FAULTS | {"right", "targets", "missed", "simulated", "environment"}
    expect_right(found, 40)
    assert found["replies"]["answer to another prompt"] > 0
    assert found["replies"]["429 with Retry-After"] > 0
    assert done.exit_code == 0


@pytest.mark.full
def test_both_benches_measure_litellm_too() -> None:
    size = ["--agents", "100", "--gate", "200", "--seconds", "1", "--litellm-seconds", "3"]
    assert set(told(call("models", *size, "--json"))) == MODELS | LITELLM
    size = ["--intents", "40", "-w", "16", "--latency", "0.05", "--litellm-intents", "80"]
    found = told(call("faults", *size, "--json"))
    assert set(found["litellm"]) == FAULTS
    expect_right(found["litellm"], 80)


@pytest.mark.full
def test_two_thousand_intents_against_every_fault_end_right() -> None:
    found = told(call("faults", "--json"))
    expect_right(found, 2000)
    expect_right(found["litellm"], 200)
    assert set(found["replies"]) == set(found["right"])

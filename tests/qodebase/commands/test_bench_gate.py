"""The bench of the gate, scaled down: every figure is there."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from qodebase.cli import make_app


def test_the_bench_of_the_gate_tells_every_figure_and_what_it_misses() -> None:
    words = ["bench", "gate", "--tests", "5", "--repeats", "1", "--json"]
    done = CliRunner().invoke(make_app(), words, prog_name="qodebase")
    assert done.exception is None
    found = json.loads(done.stdout)
    assert set(found) == {
        "tests", "checks_of_a_judgement", "trees", "sandbox", "warm_ms", "fixtures_ms", "judgement_ms", "cold_ms",
        "ratio", "warm_slowest_ms", "cold_processor_ms", "targets", "missed", "synthetic", "environment",
    }  # fmt: skip
    assert 0 < found["warm_ms"] <= found["warm_slowest_ms"]
    assert set(found["missed"]) <= set(found["targets"])

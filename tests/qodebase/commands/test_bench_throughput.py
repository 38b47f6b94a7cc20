"""The throughput bench on few files: every figure is there, all answers land, git makes the same commits."""

from __future__ import annotations

import json
import random

import pytest
from typer.testing import CliRunner

from qodebase.cli import make_app
from qodebase.commands.bench.support.script_text import ScriptText
from replay_rules.parsing import parse

FILES = 200
ANSWERED = 147
"""In the published proportion: 29,890 of 40,640."""

TARGETS = {"seconds", "peak_rss_mib", "ratio_to_fast_import", "landed_per_s_busiest"}


def test_every_answer_lands_and_every_figure_is_told() -> None:
    words = ["bench", "throughput", "--files", str(FILES), "--workers", "50", "--json", "--check"]
    done = CliRunner().invoke(make_app(), words, prog_name="qodebase")
    told = json.loads(done.stdout)
    assert (told["workers"], told["files"], told["landed"]) == (50, FILES, ANSWERED)
    assert told["endings"] == {"landed": ANSWERED, "skipped": 26, "no answer": 27}
    assert told["errors"] == 0
    assert told["audit_clean"] is True
    assert told["same_commits"] is True
    assert told["seconds"] > 0
    assert told["landed_per_s_mean"] > 0
    assert 0 < told["landed_per_s_busiest"] <= ANSWERED
    assert 1 <= told["busy_agents_peak"] <= 50
    assert 0 < told["peak_rss_mib"] < 2048
    assert 0 < told["code_check_seconds"] < told["seconds"]
    assert told["fast_import_seconds"] > 0
    assert told["ratio_to_fast_import"] > 0
    assert set(told["targets"]) == TARGETS
    assert "landed_per_s_busiest" in told["missed"]
    assert set(told["missed"]) <= TARGETS
    assert "made-up JavaScript" in told["synthetic"]
    assert done.exit_code == 1


def test_made_up_files_parse_and_have_the_sizes_that_they_shall_have() -> None:
    text = ScriptText(random.Random(3))
    sizes = [text.size() for _ in range(100)]
    files = [text.file(number, size) for number, size in enumerate(sizes)]
    assert len(set(files)) == 100
    assert not any(parse("javascript", file).has_error for file in files)
    assert sum(map(len, files)) == pytest.approx(sum(sizes), rel=0.05)

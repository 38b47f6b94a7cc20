"""The bench of the trunk on tiny work: every figure is there, the sides agree, a missed target is said."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from qodebase.cli import make_app

FIELDS = {
    "landings_per_s", "fast_import_per_s", "ratio_fast_import", "plumbing_per_s", "ratio_plumbing", "peak_rss_mib",
    "same_tree", "fsck", "pack_mib", "fast_import_pack_mib", "ratio_one_batch", "compact_s", "ratio_with_compaction",
    "zlib_level", "targets", "missed", "synthetic",
}  # fmt: skip


def call(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["bench", *arguments], prog_name="qodebase")


@pytest.mark.parametrize("workload", ["spread", "index"])
def test_both_sides_make_the_same_commits_and_every_figure_is_told(workload: str) -> None:
    size = ["--files", "20", "--changes", "30", "--batch", "12", "--repeats", "1"]
    done = call("landing", *size, "--workload", workload, "--json", "--check")
    told = json.loads(done.stdout)
    assert set(told) >= FIELDS
    assert told["same_tree"] is True
    assert told["fsck"] is True
    assert told["landings_per_s"] > 0
    assert told["missed"]
    assert done.exit_code == 1


def test_work_of_a_single_change_is_measured_too() -> None:
    told = json.loads(call("landing", "--files", "1", "--changes", "1", "--repeats", "1", "--json").stdout)
    assert told["same_tree"] is told["fsck"] is True
    assert told["compacted_to_fast_import"] > 0


def test_work_that_cannot_be_made_ends_with_2() -> None:
    assert call("landing", "--workload", "other").exit_code == 2
    assert call("landing", "--workload", "index", "--changes", "100000").exit_code == 2


def test_the_crash_bench_tells_that_nothing_was_lost() -> None:
    done = call("crash", "--kills", "3", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["kills"] == 3
    assert told["landed"] >= told["reported"] >= 3
    assert told["lost"] == told["doubled"] == 0


def test_the_brief_contest_tells_each_rounds_ratio_and_that_both_sides_agree() -> None:
    done = call("landing", "--brief", "--files", "20", "--changes", "30", "--batch", "12", "--repeats", "2", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert len(told["ratios"]) == 2
    assert min(told["ratios"]) <= told["ratio_fast_import"] <= max(told["ratios"])
    assert told["processor_ratio_fast_import"] > 0
    assert (told["same_tree"], told["fsck"], told["missed"]) == (True, True, [])

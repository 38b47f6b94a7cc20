from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from qodebase.runs import RunFolder
from results.compare import SCHEMA, Compared, Comparison, NothingToCompare, compare_runs

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


class Runs:
    """Copies of the toy run with settings and latencies of their own."""

    def __init__(self, toy: ToyRun, root: Path) -> None:
        self._toy = toy
        self._root = root

    def make(self, name: str, *, seed: int, stretch: float = 1.0, **settings: Any) -> RunFolder:
        """Copy the run, with every time since its start stretched."""
        folder = self._root / name
        shutil.copytree(self._toy.folder.root, folder, ignore=shutil.ignore_patterns("repo.git", "attempts"))
        told = json.loads((folder / "settings.json").read_bytes()) | {"seed": seed} | settings
        (folder / "settings.json").write_text(json.dumps(told))
        lines = [json.loads(line) for line in (folder / "journal.jsonl").read_bytes().splitlines()]
        start = lines[0]["at"]
        for line in lines:
            line["at"] = start + (line["at"] - start) * stretch
        (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return RunFolder(folder)


@pytest.fixture
def runs(honest: ToyRun, tmp_path: Path) -> Runs:
    return Runs(honest, tmp_path)


def _row(found: Comparison, metric: str) -> Compared:
    (row,) = [row for row in found.rows if row.metric == metric]
    return row


def test_runs_are_paired_by_seed_and_a_shift_is_shown_with_its_interval(runs: Runs) -> None:
    noise = (1.0, 1.3, 0.8, 1.1, 0.9)
    a = [runs.make(f"a{seed}", seed=seed, stretch=noise[seed]) for seed in range(5)]
    b = [runs.make(f"b{seed}", seed=seed, stretch=noise[seed] + 0.5 + 0.01 * seed) for seed in reversed(range(5))]
    found = compare_runs(a, b)
    assert (found.seeds, found.unpaired, found.settings) == ((0, 1, 2, 3, 4), (), ())
    row = _row(found, "seconds")
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.difference < row.high
    assert row.high - row.low < 0.1 * row.difference
    assert (row.n, row.method, row.verdict, row.simulated) == (5, "paired t over 5 seeds", "worse", True)
    assert _row(found, "landed_per_second").verdict == "worse"
    assert _row(found, "landed").verdict == "no difference shown"
    assert found.frame().schema == SCHEMA.polars()
    assert found.frame().height == len(found.rows)
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()


def test_one_run_a_side_has_no_interval_and_says_so(runs: Runs) -> None:
    found = compare_runs([runs.make("a", seed=1)], [runs.make("b", seed=1, stretch=2.0)])
    row = _row(found, "seconds")
    assert row.b == pytest.approx(2 * row.a)
    assert (row.low, row.high, row.n, row.method, row.verdict) == (None, None, 1, "one run a setting", "")


def test_runs_of_one_seed_and_side_are_one_pair(runs: Runs) -> None:
    a = [runs.make(f"a{again}", seed=1, stretch=stretch) for again, stretch in enumerate((1.0, 3.0))]
    found = compare_runs(a, [runs.make("b", seed=1, stretch=2.0)])
    row = _row(found, "seconds")
    assert row.n == 1
    assert row.difference == pytest.approx(0.0)


def test_a_run_whose_seed_the_other_side_lacks_counts_nowhere_and_is_named(runs: Runs) -> None:
    a = [runs.make("a1", seed=1), runs.make("a2", seed=2, stretch=9.0)]
    found = compare_runs(a, [runs.make("b1", seed=1)])
    assert (found.seeds, found.unpaired) == ((1,), ("a2",))
    assert _row(found, "seconds").difference == 0


def test_sides_without_a_common_seed_are_an_error_that_says_what_to_do(runs: Runs) -> None:
    with pytest.raises(NothingToCompare, match="no seed stands on both sides: 1 and 2") as raised:
        compare_runs([runs.make("a", seed=1)], [runs.make("b", seed=2)])
    assert "--seed" in raised.value.hint


def test_settings_and_environments_that_differ_are_listed(runs: Runs) -> None:
    a = runs.make("a", seed=1)
    b = runs.make("b", seed=1, workers=64, rules={"off": ["imports"], "bind": {}})
    for folder, git in ((a, "2.39.5"), (b, "2.50.0")):
        (folder.root / "environment.json").write_text(json.dumps({"git": git, "load": [1.0], "cpu": "same"}))
    found = {row["setting"]: (row["a"], row["b"]) for row in compare_runs([a], [b]).settings}
    assert found == {
        "workers": ("2", "64"),
        "rules.off": ("[]", '["imports"]'),
        "environment.git": ("2.39.5", "2.50.0"),
    }


def test_what_a_rule_did_in_one_run_only_counts_as_nothing_in_the_others(runs: Runs) -> None:
    a, b = runs.make("a", seed=1), runs.make("b", seed=1)
    journal = a.journal.read_text().replace('"rule:sorted-index"', '"rule:imports"')
    a.journal.write_text(journal)
    found = compare_runs([a], [b])
    assert (_row(found, "redone_by_rule.imports").a, _row(found, "redone_by_rule.imports").b) == (8, 0)
    assert (_row(found, "redone_by_rule.sorted-index").a, _row(found, "redone_by_rule.sorted-index").b) == (0, 8)

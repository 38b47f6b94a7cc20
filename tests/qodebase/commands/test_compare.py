from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import qodebase as qb
from qodebase.commands.compare import _figure
from qodebase.runs import RunFolder

Call = Callable[..., Result]
Make = Callable[..., RunFolder]


@pytest.fixture(scope="module")
def sides(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``few`` and ``many``, each with runs of the seeds 1 and 2."""
    top = tmp_path_factory.mktemp("sides")
    for side, workers in (("few", 1), ("many", 8)):
        for seed in (1, 2):
            root = top / side / str(seed)
            root.mkdir(parents=True)
            make(root, f"{side}-{seed}", seed=seed, workers=workers)
    return top


def test_folders_of_runs_are_compared_run_by_run(sides: Path, call: Call) -> None:
    found = json.loads(call("compare", str(sides / "few"), str(sides / "many"), "--json").stdout)
    assert (found["a"], found["b"], found["seeds"]) == (["few-1", "few-2"], ["many-1", "many-2"], [1, 2])
    assert {"setting": "workers", "a": "1", "b": "8"} in found["settings"]
    rows = {row["metric"]: row for row in found["rows"]}
    assert rows["seconds"]["b"] < rows["seconds"]["a"]
    assert rows["landed_per_second"]["n"] == 2
    assert rows["landed_per_second"]["low"] is None
    assert rows["landed_per_second"]["method"].startswith("one run a setting")


def test_the_table_for_people_says_sides_settings_and_why_there_is_no_interval(sides: Path, call: Call) -> None:
    text = call("compare", str(sides / "few/1/runs/few-1"), str(sides / "many/1/runs/many-1")).stdout
    assert "workers" in text
    assert "one run a setting" in text
    assert "the clock is simulated: seconds are virtual" in text
    assert "landed_per_second (intents/s)" in text


def test_a_table_for_people_has_large_figures_in_full() -> None:
    told = [_figure(1_234_567.8), _figure(-33_570.0, "+"), _figure(0.01234567, "+"), _figure(0.0, "+")]
    assert told == ["1,234,568", "-33,570", "+0.01235", "+0"]


def test_runs_are_told_to_their_sides_in_turn(sides: Path, call: Call) -> None:
    names = [str(sides / side / str(seed) / "runs" / f"{side}-{seed}") for seed in (1, 2) for side in ("few", "many")]
    in_turn, below = (
        call("compare", *names, "--json"),
        call("compare", str(sides / "few"), str(sides / "many"), "--json"),
    )
    assert in_turn.exit_code == 0
    assert in_turn.stdout == below.stdout


@pytest.mark.parametrize(
    ("runs", "said"), [(("one",), "no pairs"), (("one", "one", "one"), "no pairs"), (("one", "nothing"), "no run")]
)
def test_what_cannot_be_compared_is_an_error(call: Call, runs: tuple[str, ...], said: str) -> None:
    result = call("compare", *runs)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_side_that_is_not_finished_is_said_in_text_and_data(home: Path, call: Call, tmp_path: Path) -> None:
    shutil.copytree(home / "runs" / "one", tmp_path / "half")
    journal = tmp_path / "half" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if b'"kind":"ended"' in line]
    journal.write_bytes(b"".join(lines[: ends[0]]))
    sides = (str(home / "runs" / "one"), str(tmp_path / "half"))
    assert "b: half is not finished: 3 of its intents are pending" in call("compare", *sides).stdout
    assert json.loads(call("compare", *sides, "--json").stdout)["unfinished"] == [
        {"side": "b", "run": "half", "pending": 3}
    ]
    assert json.loads(call("compare", sides[0], sides[0], "--json").stdout)["unfinished"] == []


def test_a_run_compared_with_itself_differs_in_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    run = qb.open_run("one")
    found = qb.compare(run, [run, "runs/one"])
    assert found.settings == ()
    assert found.frame()["difference"].abs().max() == 0


def test_a_notebooks_run_gives_trains_metrics_answers_to_sql_and_its_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    run = qb.open_run("one")
    assert run.trains["verdict"].unique().to_list() == ["green"]
    assert run.metrics().height == len(run.sql("select * from metrics"))
    assert run.environment()["repository_commit"] == run.folder.settings().base
    assert run.landings is run.landings

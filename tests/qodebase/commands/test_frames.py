from __future__ import annotations

import csv
import io
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from qodebase.runs import RunFolder
from results.frames import load
from results.schema import SCHEMAS

Call = Callable[..., Result]
Make = Callable[..., RunFolder]


def test_without_a_name_every_frame_is_listed_with_its_rows_columns_and_units(call: Call) -> None:
    listed = json.loads(call("frames", "one", "--json").stdout)["frames"]
    assert [frame["name"] for frame in listed] == [*SCHEMAS, "metrics"]
    landings = next(frame for frame in listed if frame["name"] == "landings")
    assert (landings["rows"], landings["row"]) == (4, "a landed intent, in the order of the journal")
    assert {"name": "seconds", "type": "float", "unit": "s"}.items() <= landings["columns"][11].items()
    text = call("frames", "one").stdout
    assert "landings: 4 rows, each a landed intent, in the order of the journal" in text


def test_a_frame_is_printed_as_csv_json_or_a_table(call: Call) -> None:
    rows = list(csv.DictReader(io.StringIO(call("frames", "one", "landings", "--format", "csv").stdout)))
    found = json.loads(call("frames", "one", "landings", "--json").stdout)
    assert [row["commit"] for row in rows] == [row["commit"] for row in found]
    assert len(found) == 4
    assert found[0]["commit"] in call("frames", "one", "landings").stdout
    assert "landed_per_second" in call("frames", "one", "metrics").stdout


def test_a_frame_goes_into_a_file_in_the_format_of_its_name(call: Call, tmp_path: Path) -> None:
    import polars as pl

    out = tmp_path / "landings.parquet"
    result = call("frames", "one", "landings", "--out", str(out))
    assert (result.exit_code, result.stdout) == (0, "")
    assert pl.read_parquet(out).height == 4


def test_the_hint_on_a_wrong_name_lists_every_right_one(call: Call) -> None:
    hint = json.loads(call("frames", "one", "nope", "--json").stdout)["hint"]
    for name in hint.removeprefix("There are ").removesuffix(".").split(", "):
        assert call("frames", "one", name, "--json").exit_code == 0
    assert "metrics" in hint


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("landing",), "no frame 'landing'"),
        (("landings", "--format", "xml"), "no format 'xml'"),
        (("landings", "--out", "nowhere/x.csv"), "nowhere/x.csv cannot be written"),
    ],
)
def test_what_cannot_be_printed_is_an_error_that_says_what_to_do(
    call: Call, arguments: tuple[str, ...], said: str
) -> None:
    result = call("frames", "one", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 2


@pytest.mark.parametrize("seed", range(4))
def test_frames_count_what_git_log_and_git_notes_count(make: Make, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines = ("# A", "# B", "# fails", "# none")
    edits = tuple(f"{chance.choice('abc')}.py={chance.choice(lines)}{at}" for at in range(12))
    edits = tuple(edit.replace("fails" + edit[-1:], "fails").replace("none" + edit[-1:], "none") for edit in edits)
    run = make(tmp_path, "some", edits=tuple(dict.fromkeys(edits)), seed=seed, workers=4)
    frames, base = load(run), run.settings().base
    log = _git(run, "log", "--reverse", "--format=%H %P", f"{base}..main")
    intents = _git(
        run, "log", "--reverse", "--format=%(trailers:key=Qodebase-Intent,valueonly,separator=)", f"{base}..main"
    )
    assert [f"{commit} {parent}" for commit, parent in frames.landings.select("commit", "parent").rows()] == log
    assert frames.landings["intent"].to_list() == intents
    assert len(_git(run, "notes", "--ref=qodebase", "list")) == frames.landings.height
    landed = frames.intents.filter(frames.intents["ending"] == "landed")
    assert sorted(landed["commit"]) == sorted(frames.landings["commit"])
    members = [intent for train in frames.trains["members"] for intent in train]
    assert set(intents) <= set(members)
    for row in frames.landings.rows(named=True):
        changed = _git(run, "diff-tree", "--no-commit-id", "--name-only", "-r", row["commit"])
        assert len(changed) <= row["paths"]


def _git(run: RunFolder, *arguments: str) -> list[str]:
    command = ["git", "-C", str(run.repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]

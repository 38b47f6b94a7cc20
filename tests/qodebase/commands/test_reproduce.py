"""Published runs at a small part of their size: each figure stands beside the published one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import qodebase as qb
from qodebase import events
from qodebase.cli import make_app
from qodebase.commands.support.reproducing import reproducible_names
from results import reproduced_runs
from results.published_runs import published_run

ROW = {"figure", "published", "here", "ratio", "unit"}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def reproduced(*words: str, code: int = 0) -> dict[str, Any]:
    done = CliRunner().invoke(make_app(), ["reproduce", *words, "--json", "--offline"], prog_name="qodebase")
    assert done.exit_code == code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(*words: str) -> str:
    done = CliRunner().invoke(make_app(), ["reproduce", *words], prog_name="qodebase")
    assert done.exit_code == 2
    assert not list(Path.cwd().iterdir())
    return done.stderr


def expect_whole(found: dict[str, Any], name: str) -> dict[str, Any]:
    assert [row["figure"] for row in found["rows"]] == [figure.name for figure in published_run(name).figures]
    assert all(row.keys() >= ROW for row in found["rows"])
    assert any(word.startswith("machine: ") for word in found["differs"])
    assert found["verified"] is True
    assert found["environment"]["python"]
    return {row["figure"]: row for row in found["rows"]}


def test_lanes_at_a_twentieth_land_each_change_with_its_commit_and_its_record() -> None:
    found = reproduced("lanes-check", "--scale", "0.05", "--repeats", "2", "--out", "here")
    rows = expect_whole(found, "lanes-check")
    assert {name: row["here"] for name, row in rows.items()} == {"landed": 10, "commits": 10, "records": 10}
    assert rows["landed"]["ratio"] == pytest.approx(10 / 199)
    assert (rows["landed"]["low"], rows["landed"]["high"], rows["landed"]["n"]) == (10, 10, 2)
    assert json.loads(Path("here/result.json").read_bytes()) == found
    assert found["command"] == "qodebase reproduce lanes-check --scale 0.05 --repeats 2"
    assert [path.name for path in Path("here").iterdir()] == ["result.json"]


def test_documents_at_a_small_size_keep_every_line_of_the_index_once_and_touch_no_code() -> None:
    found = reproduced("vscode-docs", "--scale", "0.003", "--keep", "--out", "here")
    rows = expect_whole(found, "vscode-docs")
    assert (rows["landed"]["here"], rows["no_answer"]["here"], rows["cost"]["here"]) == (12, 0, 0)
    assert 0 < rows["collided_on_index"]["here"] < 12
    assert rows["index_lines"]["here"] > 12
    wrong = ("index_redone_by_model", "index_lines_missing", "index_lines_twice", "code_touched")
    assert [rows[name]["here"] for name in wrong] == [0, 0, 0, 0]
    assert any("made-up JavaScript" in word for word in found["differs"])
    assert qb.open_run(Path("here/1/run")).landings.height == 12


def test_a_list_of_repositories_takes_the_place_of_the_six_codebases() -> None:
    from qodebase.commands.support.reproductions._sources import made_up

    for number in (1, 2):
        made_up(Path(f"code-{number}.git"), 20, seed=number)
    found = reproduced("six-codebases", "--scale", "0.2", "--repo", "code-1.git", "--repo", "code-2.git")
    rows = expect_whole(found, "six-codebases")
    assert (rows["landed"]["here"], rows["code_touched"]["here"]) == (8, 0)
    assert rows["busiest_minute"]["here"] > 0
    assert any("code-1.git, code-2.git" in word for word in found["differs"])


def test_the_busiest_minute_of_a_short_run_is_taken_over_all_of_it() -> None:
    from qodebase.commands.support.reproductions.six_codebases import busiest_minute

    assert busiest_minute([9.0] * 100 + [10.0] * 100, 10.0) == 20
    assert busiest_minute([second / 2 for second in range(400)], 200.0) == pytest.approx(121 / 60)
    assert busiest_minute([], 10.0) == 0


def test_what_is_held_what_waits_and_the_slowest_tenth_are_told_by_the_journal() -> None:
    from qodebase.commands.support.reproductions.counters_planned import told
    from qodebase.paths import CommitId

    commit = CommitId("0" * 40)
    landed = [
        one
        for number in range(20)
        for one in (
            events.Admitted(intent=f"i{number}", at=10.0, base=commit),
            events.Asked(intent=f"i{number}", at=10.0, call=number, model="m", purpose="fresh", prompt="p"),
            events.Queued(intent=f"i{number}", at=11.0, lanes=("main",)),
            events.Landed(intent=f"i{number}", at=12.0 + number, commit=commit, parent=commit),
        )
    ]
    found = told([events.Held(intent="i3", at=4.0, by="i2"), *landed])
    flights = [2.0 + number for number in range(20)]
    assert found == {
        "claim_held": sum(flights),
        "waiting": 6.0 + sum(flights) - 20,
        "flights": 20,
        "slowest_tenth": 20.0,
    }


def test_wrong_answers_are_a_part_of_those_that_were_judged() -> None:
    from qodebase.commands.support.reproductions.collision_dials import wrong_shares

    row = {"wrong_fresh": 3, "wrong_redone": 2, "redone_by_model": 1}
    judged = {"judged_fresh": 30, "judged_redone": 4}
    assert wrong_shares(row, judged) == {"wrong_fresh_share": 0.1, "wrong_redone_share": 0.5}
    assert wrong_shares(row, {"judged_fresh": 30, "judged_redone": 0}) == {"wrong_fresh_share": 0.1}


def test_a_notebook_gets_a_frame_also_inside_a_running_loop() -> None:
    async def cell() -> Any:
        return qb.reproduce("lanes-check", scale=0.01)

    found = asyncio.run(cell())
    assert found.frame().select("figure", "here").rows() == [("landed", 2), ("commits", 2), ("records", 2)]
    text = repr(found)
    assert "ratio" in text
    assert "what differs:" in text


def test_the_list_names_all_runs_with_why_some_cannot_be_reproduced_and_what_was_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduced_runs, "FOLDER", tmp_path / "reproduced")
    told = {"command": "qodebase reproduce counters", "environment": {"cpus": 2, "command": ["--out", "/a/b"]}}
    reproduced_runs.record("counters", told)
    assert reproduced_runs.reproduced_run("counters") == {**told, "environment": {"cpus": 2}}
    runs = {run["name"]: run for run in reproduced("--list")["runs"]}
    assert sorted(name for name, run in runs.items() if run["reproducible"]) == reproducible_names()
    assert all(bool(run["missing"]) is not run["reproducible"] for run in runs.values())
    assert [name for name, run in runs.items() if run["recorded"]] == ["counters"]
    text = CliRunner().invoke(make_app(), ["reproduce", "--list"], prog_name="qodebase").stdout
    assert "not yet: needs the agents' board" in text
    assert "recorded: qodebase reproduce counters" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "no published run 'nothing'"),
        (("board",), "cannot be reproduced yet: it needs the agents' board"),
        (("counters", "--model", "openai:x"), "asks no model of the caller's"),
        (("counters", "--repo", "x"), "makes up its code itself"),
        (("counters", "--scale", "0"), "is no size"),
        (("counters", "--scale", "nan"), "is no size"),
        (("counters", "--scale", "0.5", "--record"), "only figures of the full size"),
        (("counters", "--out", "."), "exists already"),
        (("collision-dials", "--out", "."), "exists already"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_done(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words)


def test_nothing_stays_of_a_reproduction_that_fails() -> None:
    assert "unknown model" in refused("vscode-docs", "--scale", "0.001", "--offline", "--model", "nosuch:x")


@pytest.mark.full
def test_collision_dials_go_on_with_the_settings_that_are_missing() -> None:
    words = ("collision-dials", "--scale", "0.015", "--out", "here", "--keep")
    first = reproduced(*words)
    Path("here/result.json").unlink()
    kept = {path: path.stat().st_mtime_ns for path in Path("here/1").rglob("result.json")}
    assert len(kept) == 5
    (gone, *_) = sorted(kept)
    gone.unlink()
    again = reproduced(*words)
    assert [row["here"] for row in again["rows"]] == [row["here"] for row in first["rows"]]
    now = {path: path.stat().st_mtime_ns for path in Path("here/1").rglob("result.json")}
    assert {path for path in kept if now[path] != kept[path]} == {gone}


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    ["counters", "counters-planned", "sectors", "redeploy", "ten-thousand-workers", "ten-trains", "collision-dials"],
)
def test_a_twentieth_of_every_other_published_run_gives_its_rows(name: str) -> None:
    rows = expect_whole(reproduced(name, "--scale", "0.05"), name)
    unknown = {"holds"} if name == "counters" else set()
    assert {figure for figure, row in rows.items() if row["here"] is None} <= unknown | {"wrong_redone_share"}
    lost = [row["here"] for figure, row in rows.items() if figure in ("lost", "doubled", "errors")]
    assert not any(lost)

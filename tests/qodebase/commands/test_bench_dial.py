from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import qodebase as qb
from lanes.checking.sandbox import available
from qodebase.cli import make_app
from qodebase.commands.bench.support import dial_grid, dial_side
from qodebase.commands.bench.support.dial_grid import SettingFailed
from qodebase.commands.bench.support.dial_setting import Plain, grid_of

ROW = {
    *("share", "queue", "rules", "seed", "minutes", "touched", "collided", "conflicted", "refused_clean"),
    *("redone_by_merge", "redone_by_rule", "redone_by_model", "rule_refused", "wrong_redone", "wrong_fresh"),
    *("sent_back", "lost_own", "lost_in_landing", "passing", "required", "test_runs", "wait_p50_s", "wait_p99_s"),
    "clock",
}
SMALL = ["--tasks", "60", "--agents", "20", "--share", "0.6"]


def ran(*words: str) -> Result:
    return CliRunner().invoke(make_app(), ["bench", "dial", *words, "--json"], prog_name="qodebase")


def test_sixty_tasks_land_with_nothing_lost_in_landing_and_every_figure_told(tmp_path: Path) -> None:
    result = ran(*SMALL, "--queue", "prefetch", "--wrong", "0.1", "--out", str(tmp_path), "--check")
    answer: dict[str, Any] = json.loads(result.stdout)
    row = answer["settings"][0]
    assert result.exit_code == 0, answer["missed"]
    assert set(row) == ROW
    assert (row["lost_in_landing"], row["required"], row["clock"]) == (0, 60, "virtual")
    assert row["conflicted"] >= 5
    assert row["redone_by_rule"] >= row["conflicted"] / 2
    assert row["passing"] + len(answer["failing"]) == 60
    assert {one["why"].partition(":")[0] for one in answer["failing"]} <= {"lost own", "not landed"}
    assert row["lost_own"] == len(answer["lost"])
    assert row["wrong_fresh"] > 0
    assert len(answer["hot_modules"]) == 6
    assert answer["share_observed"] == [pytest.approx(0.6, abs=0.02)]
    assert set(answer["fitted"]) == {"fresh_s", "redo_s", "spread", "gate_s"}
    assert "simulated" in answer["simulated"]
    assert "1 of 1" in result.stderr

    dial = qb.dial(tasks=60, agents=20, share=0.6, queue="prefetch", wrong=0.1, out=tmp_path)
    assert dial.settings["minutes"].to_list() == [row["minutes"]], "what the folder holds is not measured again"
    assert (dial.lost.height, dial.failing.height) == (row["lost_own"], len(answer["failing"]))


def test_a_rule_that_guesses_loses_checks_where_only_own_checks_judge_and_is_refused_by_the_contract(
    tmp_path: Path,
) -> None:
    words = ["--tasks", "18", "--agents", "18", "--share", "1", "--queue", "lanes", "--rules", "theirs-wins"]
    words += ["--wrong", "0", "--out", str(tmp_path)]
    rows = [json.loads(ran(*words, "--contract", which).stdout)["settings"][0] for which in ("off", "on")]
    assert rows[0]["lost_in_landing"] >= 4
    assert rows[0]["rule_refused"] == 0
    assert rows[1]["lost_in_landing"] == 0
    assert rows[1]["rule_refused"] >= 4


@pytest.mark.full
def test_a_setting_that_fails_names_its_folder_and_the_others_are_kept(tmp_path: Path) -> None:
    common = {"queues": ["single"], "rules": "on", "contract": False, "seeds": 1}
    good = grid_of(Plain(tasks=6, agents=3), shares=[0.5], **common)  # type: ignore[arg-type]
    bad = grid_of(Plain(tasks=6, agents=3, hot_modules=99), shares=[0.5], **common)  # type: ignore[arg-type]
    with pytest.raises(SettingFailed, match="4 to 6 modules") as caught:
        dial_grid.measure([*good, *bad], tmp_path, jobs=1)
    assert bad[0].key in str(caught.value.hint)
    told: list[str] = []
    (kept,) = dial_grid.measure(good, tmp_path, jobs=1, say=told.append)
    assert kept.row["required"] == 6
    assert "1 of 1 settings" in told[0]


def test_what_a_real_model_wrote_is_scored_without_a_network_and_cannot_write(tmp_path: Path) -> None:
    why = available()
    if why:
        pytest.skip(f"this machine holds no sandbox: {why}")
    tries = f"touch {tmp_path}/written; cat /proc/net/route | wc -l; ls /proc | grep -c '^[0-9]'; echo $PPID"
    with dial_side._apart(["sh", "-c", tries]) as process:
        out, _ = process.communicate()
    routes, processes, parent = out.decode().split()
    assert not (tmp_path / "written").exists()
    assert int(routes) <= 1, "no route but a heading"
    assert parent == "0", "nobody else is there"
    assert int(processes) < 8

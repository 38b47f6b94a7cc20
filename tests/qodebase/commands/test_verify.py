from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from qodebase.runs import RunFolder

Call = Callable[..., Result]


def test_an_honest_run_is_verified_with_every_check_counted(call: Call) -> None:
    result = call("verify", "one")
    assert result.exit_code == 0
    assert "every check is satisfied" in result.stdout
    assert "6 intents = 4 landed + 1 sent back + 1 no answer" in result.stdout
    assert "WRONG" not in result.stdout
    assert "not checked" not in result.stdout
    assert "checking landings ..." in result.stderr


def test_a_landing_that_the_journal_does_not_know_is_found_and_its_intent_named(copy: RunFolder, call: Call) -> None:
    lines = copy.journal.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not (b'"kind":"landed"' in line and b'"intent":"edit-1"' in line)]
    assert len(kept) == len(lines) - 1
    copy.journal.write_bytes(b"".join(kept))
    result = call("verify", "one")
    assert result.exit_code == 1
    assert "ledger" in result.stdout
    assert "WRONG" in result.stdout
    assert "intents: edit-1" in result.stdout
    found = json.loads(call("verify", "one", "--json").stdout)
    assert found["ok"] is False
    assert ["edit-1"] in [finding["intents"] for check in found["checks"] for finding in check["findings"]]


def test_the_field_names_of_an_audit_stay_as_scripts_know_them(call: Call) -> None:
    found = json.loads(call("verify", "one", "--full", "--json").stdout)
    assert set(found) == {"subject", "ok", "checks", "not_checked", "seconds"}
    assert {"name", "ok", "counted", "findings", "noted"} == set(found["checks"][0])
    assert found["ok"] is True


def test_a_repository_with_only_notes_gets_a_reduced_audit_that_says_what_it_lacks(call: Call) -> None:
    result = call("verify", "runs/one/repo.git")
    assert result.exit_code == 0
    assert "4 landings of 1 run" in result.stdout
    assert "not checked: the ledger" in result.stdout


def test_a_run_whose_job_is_gone_cannot_be_audited_unless_the_job_is_left_out(copy: RunFolder, call: Call) -> None:
    path = copy.root / "settings.json"
    settings = json.loads(path.read_text())
    settings["job_file"] = "gone.py"
    path.write_text(json.dumps(settings))
    result = call("verify", "one")
    assert result.exit_code == 2
    assert "no job file gone.py" in result.stderr
    assert "--without-job" in result.stderr
    reduced = call("verify", "one", "--without-job")
    assert reduced.exit_code == 0
    assert "not checked: the job's own promise" in reduced.stdout


def test_a_run_without_its_repository_is_an_error_and_not_a_clean_audit(copy: RunFolder, call: Call) -> None:
    copy.repository.rename(copy.root / "elsewhere.git")
    result = call("verify", "one")
    assert result.exit_code == 2
    assert "error: " in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["two", "no/such/folder"])
def test_what_is_neither_run_nor_repository_is_refused(name: str, call: Call) -> None:
    result = call("verify", name)
    assert result.exit_code == 2
    assert "Runs there: one." in result.stderr
    assert "A repository's folder does as well." in result.stderr


def test_a_repository_that_no_run_has_landed_on_is_refused_and_not_called_clean(home: Path, call: Call) -> None:
    result = call("verify", str(home / "code"))
    assert result.exit_code == 2
    assert "holds no landing of a run on main" in result.stderr


def test_landings_whose_notes_were_left_behind_are_found(tmp_path: Path, call: Call) -> None:
    subprocess.run(["git", "clone", "-q", "runs/one/repo.git", str(tmp_path / "clone")], check=True)
    result = call("verify", str(tmp_path / "clone"))
    assert result.exit_code == 1
    assert "intents: edit-0" in result.stdout


def test_a_branch_that_is_not_there_is_refused_and_those_there_are_named(tmp_path: Path, call: Call) -> None:
    subprocess.run(["git", "clone", "-q", "--bare", "runs/one/repo.git", str(tmp_path / "r.git")], check=True)
    result = call("verify", str(tmp_path / "r.git"), "--branch", "dev")
    assert result.exit_code == 2
    assert "Branches there: main" in result.stderr

"""What commands tell people to do next works as it stands, also where names are odd."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from pkgutil import iter_modules

import pytest
import typer
from typer.testing import CliRunner

from qodebase import commands
from qodebase.cli import make_app
from qodebase.commands import bench
from qodebase.commands.support.console import reporting
from qodebase.runs import RunFolder
from tests.qodebase.commands.conftest import Call, make_repository

RUN = "my run..\n~1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository and a run whose name needs quoting and can be no part of a branch."""
    here = tmp_path_factory.mktemp("odd")
    make_repository(here / "co de")
    words = ("run", "document", "--repo", str(here / "co de"), "--out", str(here / RUN))
    assert CliRunner().invoke(make_app(), words).exit_code == 0
    return here


@pytest.fixture
def odd(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call) -> str:
    """A copy of the run, as a relative folder."""
    shutil.copytree(made / RUN, tmp_path / RUN)
    monkeypatch.chdir(tmp_path)
    return RUN


def shell(command: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_after_a_revert_into_a_relative_folder_can_be_pasted(odd: str, call: Call) -> None:
    reverted = call("revert", odd, "--intent", "a.py", "--out", "back again")
    shell(reverted.stderr.partition("too:\n")[2])
    assert "1 reverted" in call("verify", odd).stdout


def test_what_status_says_is_next_can_be_pasted(odd: str, call: Call) -> None:
    commands = json.loads(call("status", odd, "--json").stdout)["next"]
    assert [call(*shlex.split(command)[1:]).exit_code for command in commands] == [0, 0, 0]


def test_exported_branches_of_a_run_with_an_odd_name_are_git_s_and_are_found_again(
    odd: str, made: Path, call: Call
) -> None:
    code = shlex.quote(str(made / "co de"))
    assert call("export", odd, "--onto", "main", "--squash").exit_code == 0
    for branch in shell(f"git -C {code} for-each-ref --format='%(refname)' refs/heads/qodebase").split():
        shell(f"git -C {code} -c user.name=T -c user.email=t@t merge -q -m merged {shlex.quote(branch)}")
    assert "3 intents found" in call("carry", odd, "main").stdout


def test_a_live_run_is_not_said_to_be_free_once_it_is_paused(copy: RunFolder, call: Call) -> None:
    with copy.locked():
        for words in (("export", "--onto", "main"), ("revert", "--all")):
            refused = call(words[0], str(copy.root), *words[1:])
            assert refused.exit_code == 2
            assert "stop that process first" in refused.stderr


def test_a_failure_with_json_is_a_document_too(copy: RunFolder, call: Call) -> None:
    failed = call("log", str(copy.root), "nothing", "--json")
    assert json.loads(failed.stdout)["error"] == "no intent 'nothing' in this run"
    assert failed.exit_code == json.loads(failed.stdout)["exit_code"] == 2


@pytest.mark.parametrize("file", ["settings.json", "intents.jsonl", "journal.jsonl"])
def test_a_damaged_run_is_told_of_with_its_file_and_what_to_do(file: str, copy: RunFolder, call: Call) -> None:
    damaged = copy.root / file
    damaged.write_bytes(b"{\n" + damaged.read_bytes())
    said = json.loads(call("status", "one", "--json").stdout)
    assert f"one/{file}" in said["error"]
    assert "from a copy" in said["hint"]


def test_a_run_whose_settings_are_damaged_is_not_said_to_be_audited_without_its_job(
    copy: RunFolder, call: Call
) -> None:
    (copy.root / "settings.json").write_text("{")
    assert "--without-job" not in call("verify", "one").stderr
    assert call("verify", "one", "--without-job").exit_code == 2


def test_a_damaged_run_does_not_hide_the_last_one(copy: RunFolder, call: Call) -> None:
    shutil.copytree(copy.root, "runs/older")
    Path("runs/older/settings.json").write_text("{")
    os.utime("runs/older/settings.json", (0, 0))
    assert call("status", "last").exit_code == 0
    os.utime("runs/older/settings.json")
    assert "runs/older" in call("status", "last").stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_run_of_another_user_is_audited_shown_and_archived(copy: RunFolder, call: Call) -> None:
    for path in (copy.root, *copy.root.rglob("*")):
        os.chown(path, 65534, 65534)
    assert call("verify", "one").exit_code == 0
    assert call("diff", "one", "a.py").exit_code == 0
    assert call("archive", "one", "one.tar.gz").exit_code == 0
    assert "git config --global --add safe.directory" in call("carry", "one", "main").stderr


def test_a_disk_that_is_full_is_told_of_in_json_and_not_taken_for_the_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @reporting
    def command(json: bool) -> None:
        with open("/dev/full", "wb", buffering=0) as full:
            full.write(b"kept")

    with pytest.raises(typer.Exit):
        command(json=True)
    said = json.loads(capsys.readouterr().out)
    assert said == {
        "error": "a file cannot be written: No space left on device",
        "hint": "Make room there, then run the command again.",
        "exit_code": 2,
    }


def test_no_help_shows_a_default_that_is_nothing(call: Call) -> None:
    names = [[module.name] for module in iter_modules(commands.__path__) if module.name not in ("bench", "support")]
    names += [["bench", module.name] for module in iter_modules(bench.__path__) if module.name != "support"]
    assert len(names) > 30
    assert [name for name in names if "default: ()" in call(*name, "--help").stdout] == []

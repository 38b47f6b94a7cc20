from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qodebase.cli import make_app
from qodebase.commands.run import new_folder
from qodebase.commands.support.at_work import taking_over
from qodebase.runs import RunFolder

QODEBASE = (sys.executable, "-c", "from qodebase.cli import main; main()")
JOB = str(Path(__file__).parents[2] / "support" / "edit_job.py")
RUN = ("run", "--job", JOB, "--repo", "code", "--model", "scripted", "--edits", "a.py=# A")


@pytest.fixture(autouse=True)
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh current folder with the repository in ``code``."""
    shutil.copytree(home / "code", tmp_path / "code")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QODEBASE_CACHE", str(tmp_path / "cache"))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "person@example.org")
    return tmp_path


def call(*arguments: str) -> Result:
    result = CliRunner().invoke(make_app(), arguments, prog_name="qodebase")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_run_without_out_takes_the_first_free_folder() -> None:
    assert new_folder("edit", Path("code")) == Path("runs/edit-code-1")
    assert call(*RUN).exit_code == 0
    assert RunFolder(Path("runs/edit_job-code-1")).settings().job == "edit"
    assert new_folder("edit_job", Path("code")) == Path("runs/edit_job-code-2")


def test_data_goes_to_stdout_and_status_to_stderr() -> None:
    result = call(*RUN, "-o", "one")
    assert ["landed", "1"] in [line.split() for line in result.stdout.splitlines()]
    assert "run folder: one" in result.stderr
    assert "run folder" not in result.stdout


def test_the_field_names_of_a_finished_run_stay_as_scripts_know_them() -> None:
    found = json.loads(call(*RUN, "-o", "one", "--json").stdout)
    assert {"run", "folder", "state", "stopped", "ledger", "reasons", "cost_usd", "exit_code", "take_over"} <= set(
        found
    )
    assert found["exit_code"] == 0
    assert found["ledger"]["landed"] == 1


def test_the_field_names_of_a_plan_stay_as_scripts_know_them() -> None:
    plan = json.loads(call(*RUN, "--dry-run", "--json").stdout)
    assert plan["lanes"] == {"main": 1}
    assert set(plan) == {
        *("job", "model", "repository", "branch", "base", "intents", "endings", "reasons", "lanes", "calls"),
        *("input_tokens", "output_tokens", "max_output_tokens", "max_tokens", "cost_usd", "max_cost_usd"),
        *("prices", "assumptions", "withheld", "first_prompt"),
    }
    assert not Path("runs").exists()


def test_uncommitted_changes_are_no_part_of_a_run_and_that_is_said() -> None:
    assert "uncommitted" not in call(*RUN, "-o", "one").stderr
    Path("code/a.py").write_text("changed = 1\n")
    assert "uncommitted changes of the working tree are not part of the run" in call(*RUN, "-o", "two").stderr
    shown = subprocess.run(["git", "-C", "two/repo.git", "show", "main:a.py"], capture_output=True, check=True).stdout
    assert b"changed" not in shown


def test_a_folder_below_the_top_means_the_whole_repository_and_that_is_said() -> None:
    assert "folder of the repository" not in call(*RUN, "--dry-run").stderr
    Path("code/inner/most").mkdir(parents=True)
    words = [*RUN[:4], "code/inner/most", *RUN[5:]]
    assert "note: inner/most/ is a folder of the repository" in call(*words, "--dry-run").stderr


def test_lines_without_a_terminal_and_a_table_on_one() -> None:
    plain = subprocess.run([*QODEBASE, *RUN, "-o", "one"], capture_output=True, check=True)
    assert b"\x1b" not in plain.stdout + plain.stderr
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    words = [*QODEBASE, *RUN, "-o", "two", "--model", "scripted:latency=0.6,spread=0"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while b"remaining" not in shown:
            shown += os.read(ours, 4096)
        with open(ours, "rb", closefd=True, buffering=0) as rest:
            while True:
                try:
                    if not rest.read(4096):
                        break
                except OSError:
                    break
        assert process.wait() == 0
    for word in (b"landed", b"collided", b"not landed", b"cost"):
        assert word in shown


@pytest.mark.parametrize("name", ["a run", "x..y.lock", "é", "a/../b c"])
def test_the_branch_that_a_run_is_fetched_to_is_one_that_git_takes(name: str) -> None:
    Path("a").mkdir()
    assert call(*RUN, f"--out={name}").exit_code == 0
    for command in taking_over(RunFolder(Path(name))):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    ours, theirs = (
        subprocess.run(["git", "-C", folder, "rev-parse", "main"], capture_output=True, check=True).stdout
        for folder in ("code", f"{name}/repo.git")
    )
    assert ours == theirs


def test_a_bare_repository_takes_main_over_without_a_working_tree() -> None:
    subprocess.run(["git", "clone", "-q", "--bare", "code", "bare.git"], check=True)
    words = [word if word != "code" else "bare.git" for word in RUN]
    assert call(*words, "-o", "one").exit_code == 0
    for command in taking_over(RunFolder(Path("one"))):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    log = subprocess.run(["git", "-C", "bare.git", "log", "--oneline", "main"], capture_output=True, check=True).stdout
    assert len(log.splitlines()) == 2


@pytest.mark.parametrize("where", ["code", "bare.git", "elsewhere"])
def test_what_a_run_says_of_taking_over_works_where_another_run_was_taken_over_before(where: str) -> None:
    if where == "bare.git":
        subprocess.run(["git", "clone", "-q", "--bare", "code", where], check=True)
    elif where == "elsewhere":
        subprocess.run(["git", "clone", "-q", "code", where], check=True)
    words = [word if word != "code" else where for word in (*RUN, "--branch", "main")]
    for run in ("one", "two"):
        assert call(*words, "-o", run).exit_code == 0
    if where == "elsewhere":
        subprocess.run(["git", "-C", where, "checkout", "-q", "-b", "other"], check=True)
    for run in ("one", "two"):
        for command in taking_over(RunFolder(Path(run))):
            subprocess.run(command, shell=True, check=True, capture_output=True)
    log = subprocess.run(["git", "-C", where, "log", "--format=%B", "main"], capture_output=True, text=True, check=True)
    assert log.stdout.count("Qodebase-Intent: ") == 2
    audited = call("verify", where, "--branch", "main")
    assert audited.exit_code == 0, audited.output
    told = call("resume", "two").stdout
    assert "so these commands merge" in told
    assert "qodebase export two --onto main" in told


def git(folder: str, *words: str) -> str:
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    ("how", "moved"),
    [("in a worktree", False), ("in a worktree", True), ("beside a tag", False), ("named by its git folder", True)],
)
def test_taking_over_finds_where_the_branch_is_checked_out(how: str, moved: bool) -> None:
    repository, branch = "code", "main"
    if how == "in a worktree":
        git("code", "worktree", "add", "-q", "-b", "side", "../a place")
        branch = "side"
    elif how == "beside a tag":
        git("code", "tag", "main")
    else:
        repository = "code/.git"
    words = [word if word != "code" else repository for word in (*RUN, "--branch", branch)]
    assert call(*words, "-o", "one").exit_code == 0
    if moved:
        where = "a place" if how == "in a worktree" else "code"
        git(where, "-c", "user.name=T", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "on")
    for command in taking_over(RunFolder(Path("one"))):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert "Qodebase-Intent" in git("code", "log", "--format=%B", f"refs/heads/{branch}")


def test_a_run_that_takes_the_place_of_one_that_was_fetched_and_not_merged_is_fetched_beside_it() -> None:
    assert call(*RUN, "-o", "one").exit_code == 0
    subprocess.run(taking_over(RunFolder(Path("one")))[0], shell=True, check=True, capture_output=True)
    before = git("code", "rev-parse", "qodebase/one")
    shutil.rmtree("one")
    assert call(*RUN[:-1], "a.py=# another", "-o", "one").exit_code == 0
    for command in taking_over(RunFolder(Path("one"))):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert git("code", "rev-parse", "qodebase/one") == before
    assert "# another" in Path("code/a.py").read_text()


def test_taking_over_works_where_a_branch_has_the_name_of_the_folder_of_branches() -> None:
    git("code", "branch", "qodebase")
    assert call(*RUN, "-o", "one").exit_code == 0
    for command in taking_over(RunFolder(Path("one"))):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert "Qodebase-Intent" in git("code", "log", "--format=%B", "main")


def test_what_is_said_of_taking_over_is_of_the_run_s_repository_inside_a_hook_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert call(*RUN, "-o", "one").exit_code == 0
    said = taking_over(RunFolder(Path("one")))
    subprocess.run(["git", "init", "-q", "--bare", "other.git"], check=True)
    monkeypatch.setenv("GIT_DIR", str(Path("other.git").resolve()))
    assert taking_over(RunFolder(Path("one"))) == said


def test_a_rule_can_be_left_out_and_one_that_is_not_there_is_refused_before_anything_is_written() -> None:
    assert call(*RUN, "-o", "one", "--rule-off", "version", "--rule-off", "imports").exit_code == 0
    assert RunFolder(Path("one")).settings().rules.off == ("version", "imports")
    wrong = subprocess.run([*QODEBASE, *RUN, "-o", "two", "--rule-off", "nonsense"], capture_output=True, text=True)
    assert (wrong.returncode, Path("two").exists()) == (2, False)
    assert "no rule 'nonsense'" in wrong.stderr

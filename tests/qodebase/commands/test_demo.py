from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qodebase.cli import make_app
from qodebase.commands.demo import ENOUGH, a_codebase


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True, text=True).stdout


def test_the_demo_shows_the_run_its_audit_and_a_landed_file_with_its_note(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(make_app(), ["demo", "--repo", str(home / "code"), "-w", "3"], prog_name="qodebase")
    assert result.exit_code == 0, result.output
    shown = result.stdout
    assert "landed  3" in shown
    assert "$ qodebase verify runs/demo-code-1" in shown
    assert "every check is satisfied" in shown
    assert "Notes (qodebase):" in shown
    assert "+++ b/docs/API_INDEX.md" in shown


def test_demos_that_begin_at_the_same_moment_take_a_folder_each(home: Path, tmp_path: Path) -> None:
    code = "from qodebase.cli import main; main()"
    words = [sys.executable, "-c", code, "demo", "--repo", str(home / "code"), "-w", "3"]
    demos = [
        subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [demo.wait() for demo in demos] == [0, 0]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["demo-code-1", "demo-code-2"]


def test_what_has_a_commit_is_taken_as_it_is_and_what_was_cut_off_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    git(tmp_path, "init", "-q", "source")
    (folder / "one.py").write_text("ONE = 1\n")
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=T", "-c", "user.email=t@t", "commit", "-q", "-m", "mine")
    assert a_codebase(folder) == folder
    assert git(folder, "log", "--format=%s") == "mine\n"


@pytest.mark.full
def test_the_codebase_of_the_demo_is_a_real_one_and_large(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    (folder / "half").mkdir(parents=True)
    a_codebase(folder)
    files = git(folder, "ls-files").splitlines()
    assert len([file for file in files if file.endswith(".py")]) >= ENOUGH
    assert not (folder / "half").exists()
    assert git(folder, "status", "--porcelain") == ""

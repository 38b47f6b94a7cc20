from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qodebase.cli import make_app

BASE = "".join(f"line {number}\n" for number in range(30))


def call(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["bench", "history", *arguments], prog_name="qodebase")


def git(folder: Path, *words: str, fails: bool = False) -> None:
    settings = ["-c", "user.name=T", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *words], cwd=folder, check=not fails, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository of one merge: clean, by key, declined, made alike, and changed by people afterwards."""
    folder = tmp_path / "code"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    texts = {
        "clean.txt": (BASE, BASE.replace("line 2\n", "main\n"), BASE.replace("line 25\n", "side\n"), None),
        "keys.json": ('{"a": 1}\n', '{"a": 1, "m": 2}\n', '{"a": 1, "s": 3}\n', '{"a": 1, "m": 2, "s": 3}\n'),
        "both.txt": ("one\n", "main\n", "side\n", "people\n"),
        "alike.txt": (BASE, BASE.replace("line 2\n", "x\n"), BASE.replace("line 2\n", "x\n") + "end\n", None),
        "ours.txt": ("one\n", "main\n", "one\n", None),
        "evil.txt": (
            BASE,
            BASE.replace("line 2\n", "main\n"),
            BASE.replace("line 25\n", "side\n"),
            BASE.replace("line 2\n", "people\n"),
        ),
    }

    def write(which: int) -> None:
        for name, versions in texts.items():
            (folder / name).write_text(versions[which] or "")
        git(folder, "add", ".")

    write(0)
    git(folder, "commit", "-q", "-m", "base")
    git(folder, "checkout", "-q", "-b", "side")
    write(2)
    git(folder, "commit", "-q", "-m", "side")
    git(folder, "checkout", "-q", "main")
    write(1)
    git(folder, "commit", "-q", "-m", "main")
    git(folder, "merge", "-q", "--no-commit", "side", fails=True)
    for name, versions in texts.items():
        if versions[3] is not None:
            (folder / name).write_text(versions[3])
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "merge")
    return folder


def test_files_that_both_sides_changed_are_counted_by_what_became_of_them(repository: Path) -> None:
    report = json.loads(call(str(repository), "--json").stdout)
    assert report["merges"] == 1
    counts = {
        name: report[name] for name in ("files", "git_clean", "git_equal", "ours", "equal", "declined", "objected")
    }
    assert counts == {
        "files": 5,
        "git_clean": 3,
        "git_equal": 2,
        "ours": 3,
        "equal": 2,
        "declined": 2,
        "objected": 1,
    }
    assert report["objections"] == {"alike": 1}
    assert report["beyond_git"] == {"ours": 1, "equal": 1, "equivalent": 0}
    assert report["by_rule"]["rule:json-keys"] == {"equal": 1, "other": 0}


def test_what_is_meant_once_is_no_objection(repository: Path) -> None:
    report = json.loads(call(str(repository), "--json", "--idempotent").stdout)
    assert (report["ours"], report["objected"]) == (4, 0)


def test_files_are_listed_on_demand_and_the_text_says_the_same(repository: Path) -> None:
    listed = json.loads(call(str(repository), "--json", "--files").stdout)["listed"]
    assert [one["path"] for one in listed] == ["alike.txt", "evil.txt"]
    shown = call(str(repository), "--files").stdout
    assert "1 merges, 5 files that both sides changed" in shown
    assert "evil.txt merge other" in shown


def test_a_repository_without_merges_has_nothing_to_count(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    assert json.loads(call(str(tmp_path), "--json").stdout)["files"] == 0
    assert "resolved none" in call(str(tmp_path)).stdout


def test_a_folder_that_is_no_repository_is_an_error(tmp_path: Path) -> None:
    result = call(str(tmp_path / "nothing"))
    assert result.exit_code == 2
    assert "rev-list" in result.stderr


def test_files_that_a_side_renamed_are_counted_with_what_git_makes_of_them(tmp_path: Path) -> None:
    names = {
        "renamed.txt": ("north/renamed.txt", "renamed.txt"),
        "turned.txt": ("turned.txt", "south/turned.txt"),
        "twice.txt": ("north/twice.txt", "south/twice.txt"),
        "clash.txt": ("north/clash.txt", "clash.txt"),
    }
    bases = {name: BASE.replace("line", name.partition(".")[0]) for name in names}
    git(tmp_path, "init", "-q", "-b", "main")

    def write(side: int | None) -> None:
        for name, paths in names.items():
            (tmp_path / name).unlink(missing_ok=True)
            file = tmp_path / (name if side is None else paths[side])
            file.parent.mkdir(exist_ok=True)
            line = 12 if name == "clash.txt" else (2, 25)[side or 0]
            file.write_text(bases[name] if side is None else bases[name].replace(f" {line}\n", f" of {side}\n"))
        git(tmp_path, "add", "--all", ".")

    write(None)
    git(tmp_path, "commit", "-q", "-m", "base")
    git(tmp_path, "checkout", "-q", "-b", "side")
    write(1)
    git(tmp_path, "commit", "-q", "-m", "side")
    git(tmp_path, "checkout", "-q", "main")
    write(0)
    git(tmp_path, "commit", "-q", "-m", "main")
    git(tmp_path, "merge", "-q", "--no-commit", "side", fails=True)
    git(tmp_path, "add", "--all", ".")
    git(tmp_path, "commit", "-q", "-m", "merge")
    report = json.loads(call(str(tmp_path), "--json").stdout)
    counts = {
        name: report["renamed"][name] for name in ("files", "git_clean", "git_equal", "ours", "equal", "declined")
    }
    assert counts == {"files": 4, "git_clean": 2, "git_equal": 2, "ours": 2, "equal": 2, "declined": 2}
    assert (report["files"], report["ours"], report["by_rule"]["merge"]["equal"]) == (4, 2, 2)
    assert "renamed on a side 4: git clean 2, equal 2; ours resolved 2, equal 2" in call(str(tmp_path)).stdout

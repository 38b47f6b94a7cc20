"""Which folders checks must see for their programs to be started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qodebase.check import Check
from qodebase.commands.support.programs import programs_of


def environment(root: Path, base: Path) -> Path:
    """Make what is told for a virtual environment, and return its program."""
    (root / "bin").mkdir(parents=True)
    (root / "pyvenv.cfg").write_text(f"home = {base}/bin\nversion = 3.11\n")
    program = root / "bin" / "python"
    program.symlink_to(sys.executable)
    return program


def test_an_environment_in_a_hidden_folder_is_shown_with_the_python_that_it_is_made_of(tmp_path: Path) -> None:
    program = environment(tmp_path / "own", tmp_path / "python")
    found = programs_of([Check(command=(str(program), "-c", "1"))], [])
    assert found.folders == (tmp_path / "own", tmp_path / "python")
    assert found.unseen == ()


def test_the_first_program_of_the_search_path_that_checks_can_see_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = environment(tmp_path / "own", Path("/usr"))
    alone = tmp_path / "tools" / "python"
    alone.parent.mkdir()
    alone.symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{alone.parent}:{program.parent}:/usr/bin:/bin")
    assert programs_of([Check(command=("python",))], []).folders == (tmp_path / "own",)
    assert programs_of([Check(command=("sh",))], []).folders == ()
    monkeypatch.setenv("PATH", str(alone.parent))
    assert programs_of([Check(command=("python",))], []).unseen == (alone,)


def test_a_program_of_a_hidden_folder_is_unseen_and_one_of_the_repository_is_not_looked_for(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    checks = [Check(command=(str(tool),)), Check(command=("bin/tool",)), Check(command=(sys.executable,))]
    assert programs_of([*checks, Check(tests=("test_a.py",))], []).unseen == (tool,)


def test_a_hidden_folder_is_never_shown_as_a_whole(tmp_path: Path) -> None:
    program = environment(tmp_path / "home", Path("/usr"))
    found = programs_of([Check(command=(str(program),))], [str(tmp_path / "home")])
    assert (found.folders, found.unseen) == ((), (program,))

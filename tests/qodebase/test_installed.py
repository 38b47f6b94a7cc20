from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.jobs.registry import load_job
from qodebase.installed import CannotImport, added, importing, somebodys_line


def install(folder: Path, name: str) -> None:
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[qodebase.rules]\n{name} = {name}_module:rule\n")


def test_what_is_installed_while_we_run_is_found_and_what_has_gone_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names() -> set[str]:
        return added("qodebase.rules").names - before

    before = added("qodebase.rules").names
    install(tmp_path, "first")
    assert names() == set()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert names() == {"first"}
    install(tmp_path, "second")
    assert names() == {"first", "second"}
    assert [point.value for point in added("qodebase.rules").select(name="second")] == ["second_module:rule"]
    (tmp_path / "first-1.dist-info" / "entry_points.txt").unlink()
    (tmp_path / "first-1.dist-info" / "METADATA").unlink()
    (tmp_path / "first-1.dist-info").rmdir()
    assert names() == {"second"}
    assert added("qodebase.none").names == set()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere' ({file}, line 1)"),
        ("\n1 / 0", "ZeroDivisionError: division by zero ({file}, line 2)"),
        ("def f(:", "SyntaxError: invalid syntax (somebodys.py, line 1)"),
        (None, "ModuleNotFoundError: No module named 'somebodys'"),
    ],
)
def test_a_module_of_somebody_else_that_fails_is_told_with_its_line(
    text: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "somebodys.py"
    if text is not None:
        file.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    with pytest.raises(CannotImport) as caught, importing("the model x"):
        importlib.import_module("somebodys")
    assert caught.value.message == f"the model x cannot be imported: {said.format(file=file)}"
    assert ("install there" in caught.value.hint) is ("ModuleNotFound" in said)


def test_an_error_out_of_a_job_file_is_told_from_our_own(tmp_path: Path) -> None:
    def where(call: Callable[[], object]) -> str:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            call()
        return somebodys_line(caught.value)

    file = tmp_path / "own.py"
    file.write_text("class JOB:\n    Settings = 1\n\ndef fails():\n    {}['x']\n\ndef asks(what):\n    what()\n")
    load_job("", file=str(file))
    module = sys.modules["qodebase_job_own"]
    try:
        assert where(module.fails) == f"{file}, line 5"
        assert where(lambda: module.asks(lambda: {}["y"])) == f"{file}, line 8"
        assert where(lambda: module.asks(lambda: load_job("nowhere"))) == ""
        assert where(lambda: {}["y"]) == ""
    finally:
        del sys.modules["qodebase_job_own"]

from __future__ import annotations

from pathlib import Path

import pytest

from qodebase.installed import added


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

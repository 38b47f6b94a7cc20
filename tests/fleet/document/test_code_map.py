"""Outlines made on all cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.jobs.document import code_map
from fleet.jobs.document.code_map import CodeMap, outline_of
from qodebase.collision import Entry
from qodebase.paths import CommitId, RepoPath

FILES = {RepoPath(f"part_{number}.py".encode()): f"def f_{number}(): ...\n".encode() for number in range(40)}


class Files:
    """A tree of forty modules."""

    commit = CommitId("1" * 40)

    def entry(self, path: RepoPath) -> Entry | None:
        return None

    def read(self, path: RepoPath) -> bytes:
        return FILES[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        return iter(())


def test_outlines_of_a_large_tree_are_those_of_its_files_wherever_the_run_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "__init__.py").write_text("raise ImportError('of the folder that the run was started in')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code_map, "_WORTH_PROCESSES", len(FILES))
    monkeypatch.setattr(code_map, "processors", lambda: 2)
    outlines = CodeMap(Files(), FILES, max_bytes=1000).outlines
    assert outlines == {path: outline_of(path, content) for path, content in FILES.items()}

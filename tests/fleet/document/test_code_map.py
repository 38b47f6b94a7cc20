"""Outlines made on all cores."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.jobs.document import code_map
from fleet.jobs.document.code_map import CodeMap, Outliners, outline_of
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
    outlines = CodeMap(Files(), FILES, max_bytes=1000, beside=Outliners()).outlines
    assert outlines == {path: outline_of(path, content) for path, content in FILES.items()}


def test_processes_that_are_stopped_end_at_once_and_so_do_later_ones() -> None:
    beside = Outliners()
    many = [(RepoPath(b"a.py"), b"def f():\n    return 1\n\n\n" * 20_000)] * 50
    stopping = threading.Timer(0.5, beside.stop)
    stopping.start()
    with pytest.raises(subprocess.CalledProcessError):
        beside.outlined([many])
    stopping.join()
    with pytest.raises(subprocess.CalledProcessError):
        beside.outlined([])

"""A change that makes a green test red, run in a fresh Python: it must meet the test, or not be told by names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lanes.reach.difference import names_changed
from lanes.reach.mentions import mentioned
from qodebase.paths import RepoPath

RUN = "import sys; sys.path.insert(0, '.'); import test_it; test_it.test_it()"
EARLY = "def early():\n    return 1\n\n\n"
LATER = ("def early():\n", "def early():\n    # It is one.\n")
"""Moves all that stands behind `EARLY` by a line."""


class Case(NamedTuple):
    """Files, one of which is ``test_it.py``, and what is put in place of what in one of them."""

    files: Mapping[str, str]
    path: str
    old: str
    new: str


def of_a_module(module: str, test: str, swap: tuple[str, str]) -> Case:
    """Return the case of a change of a module, tested by the body of a test."""
    head, _, body = test.rpartition("---\n")
    body = "".join(f"    {line}\n" for line in body.splitlines())
    return Case({"mod.py": module, "test_it.py": f"import mod\n{head}\n\ndef test_it():\n{body}"}, "mod.py", *swap)


def assert_meets(case: Case, folder: Path) -> None:
    """Assert that a change makes a test red and meets it."""
    after = {**case.files, case.path: case.files[case.path].replace(case.old, case.new, 1)}
    assert _is_green(folder / "before", case.files)
    assert not _is_green(folder / "after", after)
    names = names_changed(case.files[case.path].encode(), after[case.path].encode())
    words = mentioned(["test_it"], {RepoPath(name.encode()): text.encode() for name, text in case.files.items()})
    assert names is None or words is None or any(not names.isdisjoint(some) for some in words)


def _is_green(folder: Path, files: Mapping[str, str]) -> bool:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    ran = subprocess.run([sys.executable, "-ISBc", RUN], cwd=folder, capture_output=True, check=False)
    return ran.returncode == 0

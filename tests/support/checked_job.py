"""The edit job with checks: no file may hold the word BAD."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fleet.jobs.registry import load_job
from qodebase.check import Check
from qodebase.intent import Intent
from qodebase.paths import RepoPath

_SOUND = b"""import pathlib

def test_no_file_is_bad():
    bad = [str(path) for path in pathlib.Path().rglob("*.txt") if "BAD" in path.read_text()]
    assert bad == []
"""

Edit: Any = load_job("", file=str(Path(__file__).with_name("edit_job.py")))


class Checked(Edit):  # type: ignore[misc]
    """Put a line of text at the top of files, and look whether it is a bad one."""

    name = "checked"

    def checks(self) -> Mapping[str, Check]:
        """Declare one check of tests and one command."""
        return {
            "sound": Check(tests=("own/test_sound.py",), files={RepoPath(b"own/test_sound.py"): _SOUND}),
            "code": Check(command=("sh", "-c", "test -d north && test -d south")),
        }

    def intents(self) -> Iterator[Intent]:
        """Let each intent be judged by both."""
        for intent in super().intents():
            yield Intent(id=intent.id, asked=intent.asked, scope=intent.scope, checks=("sound", "code"))


JOB = Checked

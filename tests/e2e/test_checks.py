"""A job that declares checks: what breaks them does not land."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from world import call, expect_clean, expect_each_once, git, ledger_of, of_kind

from lanes.checking import sandbox

SELECTING = """
from fleet.jobs.registry import load_job
from qodebase.check import Check
from qodebase.paths import RepoPath


def check_of(name):
    path = RepoPath(b"own/test_%s.py" % name.encode())
    text = f"from code_of import {name}\\n\\n\\ndef test_it():\\n    assert {name}() == 1\\n"
    return Check(tests=(f"{path.text}::test_it",), files={path: text.encode()})


class Selecting(load_job("edit")):
    name = "selecting"

    def checks(self):
        return {name: check_of(name) for name in ("one", "two")}


JOB = Selecting
"""
CODE_OF = "def one():\n    return 1\n\n\ndef two():\n    return 1\n"
JOB = Path(__file__).parents[1] / "support" / "checked_job.py"


@pytest.fixture
def code(here: Path) -> Path:
    """A repository with files in two folders."""
    path = here / "code"
    for folder in ("north", "south"):
        (path / folder).mkdir(parents=True)
        for number in range(3):
            (path / folder / f"f{number}.txt").write_text(f"{folder} {number}\n")
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "The code")
    return path


def run(*texts: str, words: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run the job with edits on a scripted model; return the exit code and what it says to people."""
    edits = [word for text in texts for word in ("--edits", text)]
    done = call("run", "--job", JOB, "--repo", "code", "-o", "one", "--model", "scripted", "--json", *edits, *words)
    return done.code, done.err


@pytest.mark.parametrize("flags", [(), ("--unsafe-checks",)], ids=["held", "unsafe"])
def test_the_change_that_breaks_a_check_is_sent_back_and_the_others_land(code: Path, flags: tuple[str, ...]) -> None:
    texts = ["north/f0.txt=fine", "north/f1.txt=BAD", "north/f2.txt=fine", "south/f0.txt=fine"]
    assert run(*texts, words=("-w", "4", *flags))[0] == 0
    assert ledger_of(Path("one")) == {"landed": 3, "sent back": 1}
    (sent,) = of_kind(Path("one"), "sent back")
    assert sent["intent"] == "edit-1"
    assert sent["reason"].startswith(
        "checks failed:\nsound: 1 of 1 tests failed: own/test_sound.py::test_no_file_is_bad"
    )
    assert "north/f1.txt" in sent["reason"]
    assert {event["checks"] for event in of_kind(Path("one"), "judged")} == {2}
    assert "BAD" not in git(Path("one/repo.git"), "grep", "-c", "fine", "main")
    expect_each_once(Path("one"))
    expect_clean(Path("one"), full=True)


def test_a_machine_without_a_sandbox_refuses_before_the_freeze_and_says_what_to_do(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "available", lambda: "Operation not permitted")
    exit_code, said = run("north/f0.txt=fine")
    assert exit_code == 2
    assert "cannot hold checks in a sandbox: Operation not permitted" in said
    assert "--unsafe-checks" in said
    assert not Path("one").exists()


@pytest.mark.parametrize(
    ("selection", "judged"), [("names", [1, 1, 1, 0]), ("files", [2, 2, 2, 0]), ("all", [2, 2, 2, 2])]
)
def test_standing_checks_judge_what_the_selection_says(here: Path, selection: str, judged: list[int]) -> None:
    code = here / "code"
    code.mkdir()
    (code / "code_of.py").write_text(CODE_OF)
    (code / "other.txt").write_text("0\n")
    git(code, "init", "--quiet", "--initial-branch", "main")
    git(code, "add", "--all")
    git(code, "commit", "--quiet", "--message", "The code")
    (here / "job.py").write_text(SELECTING)
    steps = [
        ("code_of.py", "def two():\n    return 1", "def two():\n    return 2 - 1"),
        ("code_of.py", "def one():\n    return 1", "def one():\n    return 0 + 1"),
        ("code_of.py", "def one():\n    return 0 + 1", "def one():\n    return 1 * 1"),
        ("other.txt", "0", "1"),
    ]
    rows = [
        {"id": f"i{n}", "path": path, "scripted": f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE"}
        | ({"after": [f"i{n - 1}"]} if n else {})
        for n, (path, old, new) in enumerate(steps)
    ]
    (here / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call(
        "run", "--job", "job.py", "--repo", "code", "-o", "one", "--model", "scripted", "--intents", "rows.jsonl",
        "--format", "blocks", "--prompt", "{text}", "--check-selection", selection, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert ledger_of(Path("one")) == {"landed": 4}
    assert [event["checks"] for event in of_kind(Path("one"), "judged") if "train" in event] == judged
    expect_clean(Path("one"))

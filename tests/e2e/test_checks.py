"""A job that declares checks: what breaks them does not land."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import call, expect_clean, expect_each_once, git, ledger_of, of_kind

from lanes.checking import sandbox

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

"""A job in one file, loaded by ``--job``: nothing else knows of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from world import call, expect_clean, expect_each_once, git, ledger_of, of_kind

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"


@pytest.fixture
def code(here: Path) -> Path:
    """A repository with files in three folders."""
    path = here / "code"
    for folder in ("north", "south", "west"):
        (path / folder).mkdir(parents=True)
        for number in range(3):
            (path / folder / f"f{number}.txt").write_text(f"{folder} {number}\n" * 3)
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "The code")
    return path


def edits(*texts: str) -> list[str]:
    """Return the flags for edits."""
    return [word for text in texts for word in ("--edits", text)]


def run(*texts: str, words: tuple[str, ...] = ()) -> dict[str, object]:
    """Run the job with edits on a scripted model and return what it prints."""
    done = call(
        "run", "--job", JOB, "--repo", "code", "-o", "one", "--model", "scripted", "--json", *edits(*texts), *words
    )
    assert done.code == 0, done.err
    found: dict[str, object] = done.data
    return found


def test_its_own_flags_stand_in_its_help_and_the_dry_run_knows_its_lanes(code: Path) -> None:
    helped = call("run", "--job", JOB, "--help").out
    assert "--edits" in helped
    assert "PATH[+PATH]=TEXT" in helped
    assert "--index" not in helped
    plan = call("run", "--job", JOB, "--repo", "code", "--dry-run", "--json", *edits("north/f0.txt=# a")).data
    assert plan["job"] == "edit"
    assert plan["calls"] == 1


def test_edits_of_one_file_collide_and_each_is_redone_on_the_newest_main(code: Path) -> None:
    texts = [f"{folder}/f0.txt=# {letter}" for folder in ("north", "south", "west") for letter in "ab"]
    status = run(*texts, words=("-w", "6"))
    assert ledger_of(Path("one")) == {"landed": 6}
    for folder in ("north", "south", "west"):
        head = git(Path("one/repo.git"), "show", f"main:{folder}/f0.txt").splitlines()
        assert sorted(head[:2]) == ["# a", "# b"]
        assert head[2:] == [f"{folder} 0"] * 3
    assert status["redone_by_model"] == 3
    replayed = {event["intent"] for event in of_kind(Path("one"), "replayed")}
    assert replayed == {event["intent"] for event in of_kind(Path("one"), "asked") if event["purpose"] == "replay"}
    assert len(replayed) == 3
    expect_each_once(Path("one"))
    expect_clean(Path("one"), full=True)


def test_changes_over_several_lanes_land_whole_among_others(code: Path) -> None:
    single = [
        f"{folder}/f{number}.txt=# {folder}{number}" for folder in ("north", "south", "west") for number in (0, 1)
    ]
    wide = [
        "north/f2.txt+south/f2.txt=# two",
        "north/f2.txt+south/f2.txt+west/f2.txt=# three",
        "south/f0.txt+west/f1.txt=# x",
    ]
    lanes = ("--lane", "north=north/", "--lane", "south=south/", "--lane", "west=west/")
    run(*single, *wide, words=lanes)
    assert ledger_of(Path("one")) == {"landed": len(single) + len(wide)}
    queued = {event["intent"]: event["lanes"] for event in of_kind(Path("one"), "queued")}
    assert sorted(queued["edit-7"]) == ["north", "south", "west"]
    landed = {event["intent"]: event["commit"] for event in of_kind(Path("one"), "landed")}
    for number, text in enumerate([*single, *wide]):
        paths = text.partition("=")[0].split("+")
        words = ("diff-tree", "-r", "--no-commit-id", "--name-only", landed[f"edit-{number}"])
        assert git(Path("one/repo.git"), *words).split() == sorted(paths)
    expect_each_once(Path("one"))
    expect_clean(Path("one"), full=True)


def test_what_a_spoiled_answer_leaves_is_counted_and_the_rest_lands(code: Path) -> None:
    texts = [
        f"{folder}/f{number}.txt=# {folder}{number}" for folder in ("north", "south", "west") for number in range(3)
    ]
    done = call(
        *("run", "--job", JOB, "--repo", "code", "-o", "one", "--json", "-w", "3"),
        *("--model", "scripted:seed=3,empty=0.3,refused=0.2", *edits(*texts)),
    )
    assert done.code == 0, done.err
    ledger = ledger_of(Path("one"))
    assert set(ledger) == {"landed", "no answer", "refused"}
    assert sum(ledger.values()) == 9
    expect_each_once(Path("one"))
    expect_clean(Path("one"))


def test_a_job_file_in_toml_names_the_job_by_its_file(code: Path, here: Path) -> None:
    (here / "edit_job.py").write_text(JOB.read_text())
    table = json.dumps(["north/f0.txt=# a", "south/f0.txt=# b"])
    (here / "job.toml").write_text(
        f'job_file = "edit_job.py"\nrepo = "code"\nout = "one"\nmodel = "scripted"\n[edit]\nedits = {table}\n'
    )
    assert call("run", "job.toml", "--json").data["ledger"]["landed"] == 2
    shown = call("diff", "one").out
    assert "+# a" in shown
    assert "nothing promised" in shown


SLOW = """
import sys, threading
sys.path.insert(0, FOLDER)
from edit_job import Edit

class Slow(Edit):
    name = "slow"

    def __init__(self, settings):
        super().__init__(settings)
        self._given_up = threading.Event()

    def ready(self):
        print("getting ready", flush=True)
        self._given_up.wait()

    def interrupt(self):
        self._given_up.set()

JOB = Slow
"""


def test_a_second_ctrl_c_does_not_wait_for_a_job_that_gets_ready(code: Path, here: Path) -> None:
    job = here / "slow.py"
    job.write_text(SLOW.replace("FOLDER", repr(str(JOB.parent))))
    words = ["run", "--job", job, "--repo", "code", "-o", "one", "--model", "scripted", *edits("north/f0.txt=# a")]
    command = [sys.executable, "-c", "from qodebase.cli import main; main()", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"getting ready\n"
        process.send_signal(signal.SIGINT)
        while b"draining" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert ledger_of(Path("one")) == {"pending": 1}

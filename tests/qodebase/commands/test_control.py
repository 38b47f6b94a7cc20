"""Pausing, going on and cancelling from Python, in the process that works and in a running event loop."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from pathlib import Path

import pytest

import qodebase as qb
from qodebase.commands.pause import pause_run
from qodebase.commands.resume import resume_lane, unpause_run
from qodebase.commands.support.progress import told
from qodebase.errors import QodebaseError
from qodebase.events import Ordered
from qodebase.ports import Prompt

FILES = 6


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of six files in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QODEBASE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "code"
    path.mkdir()
    for number in range(FILES):
        (path / f"part{number}.py").write_text(f"def part{number}():\n    return {number}\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@t", *words], cwd=path, check=True)
    return path


class Gate:
    """A model that answers once it is let."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()

    async def __call__(self, prompt: Prompt) -> str:
        """Wait, then answer."""
        self.asked.set()
        await asyncio.to_thread(self.go_on.wait)
        return "Say what this part is for."


def test_a_live_run_is_paused_cancelled_in_part_and_goes_on_from_the_same_process(code: Path) -> None:
    model = Gate()
    run = qb.start("document", repo=code, model=model, workers=2)
    assert model.asked.wait(60)
    run.pause()
    assert (run.status()["state"], run.status()["resume"]) == ("paused", "unpause")
    found = run.cancel("part5.py", reason="not this one")
    assert (found["cancelled"], found["under_way"], found["live"]) == (("document:part5.py",), (), True)
    model.go_on.set()
    run.resume()
    assert not run.live
    assert run.status()["ledger"] | {"landed": 5, "cancelled": 1} == run.status()["ledger"]
    assert run.verify()["ok"] is True
    with pytest.raises(QodebaseError, match="no process works on"):
        run.pause()


def test_a_stopped_run_is_cancelled_from_within_a_running_loop(code: Path) -> None:
    model = Gate()
    run = qb.start("document", repo=code, model=model, workers=2)
    assert model.asked.wait(60)
    run.drain()
    model.go_on.set()
    run.wait()

    async def cell() -> None:
        run.cancel(everything=True)

    asyncio.run(cell())
    ledger = run.status()["ledger"]
    assert ledger["pending"] == 0
    assert ledger["cancelled"] + ledger["landed"] == FILES
    assert ledger["cancelled"] >= FILES - 2
    assert run.verify()["ok"] is True


def test_a_cancel_that_a_changed_job_forbids_leaves_no_order_behind(code: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_bytes((Path(__file__).parents[2] / "support" / "edit_job.py").read_bytes())
    run = qb.run("", repo=code, job_file=str(job), model="scripted", edits=["part0.py=# a", "part1.py=# b"], sample=1)
    job.write_text(job.read_text() + "# changed\n")
    with pytest.raises(QodebaseError, match="has changed since the freeze"):
        run.cancel(everything=True)
    assert list((run.folder.root / "orders").iterdir()) == []
    assert run.status()["ledger"]["pending"] == 1


@pytest.mark.parametrize(
    ("what", "said"),
    [("pause", "lane web is paused"), ("drain", "lane web lands what"), ("resume", "lane web goes on")],
)
def test_whoever_watches_reads_that_an_order_is_of_one_lane_alone(what: str, said: str) -> None:
    (line,) = told(Ordered(at=0.0, run="one", actor="operator", what=what, lane="web"))
    assert line.startswith(said)


def test_one_lane_of_a_live_run_is_paused_or_drained_and_goes_on_when_it_is_told(code: Path) -> None:
    model = Gate()
    lanes = {"first": ["/part0*"], "rest": ["/part*"]}
    run = qb.start("document", repo=code, model=model, workers=FILES, lanes=lanes)
    assert model.asked.wait(60)
    with pytest.raises(QodebaseError, match="the run has no lane 'nowhere'"):
        pause_run(run.folder, lane="nowhere")
    with pytest.raises(QodebaseError, match="which lane is to be drained"):
        pause_run(run.folder, drain=True)
    pause_run(run.folder, lane="rest")
    pause_run(run.folder, lane="first", drain=True)
    assert (run.status()["state"], run.status()["lanes"]) == ("live", {"rest": "paused", "first": "draining"})
    again = [f"qodebase resume {run.folder.called} --lane {lane}" for lane in ("rest", "first")]
    assert run.status()["next"][:2] == again
    assert "lanes    rest: paused, first: draining" in repr(run)
    with pytest.raises(QodebaseError) as refused:
        unpause_run(run.folder, run.folder.holder())
    assert refused.value.hint == f"Lanes of it alone are paused: `{again[0]}`, `{again[1]}`."
    model.go_on.set()
    until = time.monotonic() + 60
    while sum(run.status()["waiting"].values()) < FILES and time.monotonic() < until:
        assert run.status()["ledger"]["landed"] == 0
    for lane in lanes:
        resume_lane(run.folder, run.folder.holder(), lane)
    run.wait()
    assert run.status()["ledger"]["landed"] == FILES
    assert run.status()["lanes"] == {}
    with pytest.raises(QodebaseError, match="no process works on"):
        resume_lane(run.folder, "", "rest")

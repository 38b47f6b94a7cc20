"""The ramp of a whole run, in virtual time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from qodebase.clock import VirtualClock
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import Surroundings
from qodebase.events import Admitted
from qodebase.journal import read_events

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"


@pytest.mark.parametrize(("ramp", "seconds"), [(2, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]), (None, [0.0] * 6)])
def test_agents_are_admitted_as_the_run_was_told(ramp: int | None, seconds: list[float], tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    for number in range(6):
        (code / f"f{number}.txt").write_text("a line\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-qm", "base"]):
        subprocess.run(["git", "-C", code, *words], check=True)
    order = Order(
        job="",
        job_file=str(JOB),
        repository=code,
        out=tmp_path / "run",
        settings={"edits": [f"f{number}.txt=top" for number in range(6)]},
        model="scripted:latency=60,spread=0",
        workers=6,
        ramp=ramp,
    )
    clock = VirtualClock(start=1000.0)
    surroundings = Surroundings(environ={}, cache_folder=tmp_path / "cache")
    with prepared(order, surroundings, clock) as ready:
        folder = freeze(ready, clock)
    loop = clock.new_event_loop()
    try:
        loop.run_until_complete(sit(folder, surroundings, clock, first=True))
    finally:
        loop.close()
    admitted = [event.at - 1000.0 for event in read_events(folder.journal) if isinstance(event, Admitted)]
    assert admitted == pytest.approx(seconds)

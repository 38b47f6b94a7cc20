from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from qodebase.clock import VirtualClock
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import Surroundings
from qodebase.runs import RunFolder

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    root = tmp_path / "code"
    for number in range(24):
        file = root / f"m{number % 4}" / f"f{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"line {line}\n" for line in range(9)))
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-qm", "base"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    return root


def journal_of(code: Path, home: Path, *, seed: int) -> list[dict[str, Any]]:
    edits = [f"m{number % 4}/f{number}.txt=top" for number in range(24)]
    edits += [f"m{number}/f{number}.txt=again" for number in range(4)]
    edits += ["m0/f0.txt+m1/f1.txt=both"]
    order = Order(
        job="",
        job_file=str(JOB),
        repository=code,
        out=home / "run",
        settings={"edits": edits},
        model=f"scripted:seed={seed},latency=2.0,error=0.2,empty=0.1",
        workers=8,
        seed=seed,
    )
    clock = VirtualClock(start=1_000_000.0)
    surroundings = Surroundings(environ={}, cache_folder=home / "cache")
    with prepared(order, surroundings, clock) as ready:
        folder = freeze(ready, clock)
    loop = clock.new_event_loop()
    try:
        sat = loop.run_until_complete(sit(folder, surroundings, clock, first=True))
    finally:
        loop.close()
    assert sat.why == "ended"
    return lines_of(folder)


def lines_of(folder: RunFolder) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in folder.journal.read_text().splitlines()]
    return [{name: value for name, value in event.items() if not name.startswith("real_")} for event in events]


def test_one_seed_gives_one_journal_in_virtual_time(code: Path, tmp_path: Path) -> None:
    first, second = (journal_of(code, tmp_path / name, seed=7) for name in ("first", "second"))
    assert first == second
    assert all(event["simulated"] for event in first)
    assert first[-1]["at"] - first[0]["at"] > 5


def test_another_seed_gives_another_journal(code: Path, tmp_path: Path) -> None:
    assert journal_of(code, tmp_path / "first", seed=7) != journal_of(code, tmp_path / "second", seed=8)

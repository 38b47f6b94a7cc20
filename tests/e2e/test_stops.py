"""Runs that are stopped at any moment go on to the same end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from world import (
    Shell,
    call,
    events_of,
    expect_clean,
    expect_each_once,
    expect_nothing_asked_twice,
    git,
    ledger_of,
    make_small,
    of_kind,
)

MOMENTS = Path(__file__).with_name("moments.py")
FILES = 24
WORDS = ("run", "document", "--repo", "code", "-o", "one", "-w", "6", "--model", "scripted:latency=0.01")
KILLED = -signal.SIGKILL


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of two dozen files; nobody may change it."""
    return make_small(tmp_path_factory.mktemp("many") / "code", FILES)


@pytest.fixture
def place(here: Path, many: Path) -> Path:
    """The current folder, with the repository in ``code``."""
    (here / "code").symlink_to(many)
    return here


def run_until(moments: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run qodebase as a process that gets signals at these moments."""
    return subprocess.run([sys.executable, MOMENTS, moments, *words], capture_output=True, check=False, timeout=120)


def expect_whole(run: Path) -> None:
    """Fail where the run did not end as it would have without a stop."""
    assert ledger_of(run) == {"landed": FILES}
    expect_each_once(run)
    expect_nothing_asked_twice(run)
    expect_clean(run)


@pytest.mark.parametrize(
    "moment",
    [
        "before:run started:1",
        "after:run started:1",
        "after:asked:6",
        "before:answered:4",
        "torn:change made:8",
        "after:train built:2",
        "before:ref:1",
        "before:ref:4",
        "before:landed:3",
        "torn:landed:9",
        "after:landed:24",
        "before:compacting:1",
    ],
)
def test_a_run_that_is_killed_at_any_moment_goes_on_to_the_same_end(moment: str, place: Path) -> None:
    done = run_until(f"SIGKILL@{moment}", *WORDS)
    assert done.returncode == KILLED, done.stderr
    held = {event["intent"] for event in events_of(place / "one") if event["kind"] == "answered"}
    open_calls = {event["call"] for event in of_kind(place / "one", "asked")} - {
        event["call"] for event in of_kind(place / "one", "answered")
    }
    resumed = call("resume", "one")
    assert resumed.code == 0, resumed.err
    expect_whole(place / "one")
    asked_again = Counter(event["intent"] for event in of_kind(place / "one", "asked"))
    assert {intent for intent in held if asked_again[intent] != 1} == set()
    assert {event["call"] for event in of_kind(place / "one", "cut off")} == open_calls

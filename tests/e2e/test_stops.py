"""Runs that are stopped at any moment go on to the same end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
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
WHOLE = 60_000
"""About how many bytes the journal of a whole run has."""


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


def reached(process: subprocess.Popen[bytes], seen: Callable[[], bool]) -> bool:
    """Wait until something is seen; return False where the process ends before."""
    while not seen():
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.005)
            return seen()
    return True


def expect_whole(run: Path) -> None:
    """Fail where the run did not end as it would have without a stop."""
    assert ledger_of(run) == {"landed": FILES}
    expect_each_once(run)
    expect_nothing_asked_twice(run)
    expect_clean(run)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("before:run started:1", marks=pytest.mark.full),
        "after:run started:1",
        pytest.param("before:answered:4", marks=pytest.mark.full),
        "torn:change made:8",
        pytest.param("after:train built:2", marks=pytest.mark.full),
        "before:ref:1",
        "before:ref:4",
        "before:landed:3",
        "torn:landed:9",
        pytest.param("after:landed:24", marks=pytest.mark.full),
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


@pytest.mark.full
def test_two_kills_in_a_row_the_second_while_the_first_is_being_mended(place: Path) -> None:
    assert run_until("SIGKILL@before:landed:2", *WORDS).returncode == KILLED
    assert run_until("SIGKILL@after:landed:1", "resume", "one").returncode == KILLED
    assert run_until("SIGKILL@before:ref:2", "resume", "one").returncode == KILLED
    assert call("resume", "one").code == 0
    expect_whole(place / "one")
    assert [event["sitting"] for event in of_kind(place / "one", "run started")] == [1, 2, 3]


def test_texts_that_a_power_cut_took_from_the_disk_are_asked_for_again(place: Path) -> None:
    assert run_until("SIGKILL@before:train built:1", *WORDS).returncode == KILLED
    lost = {event["intent"] for event in of_kind(place / "one", "answered")}
    assert {event["intent"] for event in of_kind(place / "one", "change made")}
    (segment,) = (place / "one" / "attempts").iterdir()
    os.truncate(segment, 0)
    resumed = call("resume", "one")
    assert resumed.code == 0, resumed.err
    assert ledger_of(place / "one") == {"landed": FILES}
    expect_each_once(place / "one")
    expect_clean(place / "one")
    asked = Counter(event["intent"] for event in of_kind(place / "one", "asked"))
    assert all(asked[intent] == 2 for intent in lost)


def test_from_a_hole_that_a_power_cut_left_in_the_journal_on_the_run_is_made_again(place: Path) -> None:
    assert run_until("SIGKILL@before:train built:1", *WORDS).returncode == KILLED
    journal = place / "one" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"kind":"answered"' in line)
    lines[at] = b"\0" * (len(lines[at]) - 1) + b"\n"
    journal.write_bytes(b"".join(lines))
    resumed = call("resume", "one")
    assert resumed.code == 0, resumed.err
    assert ledger_of(place / "one") == {"landed": FILES}
    expect_each_once(place / "one")
    expect_clean(place / "one")


def test_a_call_that_a_kill_cut_off_is_a_row_of_unknown_cost(place: Path) -> None:
    import qodebase as qb

    assert run_until("SIGKILL@after:asked:6", *WORDS).returncode == KILLED
    assert call("resume", "one").code == 0
    expect_whole(place / "one")
    rows = qb.open_run("one").attempts
    cut = rows.filter(rows["outcome"] == "cut off")
    assert cut.height == len(of_kind(place / "one", "cut off")) > 0
    assert cut["cost_usd"].is_null().all()
    figures = call("status", "one", "--json").data
    assert figures["unknown_cost_calls"] == cut.height
    assert figures["calls"] == FILES + cut.height


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_one_signal_lands_what_is_under_way_and_starts_nothing_new(name: str, place: Path) -> None:
    done = run_until(f"{name}@after:answered:5", *WORDS)
    assert done.returncode == 130, done.stderr
    assert b"draining" in done.stderr
    kinds = Counter(event["kind"] for event in events_of(place / "one"))
    assert kinds["landed"] == kinds["answered"] == kinds["asked"] < FILES
    assert of_kind(place / "one", "run stopped")[-1]["why"] == "interrupted"
    assert b"qodebase resume" in done.stdout
    assert call("resume", "one").code == 0
    assert of_kind(place / "one", "cut off") == []
    expect_whole(place / "one")


def test_a_second_signal_stops_at_once_and_nothing_that_landed_is_lost(place: Path) -> None:
    slow = ("run", "document", "--repo", "code", "-o", "one", "-w", "24", "--model", "scripted:latency=2,spread=0")
    done = run_until("SIGINT@after:asked:3,SIGINT@after:asked:4", *slow)
    assert done.returncode == 130, done.stderr
    assert of_kind(place / "one", "answered") == []
    assert of_kind(place / "one", "run stopped")[-1]["why"] == "interrupted"
    assert call("resume", "one").code == 0
    assert of_kind(place / "one", "cut off") != []
    expect_whole(place / "one")


def test_a_signal_before_the_first_intent_is_admitted_ends_in_order(place: Path) -> None:
    done = run_until("SIGTERM@before:run started:1", *WORDS)
    assert done.returncode == 130, done.stderr
    assert of_kind(place / "one", "asked") == []
    assert call("resume", "one").code == 0
    expect_whole(place / "one")


def test_a_run_that_another_process_works_on_is_refused_and_the_process_named(place: Path) -> None:
    slow = ("run", "document", "--repo", "code", "-o", "one", "-w", "2", "--model", "scripted:latency=60,spread=0")
    process = Shell(place).start(*slow)
    journal = place / "one" / "journal.jsonl"
    try:
        assert reached(process, lambda: journal.exists() and b'"asked"' in journal.read_bytes())
        done = call("resume", "one")
        assert done.code == 2
        assert f"is being worked on by process {process.pid}" in done.err
        assert call("status", "one", "--json").data["live"] is True
        assert "not checked: what a process does to the run just now" in call("verify", "one").out
    finally:
        process.kill()
        process.wait()
    assert call("status", "one", "--json").data["state"] == "killed"


@pytest.mark.full
@pytest.mark.parametrize("part", range(1, 21))
def test_kills_from_outside_at_any_length_of_the_journal(part: int, place: Path) -> None:
    journal = place / "one" / "journal.jsonl"

    def kill_at(length: int, *words: str) -> None:
        process = Shell(place).start(*words)
        reached(process, lambda: journal.exists() and journal.stat().st_size > length)
        process.kill()
        process.wait()

    step = WHOLE // 21
    kill_at(part * step, *WORDS)
    kill_at((part + 1) * step, "resume", "one")
    assert call("resume", "one").code == 0
    expect_whole(place / "one")


def test_the_copy_that_is_landed_on_is_whole_after_a_kill_between_notes_and_main(place: Path) -> None:
    assert run_until("SIGKILL@before:ref:2", *WORDS).returncode == KILLED
    copy = place / "one" / "repo.git"
    assert git(copy, "rev-list", "--count", "main").strip() == "1"
    assert git(copy, "rev-parse", "--verify", "refs/notes/qodebase")
    assert call("resume", "one").code == 0
    expect_whole(place / "one")
    assert git(copy, "fsck", "--strict", "--no-dangling") == ""


def test_a_resume_that_cannot_begin_leaves_the_journal_as_it_was(place: Path) -> None:
    assert call(*WORDS[:-1], "outline", "--sample", "6").code == 0
    journal = Path("one/journal.jsonl").read_bytes()
    git(Path("one/repo.git"), "update-ref", "refs/heads/main", "main~2")
    done = call("resume", "one", "--json")
    assert done.code != 0
    assert "2 intents landed by the journal and are not on main" in done.data["error"]
    assert Path("one/journal.jsonl").read_bytes() == journal

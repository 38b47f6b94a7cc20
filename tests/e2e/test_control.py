"""Runs that are paused, cancelled, stalled and killed in between: every intent ends once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from world import (
    Shell,
    call,
    events_of,
    expect_clean,
    expect_each_once,
    expect_nothing_asked_twice,
    ledger_of,
    make_small,
    of_kind,
)

MOMENTS = Path(__file__).with_name("moments.py")
FILES = 12
SLOW = ("run", "document", "--repo", "code", "-o", "one", "-w", "2", "--model", "scripted:latency=0.2,spread=0")
HANGS = ("run", "document", "--repo", "code", "-o", "one", "-w", "4", "--model", "scripted:latency=9999,spread=0")
RUN = Path("one")


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of some files; nobody may change it."""
    return make_small(tmp_path_factory.mktemp("some") / "code", FILES)


@pytest.fixture
def place(here: Path, some: Path) -> Path:
    """The current folder, with the repository in ``code``."""
    (here / "code").symlink_to(some)
    return here


def run_until(moments: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run qodebase as a process to which things happen at these moments."""
    return subprocess.run([sys.executable, MOMENTS, moments, *words], capture_output=True, check=False, timeout=120)


@contextmanager
def live(place: Path, *words: str, moments: str = "", until: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run qodebase as a process that has written an event of a kind; it does not outlive the block."""
    with Path("err").open("wb") as err:
        command = [sys.executable, MOMENTS, moments, *words]
        process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=err)
    try:
        wait(process, lambda: (RUN / "journal.jsonl").exists() and of_kind(RUN, until) != [])
        yield process
    finally:
        process.kill()
        process.wait()


def wait(process: subprocess.Popen[bytes], seen: Callable[[], bool]) -> None:
    """Wait until something is seen; fail where the process ends before."""
    while not seen():
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            assert seen(), (process.args, Path("err").read_text())


def kinds_between(first: str, last: str) -> list[str]:
    """Return the kinds of the events between the first order ``first`` and the first order ``last``."""
    events = events_of(RUN)
    orders = {event["what"]: at for at, event in reversed(list(enumerate(events))) if event["kind"] == "ordered"}
    return [event["kind"] for event in events[orders[first] + 1 : orders[last]]]


def test_a_paused_run_lands_what_is_under_way_admits_nothing_and_goes_on_when_it_is_told(place: Path) -> None:
    with live(place, *SLOW, moments="PAUSE@after:landed:1", until="ordered") as process:
        wait(process, lambda: call("status", "one", "--json").data["in_flight"] == 0)
        paused = call("status", "one", "--json").data
        assert (paused["state"], paused["resume"], paused["live"]) == ("paused", "unpause", True)
        assert f"lets process {process.pid} " in call("status", "one").out
        assert paused["ledger"]["pending"] > 0
        process.send_signal(signal.SIGSTOP)
        deaf = call("pause", "one", "--timeout", "0.2")
        assert deaf.code == 3
        assert f"process {process.pid} " in deaf.err
        process.send_signal(signal.SIGCONT)
        assert call("pause", "one", "--json").data["state"] == "paused"
        assert call("resume", "one", "--json").data["resume"] == ""
        assert process.wait(60) == 0
    assert [event["what"] for event in of_kind(RUN, "ordered")] == ["pause", "pause", "pause", "resume"]
    assert "admitted" not in kinds_between("pause", "resume")
    assert ledger_of(RUN) == {"landed": FILES}
    expect_each_once(RUN)
    expect_nothing_asked_twice(RUN)
    expect_clean(RUN)
    assert b"paused: what is under way lands" in Path("err").read_bytes()
    assert list((RUN / "orders").iterdir()) == []


def test_a_run_that_is_killed_while_it_is_paused_is_continued_unpaused_and_an_old_order_to_it_is_dropped(
    place: Path,
) -> None:
    with live(place, *SLOW, moments="PAUSE@after:landed:1", until="ordered") as process:
        process.send_signal(signal.SIGSTOP)
        late = Shell(place).start("pause", "one", "--timeout", "60")
        wait(late, lambda: any((RUN / "orders").glob("*.json")))
        late.kill()
        late.wait()
    dead = call("status", "one", "--json").data
    assert (dead["state"], dead["resume"], dead["live"]) == ("killed", "continue", False)
    assert call("resume", "one").code == 0
    assert [event["what"] for event in of_kind(RUN, "ordered")] == ["pause"]
    assert ledger_of(RUN) == {"landed": FILES}
    expect_each_once(RUN)
    expect_clean(RUN)


def test_intents_of_a_live_run_are_cancelled_by_name_and_all_at_once_and_calls_under_way_are_cut_off(
    place: Path,
) -> None:
    with live(place, *HANGS, until="asked") as process:
        first = call("cancel", "one", "part0.py", "document:part9.py", "--reason", "not these", "--json").data
        assert sorted(first["cancelled"] + first["under_way"]) == ["document:part0.py", "document:part9.py"]
        assert "document:part9.py" in first["cancelled"]
        assert "is not paused" in call("resume", "one").err
        rest = call("cancel", "one", "--all", "--json").data
        assert process.wait(60) == 0
    assert ledger_of(RUN) == {"cancelled": FILES}
    assert len(rest["cancelled"] + rest["under_way"]) >= FILES - 2
    assert Counter(event["reason"] for event in of_kind(RUN, "ended"))["not these"] == 2
    asked, cut_off = ([event["call"] for event in of_kind(RUN, kind)] for kind in ("asked", "cut off"))
    assert sorted(cut_off) == asked != []
    expect_each_once(RUN)
    expect_clean(RUN)


@pytest.mark.parametrize(
    "moment",
    [
        "after:ordered:1",
        *(
            pytest.param(moment, marks=pytest.mark.full)
            for moment in ("before:ordered:1", "after:ended:3", "torn:ended:5")
        ),
    ],
)
def test_a_kill_while_a_cancel_is_taken_in_leaves_it_to_the_next_process(moment: str, place: Path) -> None:
    done = run_until(f"CANCEL@after:landed:2,SIGKILL@{moment}", *SLOW)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert call("resume", "one").code == 0
    ledger = ledger_of(RUN)
    assert set(ledger) == {"landed", "cancelled"}
    assert ledger["landed"] >= 2
    assert {event["reason"] for event in of_kind(RUN, "ended")} == {"enough"}
    assert len(of_kind(RUN, "ordered")) == 1
    expect_each_once(RUN)
    expect_clean(RUN)
    assert list((RUN / "orders").glob("*.json")) == []


@pytest.mark.parametrize(
    "moment",
    [
        "before:landed:1",
        *(pytest.param(moment, marks=pytest.mark.full) for moment in ("before:ref:2", "after:change made:3")),
    ],
)
def test_what_is_pending_in_a_dead_run_is_cancelled_and_what_git_knows_as_landed_is_not(
    moment: str, place: Path
) -> None:
    assert run_until(f"SIGKILL@{moment}", *SLOW).returncode == -signal.SIGKILL
    cancelled = call("cancel", "one", "--all", "--json").data
    assert cancelled["live"] is False
    ledger = ledger_of(RUN)
    assert ledger.get("landed", 0) + ledger["cancelled"] == FILES
    assert len(cancelled["cancelled"]) == ledger["cancelled"]
    assert ledger.get("landed", 0) >= (moment == "before:landed:1")
    expect_each_once(RUN)
    expect_clean(RUN)
    assert "nothing is left to do" in call("resume", "one").err
    done = call("pause", "one")
    assert done.code == 2
    assert "no process works on one" in done.err
    assert list((RUN / "orders").glob("*")) == []


def test_one_intent_of_a_dead_run_is_cancelled_without_asking_any_model_and_the_others_go_on(place: Path) -> None:
    assert run_until("SIGKILL@after:landed:2", *SLOW).returncode == -signal.SIGKILL
    asked = len(of_kind(RUN, "asked"))
    for words in ([], ["--all", "part1.py"], ["--all", "--reason", " "]):
        done = call("cancel", "one", *words)
        assert done.code == 2
        assert "Name some, or give --all" in done.err
    assert "no intent 'part99.py'" in call("cancel", "one", "part99.py").err
    done = call("cancel", "one", "part11.py")
    assert "cancelled: 1 intents" in done.out
    assert len(of_kind(RUN, "asked")) == asked
    status = call("status", "one", "--json").data
    assert (status["ledger"]["cancelled"], status["resume"]) == (1, "continue")
    assert call("resume", "one").code == 0
    assert ledger_of(RUN) == {"landed": FILES - 1, "cancelled": 1}
    expect_each_once(RUN)
    expect_clean(RUN)


def test_a_run_in_which_nothing_moves_is_named_then_stopped_and_loses_nothing(place: Path) -> None:
    done = run_until("", *HANGS, "--stall-after", "0.5s")
    assert done.returncode == 3, done.stderr
    assert b"warning: nothing ended, landed or was answered for " in done.stderr
    assert b"by scripted:latency=9999,spread=0 has no end for " in done.stderr
    first, second = of_kind(RUN, "stalled")
    assert first["real_s"] < second["real_s"]
    assert len(first["real_hangs"]) == 5
    status = call("status", "one", "--json").data
    assert (status["state"], status["resume"], status["ledger"]["pending"]) == ("stalled", "continue", FILES)
    assert status["hangs"] == second["real_hangs"]
    assert "hangs" in call("status", "one").out
    assert call("cancel", "one", "--all").code == 0
    assert ledger_of(RUN) == {"cancelled": FILES}
    expect_each_once(RUN)
    expect_clean(RUN)


def test_a_run_that_drains_says_so_until_it_stops(place: Path) -> None:
    with live(place, *HANGS, until="asked") as process:
        process.send_signal(signal.SIGTERM)
        wait(process, lambda: of_kind(RUN, "ordered") != [])
        assert call("status", "one", "--json").data["state"] == "draining"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    assert call("status", "one", "--json").data["state"] == "interrupted"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_in_the_set_up_leaves_nothing_behind(name: str, place: Path) -> None:
    code = (
        "import os, signal, sys\nfrom qodebase.cli import main\nfrom qodebase.source import Source\n"
        "inner = Source.copy_to\n"
        f"def copy_to(*args):\n    inner(*args)\n    os.kill(os.getpid(), signal.{name})\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\nSource.copy_to = copy_to\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *SLOW], capture_output=True, check=False, timeout=60)
    assert done.returncode == 130, done.stderr
    assert b"Traceback" not in done.stderr
    assert not RUN.exists()


@pytest.mark.full
def test_a_signal_while_the_repository_is_tidied_does_not_undo_the_end(place: Path) -> None:
    done = run_until("SIGTERM@before:compacting:1", *SLOW[:6], "-w", "8", "--model", "scripted", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "ended"
    assert ledger_of(RUN) == {"landed": FILES}
    expect_clean(RUN)

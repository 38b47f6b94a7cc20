"""The nightly: verdicts from scripted benches, real ones that are ended, and files that are there whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as Xml
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from qodebase.cli import make_app
from qodebase.commands.bench.support.night import Night
from qodebase.commands.bench.support.night_child import Look, look
from qodebase.commands.bench.support.night_files import junit, page, summary
from qodebase.commands.bench.support.night_watch import NoArtifacts, UnknownFigure, Watch
from qodebase.commands.support.environment import environment
from results.nightly import LEAST_NIGHTS, Figure, Verdict
from results.nightly_history import NoHistory, read_history
from results.nightly_plan import NotWatched, Planned, Size, Watched, watched_benches

FILES = {"junit.xml", "summary.md", "results.json", "environment.json", "report.html"}
QODEBASE = (sys.executable, "-c", "from qodebase.cli import main; main()")
REPLAY = {"wrong": 0, "ok": True, "speed": {"merge_with_invariants_python": 300.0, "merge_python": 100.0}}
SLOW = {**REPLAY, "speed": {"merge_with_invariants_python": 600.0, "merge_python": 100.0}}
FIGURE = "speed.merge_with_invariants_python"


class Scripted:
    """Benches that answer what they are told to, one after the other."""

    def __init__(self, looks: Iterable[Look | dict[str, Any] | BaseException]) -> None:
        self._looks = iter(looks)
        self.asked: list[str] = []

    def __call__(self, bench: str, words: Sequence[str], *, seconds: float) -> Look:
        self.asked.append(bench)
        told = next(self._looks)
        if isinstance(told, BaseException):
            raise told
        return told if isinstance(told, Look) else Look(seconds=1.0, answer=told)


def watch(tmp_path: Path, *looks: Look | dict[str, Any] | BaseException, **how: Any) -> tuple[Watch, Scripted]:
    """Return a night of the bench of replays alone."""
    scripted = Scripted(looks)
    settled = {"seconds": 3600.0, "only": ("replay",), "environment": here()} | how
    return Watch(baseline=tmp_path / "base", artifacts=tmp_path / "out", look=scripted, **settled), scripted


@cache
def here() -> dict[str, Any]:
    return environment()


def take(tmp_path: Path, *looks: Look | dict[str, Any] | BaseException, **how: Any) -> dict[str, Any]:
    results = watch(tmp_path, *looks, **how)[0].keep(lambda text: None)
    assert results == kept(tmp_path)
    return results


def kept(tmp_path: Path) -> dict[str, Any]:
    assert {file.name for file in (tmp_path / "out").iterdir()} == FILES
    found: dict[str, Any] = json.loads((tmp_path / "out" / "results.json").read_text())
    return found


def verdicts(results: dict[str, Any]) -> dict[str, str]:
    return {row["figure"]: row["verdict"] for row in results["rows"]}


def learn(tmp_path: Path) -> None:
    for _ in range(LEAST_NIGHTS):
        assert take(tmp_path, REPLAY)["exit_code"] == 0


def test_a_figure_is_learnt_watched_and_its_loss_an_alarm_once_it_was_measured_twice(tmp_path: Path) -> None:
    learn(tmp_path)
    assert verdicts(take(tmp_path, REPLAY)) == {"wrong": "ok", "ok": "ok", FIGURE: "ok"}
    night, scripted = watch(tmp_path, SLOW, SLOW)
    results = night.keep(lambda text: None)
    assert scripted.asked == ["replay", "replay"]
    assert (results["verdict"], results["exit_code"]) == ("regressed", 1)
    [row] = [row for row in results["rows"] if row["verdict"] == "regressed"]
    assert (row["figure"], row["values"], row["usual"]) == (FIGURE, [6.0, 6.0], pytest.approx(3.0))


def test_a_suspect_that_is_well_at_the_second_look_is_no_alarm(tmp_path: Path) -> None:
    learn(tmp_path)
    results = take(tmp_path, SLOW, REPLAY)
    assert (results["verdict"], results["exit_code"], len(results["looks"]["replay"])) == ("ok", 0, 2)


def test_a_suspect_without_time_for_a_second_look_is_inconclusive(tmp_path: Path) -> None:
    learn(tmp_path)
    before = len(read_history(tmp_path / "base").nights)
    results = take(tmp_path, Look(seconds=5000.0, answer=SLOW))
    assert (results["verdict"], results["exit_code"]) == ("inconclusive", 0)
    assert "not run again" in next(row["why"] for row in results["rows"] if row["figure"] == FIGURE)
    assert len(read_history(tmp_path / "base").nights) == before


def test_a_second_look_that_comes_too_late_hides_nothing(tmp_path: Path) -> None:
    learn(tmp_path)
    results = take(tmp_path, {**SLOW, "wrong": 1}, Look(seconds=99.0, answer={}, late=True))
    assert verdicts(results) == {"wrong": "broken", "ok": "ok", FIGURE: "inconclusive"}


def test_a_regressed_night_does_not_become_usual_unless_it_is_accepted(tmp_path: Path) -> None:
    learn(tmp_path)
    for _ in range(3):
        assert take(tmp_path, SLOW, SLOW)["exit_code"] == 1
    accepted = take(tmp_path, SLOW, accepted=frozenset({f"replay.{FIGURE}"}))
    assert (accepted["verdict"], accepted["exit_code"]) == ("learning", 0)
    assert take(tmp_path, SLOW)["verdict"] == "learning"


def test_what_must_be_zero_is_broken_at_once_and_other_figures_are_still_judged(tmp_path: Path) -> None:
    results = take(tmp_path, {**REPLAY, "wrong": 1})
    assert verdicts(results) == {"wrong": "broken", "ok": "ok", FIGURE: "learning"}
    assert results["exit_code"] == 1


@pytest.mark.parametrize(
    ("told", "verdict", "code", "strict_code"),
    [
        (Look(seconds=1.0, answer={}, why="ended with 1: error: after a kill an intent landed twice"), "broken", 1, 1),
        (Look(seconds=1.0, answer={}, late=True), "inconclusive", 0, 1),
        ({"wrong": 0, "ok": True}, "broken", 1, 1),
        (REPLAY, "learning", 0, 0),
    ],
)
def test_each_verdict_has_its_exit_code(
    tmp_path: Path, told: Look | dict[str, Any], verdict: str, code: int, strict_code: int
) -> None:
    results = take(tmp_path, told)
    assert (results["verdict"], results["exit_code"]) == (verdict, code)
    assert take(tmp_path, told, strict=True)["exit_code"] == strict_code


HUNG = Look(seconds=135.0, answer={}, late=True)


def test_a_bench_that_hangs_night_after_night_is_broken_from_the_third_on(tmp_path: Path) -> None:
    assert [take(tmp_path, HUNG)["verdict"] for _ in range(4)] == ["inconclusive", "inconclusive", "broken", "broken"]
    last = take(tmp_path, HUNG)
    assert last["exit_code"] == 1
    assert {row["why"] for row in last["rows"]} == {
        "ended after 135 s, for its time was over; so it went in the 4 nights before, and it should take about 45 s"
    }


@pytest.mark.parametrize("better", [REPLAY, {**REPLAY, "wrong": 1}, {"wrong": 0, "ok": True}])
def test_a_night_that_came_to_its_end_between_hung_ones_begins_the_count_again(
    tmp_path: Path, better: dict[str, Any]
) -> None:
    for _ in range(2):
        take(tmp_path, HUNG)
    take(tmp_path, better)
    assert [take(tmp_path, HUNG)["verdict"] for _ in range(3)] == ["inconclusive", "inconclusive", "broken"]


def test_nights_that_had_no_time_for_a_bench_do_not_make_it_hang(tmp_path: Path) -> None:
    size = Size(name="s", words=(), seconds=10.0)
    bench = Watched(name="a", bench="a", order=0, sizes=(size,), figures=(Figure(name="x", what=""),))

    def night(seconds: float) -> Verdict:
        history = read_history(tmp_path)
        one = Night(planned=[Planned(watched=bench, size=size)], history=history, machine="m", seconds=seconds)
        one.take(Scripted([HUNG]), lambda text: None)
        history.add(one.past_nights(at=1.0, commit="c"))
        return next(one.rows()).judgement.verdict

    assert {night(5.0) for _ in range(5)} == {Verdict.INCONCLUSIVE}
    assert [night(15.0) for _ in range(3)][-1] is Verdict.BROKEN


def test_a_machine_that_cannot_hold_checks_is_no_alarm(tmp_path: Path) -> None:
    why = "ended with 2: error: this machine cannot hold checks: no namespaces"
    failed = Look(seconds=1.0, answer={}, why=why)
    assert take(tmp_path, failed, only=("gate",))["verdict"] == "inconclusive"
    assert take(tmp_path, failed, only=("replay",))["verdict"] == "broken"


def test_what_does_not_fit_is_inconclusive_and_named(tmp_path: Path) -> None:
    night, scripted = watch(tmp_path, seconds=1.0)
    results = night.keep(lambda text: None)
    assert scripted.asked == []
    assert {row["verdict"] for row in results["rows"]} == {"inconclusive"}
    assert all("did not fit: it takes 45 s" in row["why"] for row in results["rows"])


def test_time_that_runs_out_on_the_way_leaves_the_rest_inconclusive() -> None:
    size = Size(name="s", words=(), seconds=10.0)
    figures = (Figure(name="x", what=""),)
    benches = [Watched(name=name, bench=name, order=0, sizes=(size,), figures=figures) for name in "abc"]
    ticks: Iterator[float] = iter([0.0, 0.0, 99.0, 100.0, 101.0, 102.0, 103.0])
    history = read_history(Path("/nonexistent"))
    night = Night(
        planned=[Planned(watched=one, size=size) for one in benches],
        history=history,
        machine="m",
        seconds=100.0,
        now=lambda: next(ticks),
    )
    night.take(Scripted([{"x": 1.0}, {"x": 1.0}]), lambda text: None)
    rows = {row.bench: row.judgement for row in night.rows()}
    assert [rows[name].verdict for name in "abc"] == [Verdict.LEARNING, Verdict.LEARNING, Verdict.INCONCLUSIVE]
    assert rows["c"].why == "no time was left"


@pytest.mark.parametrize(
    ("told", "raised", "said", "code"),
    [
        (RuntimeError("prompt text"), RuntimeError, "a bug: RuntimeError", 1),
        (KeyboardInterrupt(), None, "", 130),
    ],
)
def test_the_files_are_there_after_a_failure_and_an_interrupt(
    tmp_path: Path, told: BaseException, raised: type[BaseException] | None, said: str, code: int
) -> None:
    night, _ = watch(tmp_path, {"lost": 0, "doubled": 0}, told, only=("crash", "replay"))
    if raised is None:
        night.keep(lambda text: None)
    else:
        with pytest.raises(raised):
            night.keep(lambda text: None)
    results = kept(tmp_path)
    assert (results["error"], results["exit_code"]) == (said, code)
    assert verdicts(results) == {
        "lost": "ok",
        "doubled": "ok",
        **dict.fromkeys(("wrong", "ok", FIGURE), "inconclusive"),
    }
    assert "prompt text" not in "".join(file.read_text() for file in (tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("how", "raised"),
    [
        ({"only": ("other",)}, NotWatched),
        ({"accepted": frozenset({"replay.other"})}, UnknownFigure),
    ],
)
def test_a_night_that_cannot_begin_leaves_its_files_too(
    tmp_path: Path, how: dict[str, Any], raised: type[Exception]
) -> None:
    with pytest.raises(raised):
        take(tmp_path, **how)
    assert kept(tmp_path)["error"]
    assert kept(tmp_path)["exit_code"] == 2


def test_folders_that_are_files_are_said(tmp_path: Path) -> None:
    (tmp_path / "base").write_text("")
    with pytest.raises(NoHistory):
        take(tmp_path, REPLAY)
    assert kept(tmp_path)["exit_code"] == 2
    with pytest.raises(NoArtifacts):
        Watch(baseline=tmp_path, artifacts=tmp_path / "base", seconds=1.0).keep(lambda text: None)


def test_junit_counts_what_it_holds_and_skips_what_is_inconclusive(tmp_path: Path) -> None:
    learn(tmp_path)
    results = take(tmp_path, {**SLOW, "wrong": 1}, SLOW)
    results["rows"][1]["verdict"] = "inconclusive"
    suite = Xml.fromstring(junit(results)).find("testsuite")
    assert suite is not None
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "1"}
    assert [case.get("classname") for case in suite] == ["nightly.replay"] * 3


@pytest.mark.parametrize("text", [junit, summary, page])
def test_what_a_bench_says_cannot_break_out_of_a_file(tmp_path: Path, text: Callable[[dict[str, Any]], str]) -> None:
    results = take(tmp_path, Look(seconds=1.0, answer={}, why='a|b <script>alert("x")</script> \x1b[31m\x00 \n# end'))
    told = text(results)
    assert "<script>" not in told
    assert not {"\x1b", "\x00"} & {*told.replace("\n", "")}
    if text is junit:
        Xml.fromstring(told)
    if text is summary:
        assert "a\\|b" in told
        assert "\n# end" not in told


def test_every_declared_command_line_is_one_that_its_bench_takes() -> None:
    bench = typer.main.get_command(make_app()).get_command(None, "bench")  # type: ignore[attr-defined]
    for one in watched_benches():
        for size in one.sizes:
            bench.get_command(None, one.bench).make_context(one.bench, [*size.words, "--json"])


def test_a_real_bench_is_run_and_a_failing_one_says_why() -> None:
    found = look("crash", ["--kills", "1"], seconds=60.0)
    assert (found.answer["kills"], found.late, found.why) == (1, False, "")
    failed = look("landing", ["--workload", "other"], seconds=60.0)
    assert failed.answer == {}
    assert failed.why.startswith("ended with 2: error: there is no workload")


def test_a_bench_whose_time_is_over_is_ended_with_its_children_and_scratch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    found = look("crash", ["--kills", "100000"], seconds=2.0)
    assert found.late
    assert list(tmp_path.iterdir()) == []
    assert not processes_that_name(tmp_path)


def test_a_stopped_night_ends_with_130_and_all_its_files(tmp_path: Path) -> None:
    words = ("bench", "nightly", "--baseline", "base", "--artifacts", "out", "--only", "crash", "--time-budget", "20m")
    space = tmp_path / "scratch"
    space.mkdir()
    process = subprocess.Popen(
        [*QODEBASE, *words], cwd=tmp_path, env={**os.environ, "TMPDIR": str(space)}, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("crash, ")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    results = kept(tmp_path)
    assert (results["stopped"], results["exit_code"]) == (True, 130)
    assert {row["why"] for row in results["rows"]} == {"the night was stopped before"}
    assert list(space.iterdir()) == []
    assert not processes_that_name(space)


def test_the_command_prints_the_summary_and_exits_with_the_nights_code(tmp_path: Path) -> None:
    words = ["--baseline", str(tmp_path / "base"), "--artifacts", str(tmp_path / "out"), "--time-budget", "1s"]
    done = CliRunner().invoke(make_app(), ["bench", "nightly", *words], prog_name="qodebase")
    assert done.exit_code == 0
    assert done.stdout.startswith("# Nightly: inconclusive")
    assert "did not fit" in done.stdout
    strict = CliRunner().invoke(make_app(), ["bench", "nightly", *words, "--strict", "--json"], prog_name="qodebase")
    assert strict.exit_code == json.loads(strict.stdout)["exit_code"] == 1
    assert kept(tmp_path)["verdict"] == "inconclusive"


@pytest.mark.full
def test_a_real_delay_in_landing_raises_the_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [landing] = watched_benches(["landing"])
    words = ("--brief", "--files", "300", "--changes", "1000", "--repeats", "21")
    planned = [Planned(watched=landing, size=Size(name="test", words=words, seconds=600.0))]

    def night() -> Night:
        history = read_history(tmp_path)
        found = Night(planned=planned, history=history, machine="m", seconds=7200.0)
        found.take(look, lambda text: None)
        history.add(found.past_nights(at=0.0, commit=""))
        return found

    for _ in range(LEAST_NIGHTS):
        night()
    assert len(read_history(tmp_path).nights) == LEAST_NIGHTS
    (tmp_path / "sitecustomize.py").write_text(DELAY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    judged = {row.figure.name: row.judgement for row in night().rows()}
    assert judged["ratio_fast_import"].verdict is Verdict.REGRESSED, judged
    assert judged["fsck"].verdict is Verdict.OK


DELAY = '''
"""Make every step of the trunk take 20% longer, which is about 15% of what the bench measures."""
import time

from qodebase.trunk.landing import Trunk

_land = Trunk.land


def land(self, *words):
    began = time.perf_counter()
    found = _land(self, *words)
    time.sleep(0.2 * (time.perf_counter() - began))
    return found


Trunk.land = land
'''


def processes_that_name(folder: Path) -> list[str]:
    """Return the command lines of processes whose folder lies in one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve().is_relative_to(folder):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found

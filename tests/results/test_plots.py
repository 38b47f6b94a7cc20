"""Plots of a run: their data agree with its frames, and every one can be saved offline for print."""

from __future__ import annotations

import csv
import json
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from qodebase import events
from qodebase.journal import Journal
from qodebase.paths import CommitId
from qodebase.runs import RunFolder
from results.dial import SETTINGS, Dial
from results.frames import Frames
from results.metrics import SCORE, values_of
from results.plots.accessor import RunPlots
from results.plots.plot import SIMULATED, NoFigure
from results.plots.several import NothingScored, dial_plot, landed_so_far
from results.plots.theme import PALETTE, theme

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun

NAMES = ["ledger", "throughput", "in-flight", "lanes", "collisions", "time-to-land", "trains", "calls"]


@pytest.fixture
def frames(honest: ToyRun) -> Frames:
    return Frames(honest.folder, kept=False)


@pytest.fixture
def plots(frames: Frames) -> RunPlots:
    return RunPlots(lambda: frames)


def row(**more: object) -> dict[str, object]:
    """Return a row of a dial's settings."""
    plain = dict.fromkeys(SETTINGS.names, 0) | {"queue": "lanes", "rules": "on", "share": 0.6, "clock": "virtual"}
    return plain | more


def test_the_data_of_plots_add_up_to_what_the_frames_and_metrics_say(plots: RunPlots, frames: Frames) -> None:
    metrics = values_of(frames)
    assert plots.ledger().data["intents"].sum() == frames.intents.height
    assert plots.throughput().data["landed"].sum() == frames.landings.height > 0
    assert plots.lanes().data["landed"].sum() == frames.landings.height
    assert plots.trains().data["members"].sum() == frames.trains["size"].sum()
    assert plots.calls().data["calls"].sum() == frames.costs["calls"].sum() > 0
    redone = plots.collisions().data
    assert redone.filter(redone["redone_by"].str.starts_with("rule"))["paths"].sum() == metrics["redone_by_rule"] > 0
    halves = plots.time_to_land().data.filter(pl.col("percent") == 50)
    assert halves["seconds"].to_list() == [metrics["time_to_land_p50_s"], metrics["gate_wait_p50_s"]]


def test_every_plot_is_saved_with_its_data_beside_it(plots: RunPlots, tmp_path: Path) -> None:
    made = plots.all()
    assert [plot.name for plot in made] == NAMES
    for plot in made:
        saved = plot.save(tmp_path / f"{plot.name}.svg")
        text = saved.read_text(encoding="utf-8")
        assert 'width="85.00mm"' in text
        assert plot.title in re.sub(r"<[^>]+>", "", text)
        with (tmp_path / f"{plot.name}.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == plot.data.columns
        assert len(rows) == 1 + plot.data.height


def test_a_saved_picture_is_as_wide_on_paper_as_it_was_asked_to_be(plots: RunPlots, tmp_path: Path) -> None:
    plot = plots.throughput()
    png = plot.save(tmp_path / "fig.png", width_mm=100).read_bytes()
    dots, _ = struct.unpack(">II", png[16:24])
    at = png.index(b"pHYs") + 4
    per_metre, _ = struct.unpack(">II", png[at : at + 8])
    assert dots / per_metre == pytest.approx(0.100, abs=0.0005)
    pdf = plot.save(tmp_path / "fig.pdf", width_mm=100).read_bytes()
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+)", pdf)
    assert box is not None
    assert float(box[1]) / 72 * 25.4 == pytest.approx(100, abs=0.1)
    assert b"LiberationSans" in pdf
    assert b"FontFile" in pdf


def test_another_ending_or_a_sliver_is_refused_with_what_to_do(plots: RunPlots, tmp_path: Path) -> None:
    with pytest.raises(NoFigure, match=r"\.gif") as refused:
        plots.ledger().save(tmp_path / "fig.gif")
    assert ".svg, .png or .pdf" in refused.value.hint
    with pytest.raises(NoFigure, match="too narrow"):
        plots.ledger().save(tmp_path / "fig.svg", width_mm=3)
    assert list(tmp_path.iterdir()) == []


class _SetClock:
    simulated = False
    at = 0.0

    def now(self) -> float:
        return self.at


def test_plots_over_time_stand_still_while_no_process_works_on_the_run(empty_run: RunFolder) -> None:
    clock = _SetClock()
    journal = Journal(empty_run.journal, run="toy-1", clock=clock)  # type: ignore[arg-type]
    tip = CommitId("0" * 40)
    for sitting, begin in enumerate((100, 50_000), start=1):
        clock.at = begin
        journal.write(events.RunStarted, sitting=sitting, base=tip, tip=tip, workers=1, real_pid=1)
        clock.at += 2
        journal.write(events.Landed, intent="doc:a", attempt=1, lane="src", train="t", commit=tip, parent=tip)
        journal.write(events.RunStopped, why="limit", tip=tip)
    journal.close()
    frames = Frames(empty_run, kept=False)
    plots = RunPlots(lambda: frames)
    assert plots.throughput().data.select("from_s", "landed_per_s").rows() == [
        (second, float(second in (2, 5))) for second in range(6)
    ]
    assert plots.lanes().data["from_s"].to_list() == [2, 5]
    assert plots.in_flight().data["from_s"].max() == 6
    assert landed_so_far({"run": frames}).data["at_s"].to_list() == [0, 1, 2, 3, 4, 5, 6]
    for plot in (plots.throughput(), plots.in_flight(), plots.lanes()):
        assert "seconds of work on the run" in json.dumps(plot.spec())


def test_a_run_of_one_step_has_no_mean_that_its_bar_seems_to_miss(empty_run: RunFolder) -> None:
    clock = _SetClock()
    journal = Journal(empty_run.journal, run="toy-1", clock=clock)  # type: ignore[arg-type]
    tip = CommitId("0" * 40)
    journal.write(events.RunStarted, sitting=1, base=tip, tip=tip, workers=1, real_pid=1)
    clock.at += 0.125
    journal.write(events.RunStopped, why="ended", tip=tip)
    journal.close()
    plot = RunPlots(lambda: Frames(empty_run, kept=False)).throughput()
    assert "dashed" not in plot.says
    assert "layer" not in plot.spec()


def test_calls_that_a_kill_cut_off_are_not_those_that_reached_their_limit(empty_run: RunFolder) -> None:
    journal = Journal(empty_run.journal, run="toy-1", clock=_SetClock())  # type: ignore[arg-type]
    for call in (1, 2):
        which = {"intent": "doc:a", "attempt": 1, "call": call, "model": "m"}
        journal.write(events.Asked, purpose="fresh", prompt="p", **which)
        if call == 1:
            journal.write(events.Answered, outcome="cut off", **which)
        else:
            journal.write(events.CutOff, **which)
    journal.close()
    data = RunPlots(lambda: Frames(empty_run, kept=False)).calls().data
    assert sorted(data["outcome"]) == ["cut off", "cut off by a kill"]


def test_plots_of_a_run_in_which_nothing_happened_say_so(empty_run: RunFolder, tmp_path: Path) -> None:
    frames = Frames(empty_run, kept=False)
    for plot in RunPlots(lambda: frames).all():
        text = plot.save(tmp_path / "fig.svg").read_text(encoding="utf-8")
        assert (plot.empty in text) == plot.data.is_empty()
    assert landed_so_far({"one": frames}).data["landed"].to_list() == [0]


def test_a_notebook_gets_a_picture_and_words(plots: RunPlots) -> None:
    shown = plots.collisions()._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert shown["text/plain"].startswith("Collisions, and what redid them")


def test_a_dial_has_a_point_for_every_seed_and_says_that_it_is_simulated(tmp_path: Path) -> None:
    rows = [row(seed=seed, share=share, passing=50 + seed) for seed in range(3) for share in (0.2, 0.6)]
    settings = pl.DataFrame(rows, schema=SETTINGS.polars())
    dial = Dial(settings=settings, lost=settings, failing=settings, fitted={}, hot_modules=())
    plot = dial_plot(dial.settings, "passing")
    assert sorted(plot.data["seed"].to_list()) == [0, 0, 1, 1, 2, 2]
    assert SIMULATED in re.sub(r"<[^>]+>", "", plot.save(tmp_path / "dial.svg").read_text(encoding="utf-8"))
    with pytest.raises(NothingScored, match="no figure 'speed'"):
        dial_plot(settings, "speed")
    with pytest.raises(NothingScored, match="no run of the dial is scored"):
        dial_plot(settings.clear())


def test_the_dial_of_a_run_is_that_of_the_scored_runs_beside_it(toy: ToyRun, plots: RunPlots, tmp_path: Path) -> None:
    frames = Frames(toy.folder, kept=False)
    (toy.folder.root / SCORE).write_text(json.dumps(row(seed=7, passing=88, rules=True, clock="real")))
    plot = RunPlots(lambda: frames).dial()
    assert plot.data.select("setting", "seed", "passing").rows() == [("lanes, rules on", 7, 88)]
    assert not plot.simulated
    with pytest.raises(NothingScored):
        plots.dial(of=tmp_path / "run" / "repo.git")


def test_colours_are_told_apart_and_both_themes_name_the_same_parts() -> None:
    assert len(set(PALETTE)) == len(PALETTE)
    light, dark = theme("light"), theme("dark")
    assert light.keys() == dark.keys()
    assert light["range"]["category"] == dark["range"]["category"] == list(PALETTE)
    assert light["axis"]["labelColor"] != dark["axis"]["labelColor"]

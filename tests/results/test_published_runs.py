from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from qodebase.codec import BadData
from results import published_runs
from results.published_runs import NotPublished, published_names, published_run

WAYS = Path(importlib.import_module("qodebase.commands.support.reproductions").__path__[0])


@pytest.mark.parametrize("name", published_names())
def test_a_published_run_says_what_was_done_by_whom_and_each_figure_has_a_unit(name: str) -> None:
    run = published_run(name)
    assert run.work
    assert len(run.source) > len("qodebase")
    assert run.figures
    assert len({figure.name for figure in run.figures}) == len(run.figures)
    assert all(figure.unit and figure.what for figure in run.figures)


@pytest.mark.parametrize("name", published_names())
def test_a_published_run_has_a_way_to_reproduce_it_or_a_reason_why_not(name: str) -> None:
    way = WAYS / f"{name.replace('-', '_')}.py"
    assert way.is_file() == (not published_run(name).missing)


def test_every_way_is_of_a_published_run() -> None:
    ways = {file.stem.replace("_", "-") for file in WAYS.glob("[!_]*.py")}
    assert ways == {name for name in published_names() if not published_run(name).missing}


def test_the_figures_are_those_that_were_published() -> None:
    documented = {figure.name: figure.value for figure in published_run("vscode-docs").figures}
    assert (documented["landed"], documented["collided_on_index"], documented["index_lines"]) == (2794, 2791, 5787)
    assert {figure.name: figure.value for figure in published_run("counters").figures}["seconds"] == 6 * 60 + 37


def test_a_name_of_no_published_run_lists_the_names_that_there_are() -> None:
    with pytest.raises(NotPublished) as told:
        published_run("../published/counters")
    assert "counters" in told.value.hint


def test_a_file_with_a_wrong_field_names_file_and_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd.toml").write_text('source = "x"\nwork = "y"\nfigures = [{ name = "a", value = "many" }]\n')
    monkeypatch.setattr(published_runs, "_FOLDER", tmp_path)
    with pytest.raises(BadData, match=r"odd\.toml.*float"):
        published_run("odd")

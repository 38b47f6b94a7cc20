from __future__ import annotations

from pathlib import Path

import pytest

from qodebase.codec import BadData
from results import reproduced_runs
from results.published_runs import Figure, Published
from results.reproduction import Row, rows_of

PUBLISHED = Published(
    name="some",
    source="them",
    work="work",
    figures=(
        Figure(name="landed", value=200, unit="files", what="landed", grows=True),
        Figure(name="rate", value=10, unit="files/s", what="a second", source="their other page"),
        Figure(name="lost", value=0, unit="files", what="lost"),
        Figure(name="holds", value=5, unit="holds", what="held"),
    ),
)


def rows(*runs: dict[str, float], scale: float = 0.1) -> dict[str, Row]:
    return {row.figure: row for row in rows_of(PUBLISHED, runs, scale=scale, unknown={"holds": "no claims"})}


def test_a_row_sets_here_beside_published_and_a_figure_that_grows_beside_its_part_too() -> None:
    found = rows({"landed": 19, "rate": 25, "lost": 0})
    assert (found["landed"].ratio, found["landed"].ratio_at_scale) == (0.095, 0.95)
    assert (found["rate"].ratio, found["rate"].ratio_at_scale) == (2.5, 2.5)
    assert (found["landed"].source, found["rate"].source) == ("them", "their other page")


def test_a_published_zero_has_no_ratio_and_a_figure_that_was_not_measured_says_why() -> None:
    found = rows({"landed": 19, "rate": 25, "lost": 0})
    assert (found["lost"].here, found["lost"].ratio) == (0, None)
    assert (found["holds"].here, found["holds"].ratio, found["holds"].why) == (None, None, "no claims")
    assert found["holds"].n == 0


@pytest.mark.parametrize(
    ("values", "low", "high", "method"),
    [
        ([7.0], None, None, "one run a setting"),
        ([9.0, 7.0, 8.0], 7.0, 9.0, "range of 3 runs"),
        ([8.0, 12.0, 10.0, 9.0, 11.0], 10 - 2.776 * 2.5**0.5 / 5**0.5, 10 + 2.776 * 2.5**0.5 / 5**0.5, "Student's t"),
    ],
)
def test_below_five_runs_there_is_a_range_and_from_five_on_an_interval(
    values: list[float], low: float | None, high: float | None, method: str
) -> None:
    row = rows(*({"rate": value} for value in values))["rate"]
    assert (row.low, row.high) == ((None, None) if low is None else pytest.approx((low, high), rel=1e-3))
    assert row.method.startswith(method)
    assert row.values == tuple(values)


def test_what_is_recorded_is_read_again_and_what_is_not_is_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduced_runs, "FOLDER", tmp_path / "reproduced")
    assert reproduced_runs.reproduced_run("some") is None
    file = reproduced_runs.record("some", {"rows": [1]})
    assert reproduced_runs.reproduced_run("some") == {"rows": [1]}
    reproduced_runs.record("some", {"environment": {"cpu": "a", "command": "qodebase /home/a"}})
    assert reproduced_runs.reproduced_run("some") == {"environment": {"cpu": "a"}}
    file.write_text("{")
    with pytest.raises(BadData, match="is not JSON"):
        reproduced_runs.reproduced_run("some")

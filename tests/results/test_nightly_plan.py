"""What a night measures is declared in files, and what fits into its time depends on nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from qodebase.codec import BadData
from results.nightly_plan import NotWatched, Size, Watched, plan, watched_benches

FILE = '[[sizes]]\nname = "s"\nwords = []\nseconds = 1\n\n[[figures]]\nname = "x"\nwhat = "y"\n'


def bench(name: str, *seconds: float) -> Watched:
    sizes = tuple(Size(name=f"{one:g}", words=(), seconds=one) for one in seconds)
    return Watched(name=name, bench=name, order=0, sizes=sizes, figures=())


def chosen(benches: list[Watched], seconds: float) -> list[str]:
    return [one.size.name if one.size else "" for one in plan(benches, seconds)]


def test_every_shipped_file_declares_a_bench() -> None:
    names = [one.name for one in watched_benches()]
    assert set(names) >= {"landing", "crash", "faults", "models", "throughput", "gate", "replay", "counters", "dial"}
    assert {"lost", "doubled", "fsck"} <= {
        figure.name for one in watched_benches() for figure in one.figures if figure.must_be_zero
    }
    for one in watched_benches():
        assert [size.seconds for size in one.sizes] == sorted(size.seconds for size in one.sizes)
        assert len({figure.name for figure in one.figures}) == len(one.figures)


def test_every_bench_fits_into_45_minutes() -> None:
    planned = plan(watched_benches(), 45 * 60)
    assert all(one.size for one in planned)
    assert sum(one.size.seconds for one in planned if one.size) <= 45 * 60


def test_the_smallest_sizes_come_first_and_what_is_left_makes_them_larger() -> None:
    benches = [bench("a", 10, 50), bench("b", 10, 30), bench("c", 30)]
    assert chosen(benches, 1000) == ["50", "30", "30"]
    assert chosen(benches, 130) == ["50", "10", "30"]
    assert chosen(benches, 110) == ["10", "30", "30"]
    assert chosen(benches, 40) == ["10", "10", ""]
    assert chosen(benches, 5) == ["", "", ""]


def test_some_of_them_can_be_asked_for() -> None:
    assert [one.name for one in watched_benches(["replay", "crash"])] == ["crash", "replay"]
    with pytest.raises(NotWatched, match="nothing-like-it"):
        watched_benches(["crash", "nothing-like-it"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("order = ", "bad.toml"),
        (FILE, "order"),
        ("order = 1\nsizes = []\nfigures = []\n", "at least one size"),
        (f'order = 1\n{FILE}better = "faster"\n', "higher or lower"),
        (f"order = 1\n{FILE}smallest_effect = 0.0\n", "above 0"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(BadData, match=said) as caught:
        watched_benches(folder=tmp_path)
    assert "bad.toml" in str(caught.value)


def test_a_new_file_is_a_new_bench(tmp_path: Path) -> None:
    (tmp_path / "new.toml").write_text(f"order = 1\n{FILE}")
    (tmp_path / "other.toml").write_text(f'order = 2\nbench = "new"\n{FILE}')
    assert [(one.name, one.bench) for one in watched_benches(folder=tmp_path)] == [("new", "new"), ("other", "new")]

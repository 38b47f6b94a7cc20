from __future__ import annotations

import random

import pytest

from results.intervals import FEWEST, interval, student_quantile


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062), (2, 4.3027), (4, 2.7764), (5, 2.5706), (10, 2.2281), (29, 2.0452)]
)
def test_the_quantiles_are_those_of_students_table(freedom: int, quantile: float) -> None:
    assert student_quantile(0.975, freedom) == pytest.approx(quantile, abs=1e-4)


def test_five_differences_have_the_interval_of_the_textbook() -> None:
    found = interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.mean, found.n, found.method) == (3.0, 5, "paired t over 5 seeds")
    assert (found.low, found.high) == (pytest.approx(1.0368, abs=1e-4), pytest.approx(4.9632, abs=1e-4))


@pytest.mark.parametrize("n", range(1, FEWEST))
def test_below_five_seeds_there_are_words_and_no_interval(n: int) -> None:
    found = interval([float(number) for number in range(n)])
    assert (found.low, found.high, found.n) == (None, None, n)
    assert found.method.startswith("one run a setting")


@pytest.mark.parametrize("n", [5, 12])
def test_of_a_against_a_nineteen_intervals_in_twenty_hold_zero(n: int) -> None:
    chance = random.Random(n)
    rounds = 2000

    def held() -> bool:
        pairs = [(chance.gauss(100.0, 7.0), chance.gauss(100.0, 7.0)) for _ in range(n)]
        found = interval([b - a for a, b in pairs])
        assert found.low is not None
        assert found.high is not None
        return found.low <= 0 <= found.high

    assert sum(held() for _ in range(rounds)) / rounds == pytest.approx(0.95, abs=0.015)

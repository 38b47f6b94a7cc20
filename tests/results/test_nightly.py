"""Alarms on real noise: a delay is seen, and nights that are alike raise none; and the words around an alarm."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import median

import pytest

from results.nightly import (
    LEAST_NIGHTS,
    Figure,
    Judgement,
    Verdict,
    judge,
    night_value,
    worst,
)
from results.nightly_plan import watched_benches

ROUNDS = json.loads((Path(__file__).parent / "nightly_rounds.json").read_text())
REPEATS = 41
"""Rounds of a night, as the landing bench takes them there."""
NEIGHBOURS = 3
"""Rounds that follow each other are drawn together, for what disturbs one often disturbs the next."""
STEADY = [2.0, 2.02, 1.98, 2.01, 1.99, 2.0, 2.03, 1.97, 2.0]


def landing_figure(name: str) -> Figure:
    [landing] = watched_benches(["landing"])
    return next(figure for figure in landing.figures if figure.name == name)


def figure(better: str = "higher", smallest_effect: float = 0.05) -> Figure:
    return Figure(name="x", what="", better=better, smallest_effect=smallest_effect)


def measured(chance: random.Random, rounds: list[float], slowed: float) -> float:
    """Return what the landing bench would have told on one of many nights; ``slowed`` lengthens the trunk's time."""
    drawn: list[float] = []
    while len(drawn) < REPEATS:
        at = chance.randrange(len(rounds))
        drawn += [rounds[(at + step) % len(rounds)] for step in range(NEIGHBOURS)]
    return median(drawn[:REPEATS]) / slowed


def night(chance: random.Random, of: Figure, rounds: list[float], past: list[float], slowed: float) -> Judgement:
    """Judge a night as the nightly does: a suspect is measured again."""
    values = [measured(chance, rounds, slowed)]
    if judge(of, values, past).verdict is Verdict.REGRESSED:
        values.append(measured(chance, rounds, slowed))
    return judge(of, values, past)


@pytest.mark.parametrize(
    ("name", "rounds"),
    [("ratio_fast_import", ROUNDS["wall"]), ("processor_ratio_fast_import", ROUNDS["processor"])],
)
def test_a_delay_of_15_percent_is_seen_in_9_of_10_nights_and_20_nights_alike_raise_one_alarm_at_most(
    name: str, rounds: list[float]
) -> None:
    of = landing_figure(name)
    few, false = 0, []
    for series in range(30):
        chance = random.Random(series)
        past = [measured(chance, rounds, 1.0) for _ in range(LEAST_NIGHTS + series % 8)]
        seen = [night(chance, of, rounds, past, 1.15).verdict is Verdict.REGRESSED for _ in range(10)]
        few += sum(seen) < 9
        alarms = 0
        for _ in range(20):
            judgement = night(chance, of, rounds, past, 1.0)
            alarms += judgement.verdict is Verdict.REGRESSED
            if judgement.verdict is not Verdict.REGRESSED:
                past.append(night_value(judgement.values))
        false.append(alarms)
    assert few <= 3
    assert sum(alarms > 1 for alarms in false) <= 1


def test_real_noise_is_not_so_small_that_any_rule_would_do() -> None:
    rounds = ROUNDS["wall"]
    assert len(rounds) >= 30
    assert max(rounds) / min(rounds) > 1.5


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_what_is_worse_is_told_apart_from_what_is_better(better: str) -> None:
    doubled, halved = (judge(figure(better), [value], STEADY) for value in (4.0, 1.0))
    good, bad = (doubled, halved) if better == "higher" else (halved, doubled)
    assert (good.verdict, bad.verdict) == (Verdict.OK, Verdict.REGRESSED)
    assert bad.worse is not None
    assert bad.worse == pytest.approx(1.0)
    assert bad.usual == pytest.approx(2.0)


def test_both_measurements_of_a_night_must_be_worse() -> None:
    assert judge(figure(), [1.0, 1.0], STEADY).verdict is Verdict.REGRESSED
    assert judge(figure(), [1.0, 2.0], STEADY).verdict is Verdict.OK
    assert night_value([1.0, 4.0]) == pytest.approx(2.0)


def test_a_change_below_the_smallest_effect_is_no_alarm_however_steady_the_nights_are() -> None:
    past = [2.0] * 20
    assert judge(figure(smallest_effect=0.2), [1.75], past).verdict is Verdict.OK
    assert judge(figure(smallest_effect=0.1), [1.75], past).verdict is Verdict.REGRESSED


def test_with_few_nights_a_figure_is_only_learnt() -> None:
    assert judge(figure(), [0.1], STEADY[: LEAST_NIGHTS - 1]).verdict is Verdict.LEARNING
    assert judge(figure(), [0.1], STEADY[:LEAST_NIGHTS]).verdict is Verdict.REGRESSED
    assert judge(figure(), [0.1], []).usual is None


def test_nights_that_differ_too_much_say_nothing_but_a_large_loss_is_still_seen() -> None:
    wild = [1.0, 2.0, 3.0, 1.5, 2.5, 1.2, 2.8, 1.8]
    assert judge(figure(), [1.9], wild).verdict is Verdict.INCONCLUSIVE
    assert judge(figure(), [0.1], wild).verdict is Verdict.REGRESSED


def test_a_few_disturbed_nights_do_not_move_what_is_usual() -> None:
    calm, disturbed = judge(figure(), [1.8], STEADY), judge(figure(), [1.8], [*STEADY, 0.5, 9.0])
    assert calm.verdict is disturbed.verdict is Verdict.REGRESSED
    assert disturbed.usual == pytest.approx(2.0, rel=0.02)


def test_only_the_newest_nights_count() -> None:
    assert judge(figure(), [1.0], [*[2.0] * 30, *[1.0] * 30]).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("value", "broken"), [(0, False), (True, False), ([], False), (1, True), (False, True), ([3], True)]
)
def test_a_figure_that_must_be_zero_is_broken_by_anything_else_at_once(value: object, broken: bool) -> None:
    of = Figure(name="a.b", what="", must_be_zero=True)
    found = of.value_in({"a": {"b": value}})
    assert found is not None
    assert judge(of, [found], []).verdict is (Verdict.BROKEN if broken else Verdict.OK)
    assert judge(of, [found, 0.0], []).verdict is (Verdict.BROKEN if broken else Verdict.OK)


def test_a_figure_is_divided_by_its_peer_and_found_at_any_depth() -> None:
    of = Figure(name="rows.1.seconds", what="", peer="peer")
    answer = {"rows": [{}, {"seconds": 6.0}], "peer": 2}
    assert of.value_in(answer) == 3.0
    for other in ({}, {**answer, "peer": 0}, {**answer, "rows": [{}]}, {**answer, "rows": "no"}):
        assert of.value_in(other) is None


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "2", None])
def test_what_has_no_logarithm_is_no_figure(value: object) -> None:
    assert figure().value_in({"x": value}) is None


def test_the_worst_verdict_counts() -> None:
    assert worst([]) is Verdict.OK
    assert worst([Verdict.LEARNING, Verdict.OK]) is Verdict.LEARNING
    assert worst([Verdict.REGRESSED, Verdict.INCONCLUSIVE]) is Verdict.REGRESSED
    assert worst([Verdict.BROKEN, Verdict.REGRESSED]) is Verdict.BROKEN

"""Whether tonight's figures are worse than those of the nights before: pure statistics, no files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean, median
from typing import Any

from results.intervals import student_quantile

LEAST_NIGHTS = 8
"""With fewer nights behind it a figure is only learnt."""
MOST_NIGHTS = 30
"""Older nights do not count."""
HUNG_NIGHTS = 3
"""So many nights in a row in which a bench did not end are no chance."""

_CONFIDENCE = 0.975
_FINEST = 0.005
"""Nights that happen to agree are not believed to do so better than this."""
_BLIND = 3.0
"""Where only so many times the smallest effect would be seen, a night says nothing."""


class Verdict(StrEnum):
    """What a night says of a figure, from good to bad."""

    OK = "ok"
    LEARNING = "learning"
    INCONCLUSIVE = "inconclusive"
    REGRESSED = "regressed"
    BROKEN = "broken"


ALARMS = frozenset({Verdict.REGRESSED, Verdict.BROKEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a bench that is watched.

    Attributes:
        name: its name in the bench's answer, with dots between levels; of a list, the place.
        what: what it says, for people.
        better: ``higher`` or ``lower``; not for one that must be zero.
        smallest_effect: a change by less than this share is never an alarm.
        must_be_zero: anything but 0 is an alarm at once; true counts as 0, false as 1, a list as its length.
        peer: the figure of the same answer that it is divided by, measured in the same run.
    """

    name: str
    what: str
    better: str = "higher"
    smallest_effect: float = 0.1
    must_be_zero: bool = False
    peer: str = ""

    def value_in(self, answer: Mapping[str, Any]) -> float | None:
        """Return the figure of a bench's answer, or None where it, or its peer, has none that can be compared."""
        value = _number(_at(answer, self.name))
        if self.must_be_zero or value is None:
            return value
        peer = _number(_at(answer, self.peer)) if self.peer else 1.0
        return value / peer if peer and value > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a night says of a figure, and why.

    Attributes:
        values: one for each measurement of this night.
        nights: how many nights before it count.
        usual: the median of theirs; None: none.
        worse: by which share this night is worse than usual (negative: better).
        bound: from which share on that is an alarm.
    """

    verdict: Verdict
    why: str
    values: tuple[float, ...] = ()
    nights: int = 0
    usual: float | None = None
    worse: float | None = None
    bound: float | None = None


def judge(figure: Figure, values: Sequence[float], nights: Sequence[float]) -> Judgement:
    """Judge the measurements of one night, one or two, by the nights before, oldest first.

    A figure is compared as its logarithm, so that half and double are equally far. The nights before say where the next
    one lies: median +- t(0.975, n - 1) * s * sqrt(1 + 1/n), the one-sided prediction limit for one more observation
    (Hahn and Meeker, "Statistical Intervals", section 4.8) with the median for the mean and for the standard deviation
    s the median absolute deviation times 1.4826 n / (n - 0.8), which a few disturbed nights do not move (Rousseeuw and
    Croux, "Alternatives to the median absolute deviation", JASA 88, 1993; the factor for few observations is Croux and
    Rousseeuw's of 1992). An alarm needs that limit and the smallest effect passed by every measurement of the night.
    """
    values, nights = tuple(values), nights[-MOST_NIGHTS:]
    if figure.must_be_zero:
        worst = max(values, key=abs)
        verdict = Verdict.BROKEN if worst else Verdict.OK
        return Judgement(verdict=verdict, why=f"{worst:g}, must be 0" if worst else "0, as it must be", values=values)
    if len(nights) < LEAST_NIGHTS:
        usual = median(nights) if nights else None
        why = f"{len(nights)} of {LEAST_NIGHTS} nights that a verdict needs"
        return Judgement(verdict=Verdict.LEARNING, why=why, values=values, nights=len(nights), usual=usual)
    sign = 1.0 if figure.better == "lower" else -1.0
    past = [sign * math.log(value) for value in nights]
    usual, limit = median(past), _limit(past)
    bound = max(limit, math.log1p(figure.smallest_effect))
    losses = [sign * math.log(value) - usual for value in values]
    seen = Judgement(
        verdict=Verdict.OK,
        why=f"an alarm from {math.expm1(bound):.0%} worse on",
        values=values,
        nights=len(nights),
        usual=math.exp(sign * usual),
        worse=math.expm1(fmean(losses)),
        bound=math.expm1(bound),
    )
    if min(losses) > bound:
        why = f"{math.expm1(min(losses)):.0%} worse than usual, an alarm from {math.expm1(bound):.0%} on"
        return replace(seen, verdict=Verdict.REGRESSED, why=why)
    if limit > _BLIND * math.log1p(figure.smallest_effect):
        why = f"nights differ too much: only {math.expm1(bound):.0%} worse would be seen"
        return replace(seen, verdict=Verdict.INCONCLUSIVE, why=why)
    return seen


def night_value(values: Sequence[float]) -> float:
    """Return what a night counts as later: the geometric mean of its measurements, 0 where one is 0."""
    return math.exp(fmean(map(math.log, values))) if min(values) > 0 else 0.0


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the worst of some verdicts; none: ok."""
    order = list(Verdict)
    return max(verdicts, key=order.index, default=Verdict.OK)


def _limit(past: Sequence[float]) -> float:
    n, middle = len(past), median(past)
    deviation = median(abs(value - middle) for value in past) * 1.4826 * n / (n - 0.8)
    return student_quantile(_CONFIDENCE, n - 1) * max(deviation, _FINEST) * math.sqrt(1 + 1 / n)


def _at(answer: Mapping[str, Any], name: str) -> Any:
    value: Any = answer
    for part in name.split("."):
        match value:
            case Mapping() if part in value:
                value = value[part]
            case list() if part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            case _:
                return None
    return value


def _number(value: Any) -> float | None:
    match value:
        case bool():
            return 0.0 if value else 1.0
        case int() | float():
            return float(value) if math.isfinite(value) else None
        case list() | dict():
            return float(len(value))
        case _:
            return None

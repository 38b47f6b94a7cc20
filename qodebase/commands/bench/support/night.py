"""One night: every bench looked at once, suspects a second time, and what that says of each figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from qodebase.commands.bench.support.night_child import Look
from results.nightly import HUNG_NIGHTS, Figure, Judgement, Verdict, judge, night_value
from results.nightly_history import History
from results.nightly_history import Night as PastNight
from results.nightly_plan import Planned, Size

_PATIENCE = 3.0
"""A bench that takes so many times what it should is ended."""
_LEAST_PATIENCE_S = 60.0


class Looking(Protocol):
    """Runs a bench for a limited time."""

    def __call__(self, bench: str, words: Sequence[str], *, seconds: float) -> Look:
        """Return what it measured, or that and why it did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the night says of one figure of one bench."""

    bench: str
    size: str
    figure: Figure
    judgement: Judgement
    simulated: bool


@dataclass(slots=True, kw_only=True)
class Night:
    """A night under way, whose rows can be read at any moment.

    Attributes:
        seconds: how long it may take.
        accepted: figures, as ``bench.figure``, whose level of tonight is the new usual one.
        ended: everything was looked at for which there was time.
        looks: what each bench has measured so far.
    """

    planned: Sequence[Planned]
    history: History
    machine: str
    seconds: float
    accepted: frozenset[str] = frozenset()
    now: Callable[[], float] = time.monotonic
    ended: bool = False
    looks: dict[str, list[Look]] = field(default_factory=dict)
    _hung: set[str] = field(default_factory=set)

    def take(self, look: Looking, heard: Callable[[str], None]) -> None:
        """Look at every bench that fits, then again at those with a suspect; tell ``heard`` before and after each."""
        end = self.now() + self.seconds
        for one in self.planned:
            if one.size is not None:
                self._look(one, one.size, look, end, heard)
        for one in self.planned:
            if one.size is not None and self._suspects(one):
                names = ", ".join(self._suspects(one))
                if end - self.now() < self.looks[one.watched.name][0].seconds:
                    heard(f"{one.watched.name}: {names} suspect, and no time to run it again")
                    continue
                heard(f"{one.watched.name}: {names} suspect, run again")
                self._look(one, one.size, look, end, heard)
        self.ended = True

    def rows(self) -> Iterator[Row]:
        """Yield what is known of each figure by now."""
        for one in self.planned:
            for figure in one.watched.figures:
                yield Row(
                    bench=one.watched.name,
                    size=one.size.name if one.size else "",
                    figure=figure,
                    judgement=self._judged(one, figure),
                    simulated=any(look.answer.get("simulated") for look in self.looks.get(one.watched.name, ())),
                )

    def past_nights(self, *, at: float, commit: str) -> list[PastNight]:
        """Return what later nights may be compared with: figures that are no alarm, nor suspect; and what hung."""
        found = []
        for one in self.planned:
            figures, accepted = {}, []
            for figure in one.watched.figures:
                judgement = self._measured(one, figure)
                if figure.must_be_zero or not judgement.values or judgement.verdict is Verdict.REGRESSED:
                    continue
                figures[figure.name] = night_value(judgement.values)
                if f"{one.watched.name}.{figure.name}" in self.accepted:
                    accepted.append(figure.name)
            hung = one.watched.name in self._hung
            if one.size and (figures or hung or self._ends_a_row(one, one.size)):
                found.append(
                    PastNight(
                        at=at,
                        machine=self.machine,
                        commit=commit,
                        bench=one.watched.name,
                        words=one.size.words,
                        figures=figures,
                        accepted=tuple(accepted),
                        hung=hung,
                    )
                )
        return found

    def _look(self, one: Planned, size: Size, look: Looking, end: float, heard: Callable[[str], None]) -> None:
        left = end - self.now()
        if left <= 0:
            return
        name = one.watched.name
        heard(f"{name}, {size.name}: about {size.seconds:.0f} s")
        patience = max(_PATIENCE * size.seconds, _LEAST_PATIENCE_S)
        found = look(one.watched.bench, size.words, seconds=min(left, patience))
        self.looks.setdefault(name, []).append(found)
        if found.late and left >= size.seconds and len(self.looks[name]) == 1:
            self._hung.add(name)
        heard("")

    def _ends_a_row(self, one: Planned, size: Size) -> bool:
        """Return whether a bench came to its end tonight, and not in the night before."""
        ended = any(not look.late for look in self.looks.get(one.watched.name, ()))
        return ended and self.history.hung(self.machine, one.watched.name, size.words) > 0

    def _suspects(self, one: Planned) -> list[str]:
        return [figure.name for figure in one.watched.figures if self._suspect(one, figure)]

    def _suspect(self, one: Planned, figure: Figure) -> bool:
        """Return whether a figure looks worse and has been measured once only."""
        found = self._measured(one, figure)
        return found.verdict is Verdict.REGRESSED and len(found.values) == 1

    def _judged(self, one: Planned, figure: Figure) -> Judgement:
        found = self._measured(one, figure)
        if not self._suspect(one, figure):
            return found
        return replace(found, verdict=Verdict.INCONCLUSIVE, why=f"suspect, and not run again: {found.why}")

    def _measured(self, one: Planned, figure: Figure) -> Judgement:
        if one.size is None:
            least = one.watched.sizes[0].seconds
            return _none(f"did not fit: it takes {least:.0f} s, and the night has {self.seconds:.0f}")
        looks = self.looks.get(one.watched.name, [])
        if not looks:
            return _none("no time was left" if self.ended else "the night was stopped before")
        if failed := [look.why for look in looks if look.why]:
            here = not one.watched.not_here or one.watched.not_here not in failed[0]
            return _none(failed[0], Verdict.BROKEN if here else Verdict.INCONCLUSIVE)
        values = [figure.value_in(look.answer) for look in looks if not look.late]
        if not values:
            return self._without_end(one, one.size, looks[-1])
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return _none("the bench tells no such figure, or one that is not above 0", Verdict.BROKEN)
        nights = self.history.values(self.machine, one.watched.name, one.size.words, figure.name)
        return judge(figure, known, [] if f"{one.watched.name}.{figure.name}" in self.accepted else nights)

    def _without_end(self, one: Planned, size: Size, look: Look) -> Judgement:
        why = f"ended after {look.seconds:.0f} s, for its time was over"
        before = self.history.hung(self.machine, one.watched.name, size.words)
        if one.watched.name not in self._hung or before + 1 < HUNG_NIGHTS:
            return _none(why)
        told = f"; so it went in the {before} nights before, and it should take about {size.seconds:.0f} s"
        return _none(why + told, Verdict.BROKEN)


def _none(why: str, verdict: Verdict = Verdict.INCONCLUSIVE) -> Judgement:
    return Judgement(verdict=verdict, why=why)

"""Conditions that pause a run that goes bad: ``no_answer>20%/200`` looks at the last 200 intents that ended."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qodebase.errors import QodebaseError
from qodebase.events import Ended, Event, Landed, RunStarted
from qodebase.intent import Ending

_CONDITION = re.compile(r"([a-z][a-z_ -]*?)\s*([<>])\s*(\d+(?:\.\d+)?)\s*%\s*/\s*(\d+)")
_ENDINGS = {ending.name.lower(): ending for ending in Ending if ending is not Ending.PENDING}


class BadCondition(QodebaseError):
    """A stop condition that cannot be read, or can never come true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """More (``>``) or fewer (``<``) than ``percent`` of the last ``window`` intents ended so."""

    text: str
    ending: Ending
    more: bool
    percent: float
    window: int

    def holds(self, ended: int) -> bool:
        """Return whether it is true of ``ended`` in a full window."""
        share = 100 * ended
        return share > self.percent * self.window if self.more else share < self.percent * self.window


def parse_condition(text: str) -> Condition:
    """Read ``ENDING>PERCENT%/LAST``.

    Raises:
        BadCondition: the text is no condition; the hint says how one is written.
    """
    hint = f"Write ENDING>PERCENT%/LAST, no_answer>20%/200 say; endings: {', '.join(_ENDINGS)}."
    found = _CONDITION.fullmatch(text.strip().lower())
    if found is None:
        raise BadCondition(f"{text!r} is no stop condition", hint=hint)
    name, sign, percent, window = found.groups()
    ending = _ENDINGS.get(re.sub(r"[ -]", "_", name))
    if ending is None:
        raise BadCondition(f"{text!r}: no intent ends as {name!r}", hint=hint)
    condition = Condition(text=text, ending=ending, more=sign == ">", percent=float(percent), window=int(window))
    if condition.window < 1 or not condition.holds(condition.window if condition.more else 0):
        raise BadCondition(f"{text!r} can never come true", hint=hint)
    return condition


class StopIf:
    """Hear how intents end in this sitting, and call ``stop`` once, as soon as a condition comes true.

    Only intents that end in this sitting count, so a run that was paused gets a new chance when it is resumed.
    """

    def __init__(self, conditions: Sequence[str], *, stop: Callable[[], None]) -> None:
        self._windows = [(parse_condition(text), deque[bool]()) for text in conditions]
        self._stop = stop
        self.told = ""

    def apply(self, event: Event) -> None:
        """Hear an event of the journal."""
        if isinstance(event, RunStarted):
            # What comes before it was left open by an earlier sitting.
            for _, window in self._windows:
                window.clear()
        elif self._windows and not self.told and isinstance(event, Landed | Ended):
            self._count(Ending.LANDED if isinstance(event, Landed) else event.ending)

    def _count(self, ending: Ending) -> None:
        for condition, window in self._windows:
            window.append(ending is condition.ending)
            if len(window) > condition.window:
                window.popleft()
            ended = sum(window)
            if len(window) == condition.window and condition.holds(ended):
                self.told = f"{condition.text}: {ended} of the last {condition.window} intents ended so"
                self._stop()
                return

"""What a run may use at most, over all its sittings: money, tokens, time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from qodebase.errors import QodebaseError

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


class BadCap(QodebaseError):
    """A cap that is no amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The caps of a run; None: no cap. ``seconds`` count while a process works on the run, on the run's clock."""

    cost_usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    def changed(self, newer: Caps) -> Caps:
        """Return these caps with those that ``newer`` names in their place."""
        given = {name: value for name in CAP_NAMES if (value := getattr(newer, name)) is not None}
        return replace(self, **given)

    def __bool__(self) -> bool:
        """Return whether there is any cap."""
        return self != NO_CAPS


NO_CAPS = Caps()
CAP_NAMES = tuple(field.name for field in fields(Caps))


class Most(NamedTuple):
    """The most that a call can use; ``usd`` is None where the price is not known."""

    tokens: int = 0
    usd: float | None = 0.0


def caps_of(*, cost: float | None = None, tokens: int | None = None, time: str = "") -> Caps:
    """Return the caps of ``--cost-cap``, ``--token-cap`` and ``--time-cap``.

    Raises:
        BadCap: one is below 0, or the time is no duration.
    """
    if cost is not None and not 0 <= cost < math.inf:
        raise BadCap(f"a cost cap of {cost} USD cannot be", hint="Give USD of 0 or more: --cost-cap 2.50.")
    if tokens is not None and tokens < 0:
        raise BadCap(f"a token cap of {tokens} cannot be", hint="Give 0 or more: --token-cap 2000000.")
    return Caps(cost_usd=cost, tokens=tokens, seconds=seconds_of(time, of="--time-cap") if time else None)


def seconds_of(text: str, *, of: str) -> float:
    """Return the seconds of a duration: ``90s``, ``30m``, ``1h30m``, ``2d``.

    Args:
        of: the option that gives it.

    Raises:
        BadCap: it is none.
    """
    bare = text.strip().lower().replace(" ", "")
    if not _DURATION.fullmatch(bare):
        raise BadCap(f"{of} {text!r} is no duration", hint="Write a number with s, m, h or d: 90s, 30m, 1h30m.")
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(bare))

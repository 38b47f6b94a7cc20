"""How long one thread of a sitting keeps the others waiting."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager

from qodebase.overlapping import Overlapping

_TURN_S = 0.0005


def short_turns() -> AbstractContextManager[None]:
    """Let threads take turns ten times as often as usual.

    The event loop gives the interpreter's lock away at every read, write, hash and compression; each time it would
    wait for a whole turn of the trunk's thread to get it back. The last sitting of a process to end leaves turns as
    the first has found them.
    """
    return _SHORT.block()


def _shorten() -> float:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, _TURN_S))
    return usual


_SHORT = Overlapping(_shorten, sys.setswitchinterval)

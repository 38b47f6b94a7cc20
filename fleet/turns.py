"""How long one thread of a sitting keeps the others waiting."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TURN_S = 0.0005


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads take turns ten times as often as usual.

    The event loop gives the interpreter's lock away at every read, write, hash and compression; each time it would
    wait for a whole turn of the trunk's thread to get it back.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN_S))
    try:
        yield
    finally:
        sys.setswitchinterval(before)

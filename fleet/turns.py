"""How long one thread of a sitting keeps the others waiting."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TURN_S = 0.0005
_LOCK = threading.Lock()
_FOUND: list[float] = []
"""The interval that each sitting of this process found; the first is the usual one."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads take turns ten times as often as usual.

    The event loop gives the interpreter's lock away at every read, write, hash and compression; each time it would
    wait for a whole turn of the trunk's thread to get it back. The last sitting of a process to end leaves turns as
    the first has found them.
    """
    with _LOCK:
        _FOUND.append(sys.getswitchinterval())
        sys.setswitchinterval(min(_FOUND[-1], _TURN_S))
    try:
        yield
    finally:
        with _LOCK:
            usual = _FOUND[0]
            _FOUND.pop()
            if not _FOUND:
                sys.setswitchinterval(usual)

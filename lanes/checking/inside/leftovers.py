"""What a test leaves changed in its process, taken back before a test of another check runs there."""

from __future__ import annotations

import contextlib
import os
import sys

_State = tuple[str, list[str], dict[bytes, bytes]]


class Leftovers:
    """The current folder, the search path and the environment, as far as tests themselves change them.

    What stays changed for all tests of a file or of a session, by a fixture say, was not changed by a test's own call.
    """

    def __init__(self) -> None:
        self._before: _State | None = None
        self._left: list[tuple[_State, _State]] = []

    def begin(self) -> None:
        """Note how a test finds the process."""
        self._before = _state()

    def end(self) -> None:
        """Note how it leaves the process."""
        before = self._before
        if before is not None and before != (_folder(), sys.path, _variables()):
            self._left.append((before, _state()))

    def take_back(self) -> None:
        """Make undone what tests left and what nobody has changed since then."""
        while self._left:
            _undo(*self._left.pop())


def _state() -> _State:
    return _folder(), sys.path.copy(), _variables().copy()


def _folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _variables() -> dict[bytes, bytes]:
    # Each name and value would be decoded anew at every look.
    return os.environ._data  # type: ignore[attr-defined,no-any-return]


def _undo(before: _State, after: _State) -> None:
    now = _state()
    if before[0] != after[0] == now[0]:
        with contextlib.suppress(OSError):
            os.chdir(before[0])
    if before[1] != after[1] == now[1]:
        sys.path[:] = before[1]
    for name in before[2].keys() | after[2].keys():
        if before[2].get(name) != after[2].get(name) == now[2].get(name):
            if name in before[2]:
                os.environb[name] = before[2][name]
            else:
                del os.environb[name]

"""Who asks for a file: told by the functions that are being called."""

from __future__ import annotations

import sys
from types import FrameType

_RUNNERS = ("_pytest.", "pluggy.", "lanes.checking.inside.")
# Of the entries of a folder that they are told of, these modules of Python ask nothing but the kind.
_WALKERS = frozenset(("os", "glob", "pathlib"))


class Askers:
    """Tells code of a folder from what runs it. Depths count from whoever asks here: 1 is the one who called that."""

    def __init__(self, folder: str) -> None:
        self._folder = folder + "/"

    def from_inside(self, depth: int) -> bool:
        """Return whether code of the folder asks, by way of others too, and not who runs the tests."""
        frame = sys._getframe(depth + 1)
        while frame.f_back is not None:
            if self._is_inside(frame):
                return True
            if self._is_runner(frame):
                return False
            frame = frame.f_back
        return True

    def import_(self, depth: int) -> bool:
        """Return whether Python asks, to import a module, or who runs the tests."""
        frame = sys._getframe(depth + 1)
        while frame.f_code.co_name == "get_data" and frame.f_back is not None:
            frame = frame.f_back
        above = frame.f_back
        if above is not None and (frame.f_code.co_name, above.f_code.co_name) == ("get_code", "exec_module"):
            return True
        return not self.from_inside(depth + 1)

    def fill_cache(self, depth: int) -> bool:
        """Return whether Python asks for the names in a folder once, for all imports from it."""
        return sys._getframe(depth + 1).f_code.co_name == "_fill_cache"

    def walk(self, depth: int) -> bool:
        """Return whether a walk through folders asks, which looks at no more than names and kinds."""
        frame = sys._getframe(depth + 1)
        return frame.f_globals.get("__name__") in _WALKERS and not self._is_inside(frame)

    def _is_inside(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self._folder)

    def _is_runner(self, frame: FrameType) -> bool:
        return not self._is_inside(frame) and str(frame.f_globals.get("__name__")).startswith(_RUNNERS)

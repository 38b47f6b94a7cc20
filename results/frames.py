"""The frames of a run as polars holds them, each computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError
from qodebase.runs import RunFolder
from results.columns import Columns
from results.kept_frames import KeptFrames
from results.schema import SCHEMAS

if TYPE_CHECKING:
    import polars as pl

MAKERS = MappingProxyType(
    {
        "intents": "intents",
        "attempts": "calls",
        "collisions": "collisions",
        "trains": "trains",
        "landings": "landings",
        "throughput": "throughput",
        "losses": "trains",
        "costs": "calls",
    }
)
"""For each frame, the module of `results.tables` with the function of its name that makes it."""


class NoFrame(QodebaseError):
    """A name that stands for no frame."""


class Frames:
    """The frames of one run; a frame of a run in which nothing happened is empty and has its schema.

    Args:
        folder: the run; nothing is read before a frame is asked for.
        kept: take frames from, and leave them in, the run folder's cache (`results.kept_frames`).
    """

    def __init__(self, folder: RunFolder, *, kept: bool = True) -> None:
        self.folder = folder
        self._columns = Columns(folder)
        self._kept = KeptFrames(folder) if kept else None

    @cached_property
    def intents(self) -> pl.DataFrame:
        """Return a row for each frozen intent."""
        return self._frame("intents")

    @cached_property
    def attempts(self) -> pl.DataFrame:
        """Return a row for each model call."""
        return self._frame("attempts")

    @cached_property
    def collisions(self) -> pl.DataFrame:
        """Return a row for each moved path that a change met."""
        return self._frame("collisions")

    @cached_property
    def trains(self) -> pl.DataFrame:
        """Return a row for each train that was judged."""
        return self._frame("trains")

    @cached_property
    def landings(self) -> pl.DataFrame:
        """Return a row for each landed intent."""
        return self._frame("landings")

    @cached_property
    def throughput(self) -> pl.DataFrame:
        """Return a row for each second of work."""
        return self._frame("throughput")

    @cached_property
    def losses(self) -> pl.DataFrame:
        """Return a row for each check lost in landing."""
        return self._frame("losses")

    @cached_property
    def costs(self) -> pl.DataFrame:
        """Return a row for each model and purpose."""
        return self._frame("costs")

    def frame(self, name: str) -> pl.DataFrame:
        """Return a frame by its name.

        Raises:
            NoFrame: there is none; the hint lists what there is.
        """
        if name not in SCHEMAS:
            raise NoFrame(f"no frame {name!r}", hint=f"There are {', '.join(SCHEMAS)}.")
        found: pl.DataFrame = getattr(self, name)
        return found

    def all(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield every frame with its name."""
        for name in SCHEMAS:
            yield name, self.frame(name)

    def _frame(self, name: str) -> pl.DataFrame:
        found = self._kept.read(name) if self._kept else None
        if found is None:
            found = import_module(f"results.tables.{MAKERS[name]}").__dict__[name](self._columns)
            assert found.schema == SCHEMAS[name].polars(), name
            if self._kept:
                self._kept.write(name, found)
        return found


def load(folder: RunFolder) -> Frames:
    """Return the frames of a run folder; nothing is read before a frame is asked for."""
    return Frames(folder)

"""The frames of a run as polars holds them, each computed when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from qodebase.runs import RunFolder
from results.rows import ROWS
from results.run_data import RunData, no_collecting
from results.schema import SCHEMAS

if TYPE_CHECKING:
    import polars as pl


class Frames:
    """The frames of one run; a frame of a run in which nothing happened is empty and has its schema."""

    def __init__(self, run: RunData) -> None:
        self.run = run

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

    def _frame(self, name: str) -> pl.DataFrame:
        import polars as pl

        schema = SCHEMAS[name]
        with no_collecting():
            columns = list(zip(*ROWS[name](self.run), strict=True))
        data = dict(zip(schema.names, columns, strict=True)) if columns else {}
        return pl.DataFrame(data, schema=schema.polars(), strict=True)


def load(folder: RunFolder) -> Frames:
    """Return the frames of a run folder; nothing is read before a frame is asked for."""
    return Frames(RunData(folder))

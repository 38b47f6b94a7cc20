"""A run's journal as columns: for every kind of event one table, and an intent's id as a number.

Frames of a long run are computed from these: a column holds a million values in a tenth of the memory and time that a
million events need.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from qodebase import events
from qodebase.events import Event
from qodebase.runs import RunFolder
from qodebase.skim import skim_intents
from results.journal_halves import journal_tables
from results.journal_tables import Numbers, Tables, series
from results.run_data import no_collecting
from results.schema import Type, polars_type
from results.working import BOOKKEEPERS, spans_of, took

if TYPE_CHECKING:
    import polars as pl

_FROZEN = ("id", "asked", "scope", "group", "priority", "ending", "reason")


class Columns:
    """The columns of a run, read once, when the first is asked for; a run without a journal has none.

    Intents are numbers in them: `ids` gives the id of each, and number 0 stands for no intent.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._numbers = Numbers({None: 0})
        self._made: dict[str, pl.DataFrame] = {}

    def of(self, kind: type[Event]) -> pl.DataFrame:
        """Return the events of a kind in order: ``place`` among all events, ``at``, ``simulated``, ``intent``, and own.

        Raises:
            BadData: the journal has a broken line.
        """
        return self._tables[kind]

    @cached_property
    def frozen(self) -> pl.DataFrame:
        """Return the frozen intents in order, each with its number; raises `BadData` naming the line."""
        import polars as pl

        with no_collecting():
            data = skim_intents(self.folder, _FROZEN)
        numbers = list(map(self._numbers.__getitem__, data["id"]))
        types = dict.fromkeys(_FROZEN, Type.TEXT) | {"scope": Type.TEXTS, "priority": Type.INT}
        made = {name: series(name, values, types[name]) for name, values in data.items()}
        return pl.DataFrame([pl.Series("intent", numbers, polars_type(Type.INT)), *made.values()])

    def named(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a frame with the intents' ids in the place of their numbers."""
        import polars as pl

        ids = pl.Series("intent", list(self._numbers), pl.String())
        return frame.with_columns(intent=ids.gather(frame["intent"]))

    def once(self, name: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return what ``make`` makes, made once for a name: what several frames need."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    @cached_property
    def started_at(self) -> float:
        """Return when the run first started, in seconds since the epoch on its clock; 0 before."""
        times = self.of(events.RunStarted)["at"]
        return float(times[0]) if len(times) else 0.0

    @cached_property
    def simulated(self) -> bool:
        """Return whether the run's seconds are virtual."""
        return bool(self.of(events.RunStarted)["simulated"].any())

    @cached_property
    def simulated_models(self) -> list[str]:
        """Return the names of the models that were simulated."""
        return self.of(events.RunStarted)["simulated_models"].explode().drop_nulls().unique().to_list()

    @property
    def second(self) -> pl.Expr:
        """Return the column ``second`` of a frame with ``at``: whole seconds since the run's first start."""
        import polars as pl

        return (pl.col("at") - self.started_at).cast(pl.Int64).alias("second")

    @cached_property
    def clock(self) -> pl.DataFrame:
        """Return place, time and sitting of all events, each in the row of its place, and whether it tells of work.

        What a process writes before it starts, of what a killed one left open, tells of none.
        """
        import polars as pl

        def works(table: pl.DataFrame) -> pl.Expr:
            known = "actor" in table.columns
            return ~pl.col("actor").is_in(BOOKKEEPERS) if known else pl.lit(True)

        tables = [table.select("place", "at", "simulated", works=works(table)) for table in self._tables.values()]
        return self.with_sitting(pl.concat(tables).sort("place"))

    @cached_property
    def spans(self) -> pl.DataFrame:
        """Return when each process was at work; see `results.working`."""
        return spans_of(self.clock)

    def took(self, frame: pl.DataFrame, since: str, until: str) -> pl.Series:
        """Return the seconds of work on the run from one moment of each row to a later one."""
        return took(self.spans, frame[since], frame[until])

    def with_sitting(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a frame, sorted by place, with the sitting that wrote each row; 0 before the first."""
        import polars as pl

        starts = self.of(events.RunStarted).select("place", "sitting")
        return frame.join_asof(starts, on="place").with_columns(pl.col("sitting").fill_null(0))

    @cached_property
    def _tables(self) -> Tables:
        return journal_tables(self.folder.journal, self._numbers)

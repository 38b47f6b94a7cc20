"""A run's journal as columns: for every kind of event one table, and an intent's id as a number.

Frames of a long run are computed from these: a column holds a million values in a tenth of the memory and time that a
million events need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from qodebase import events
from qodebase.events import Event
from qodebase.runs import RunFolder
from qodebase.skim import Block, Skimmer, skim_intents
from results.run_data import no_collecting
from results.schema import Type, polars_type

if TYPE_CHECKING:
    import polars as pl

_CALL = {"attempt": Type.INT, "call": Type.INT, "model": Type.TEXT}
_RIDE = {"attempt": Type.INT, "lane": Type.TEXT, "train": Type.TEXT}
_KINDS: Mapping[type[Event], Mapping[str, Type]] = MappingProxyType(
    {
        events.RunStarted: {"sitting": Type.INT},
        events.RunStopped: {},
        events.Admitted: {"actor": Type.TEXT},
        events.Asked: {**_CALL, "purpose": Type.TEXT, "prompt": Type.TEXT},
        events.Answered: {
            **_CALL,
            "outcome": Type.TEXT,
            "why": Type.TEXT,
            "source": Type.TEXT,
            "named": Type.TEXT,
            "input_tokens": Type.INT,
            "cached_tokens": Type.INT,
            "output_tokens": Type.INT,
            "cost_usd": Type.FLOAT,
            "latency_s": Type.FLOAT,
        },
        events.CutOff: dict(_CALL),
        events.Postponed: {},
        events.ChangeMade: {"base": Type.TEXT, "paths": Type.INT},
        events.Queued: {"lane": Type.TEXT},
        events.TrainBuilt: {
            "train": Type.TEXT,
            "members": Type.TEXTS,
            "tip": Type.TEXT,
            "size": Type.INT,
            "guessed": Type.BOOL,
        },
        events.Judged: {
            "lane": Type.TEXT,
            "train": Type.TEXT,
            "tree": Type.TEXT,
            "verdict": Type.TEXT,
            "checks": Type.INT,
            "flake": Type.BOOL,
            "of": Type.TEXT,
            "runs": Type.INT,
            "failed": Type.TEXTS,
        },
        events.CheckLost: {
            "check": Type.TEXT,
            "owner": Type.TEXT,
            "by": Type.TEXT,
            "commit": Type.TEXT,
            "cause": Type.TEXT,
        },
        events.Wasted: {"calls": Type.INT, "cost_usd": Type.FLOAT},
        events.CollisionMet: {
            **_RIDE,
            "replay": Type.INT,
            "path": Type.TEXT,
            "moved_to": Type.TEXT,
            "kind": Type.TEXT,
            "intents": Type.TEXTS,
            "count": Type.INT,
            "foreign": Type.TEXTS,
            "by": Type.TEXT,
            "declined": Type.TEXTS,
        },
        events.Replayed: {"attempt": Type.INT, "base": Type.TEXT, "replay": Type.INT},
        events.Landed: {**_RIDE, "commit": Type.TEXT, "parent": Type.TEXT, "replay": Type.INT},
        events.Ended: {"ending": Type.TEXT, "reason": Type.TEXT},
        Event: {},
    }
)
"""The columns of every kind beside its place, time and intent; `Event` stands for all other kinds."""

_BLOCKS = 256
_HEAD = {"at": Type.FLOAT, "simulated": Type.BOOL, "intent": Type.INT}
_FROZEN = ("id", "asked", "scope", "group", "priority", "ending", "reason")


def _collided(values: Sequence[Any]) -> dict[str, list[Any]]:
    plain = ("path", "moved_to", "kind", "intents", "count", "foreign")
    return {name: list(map(attrgetter(name), values)) for name in plain} | {
        "by": [one.steps[-1].by if one.steps and not one.steps[-1].declined else "" for one in values],
        "declined": [[f"{step.by}: {step.declined}" for step in one.steps if step.declined] for one in values],
    }


_UNFOLDED: Mapping[str, Callable[[Sequence[Any]], dict[str, list[Any]]]] = MappingProxyType(
    {"paths": lambda values: {"paths": list(map(len, values))}, "collided": _collided}
)
"""Fields that hold more than one value, and the columns that are made of them."""


def _fields(kind: type[Event]) -> list[str]:
    """Return which fields of a kind its columns are made of."""
    return [*_HEAD, *(["collided"] if kind is events.CollisionMet else []), *filter(_own(kind), _KINDS[kind])]


def _types(kind: type[Event]) -> dict[str, Type]:
    return {"place": Type.INT, **_HEAD, **_KINDS[kind]}


def _own(kind: type[Event]) -> Callable[[str], bool]:
    return lambda name: name in kind.__struct_fields__


class _Numbers(dict[str | None, int]):
    """A number for each key, given when it is first asked for."""

    def __missing__(self, key: str | None) -> int:
        self[key] = number = len(self)
        return number


class Columns:
    """The columns of a run, read once, when the first is asked for; a run without a journal has none.

    Intents are numbers in them: `ids` gives the id of each, and number 0 stands for no intent.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._numbers = _Numbers({None: 0})
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
        made = {name: _series(name, values, types[name]) for name, values in data.items()}
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

    @property
    def second(self) -> pl.Expr:
        """Return the column ``second`` of a frame with ``at``: whole seconds since the run's first start."""
        import polars as pl

        return (pl.col("at") - self.started_at).cast(pl.Int64).alias("second")

    @cached_property
    def clock(self) -> pl.DataFrame:
        """Return place, time and sitting of all events, each in the row of its place."""
        import polars as pl

        tables = [table.select("place", "at", "simulated") for table in self._tables.values()]
        return self.with_sitting(pl.concat(tables).sort("place"))

    def with_sitting(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a frame, sorted by place, with the sitting that wrote each row; 0 before the first."""
        import polars as pl

        starts = self.of(events.RunStarted).select("place", "sitting")
        return frame.join_asof(starts, on="place").with_columns(pl.col("sitting").fill_null(0))

    @cached_property
    def _tables(self) -> dict[type[Event], pl.DataFrame]:
        import polars as pl

        parts = {
            kind: [pl.DataFrame([_series(name, [], type) for name, type in _types(kind).items()])] for kind in _KINDS
        }
        if self.folder.journal.exists():
            skimmer = Skimmer({kind: _fields(kind) for kind in _KINDS})
            with no_collecting():
                blocks = skimmer.blocks(self.folder.journal)
                while some := list(islice(blocks, _BLOCKS)):
                    self._add(some, parts)
        return {kind: pl.concat(tables, rechunk=True) for kind, tables in parts.items()}

    def _add(self, blocks: Sequence[Block], parts: dict[type[Event], list[pl.DataFrame]]) -> None:
        import polars as pl

        for kind in _KINDS:
            fields: list[list[Any]] = [[] for _ in range(1 + len(_fields(kind)))]
            for block in blocks:
                if kind in block:
                    for values, more in zip(fields, block[kind], strict=True):
                        values += more
            columns: dict[str, Sequence[Any]] = {}
            for name, values in zip(("place", *_fields(kind)), fields, strict=True):
                if name == "intent":
                    columns[name] = list(map(self._numbers.__getitem__, values))
                else:
                    columns |= _UNFOLDED[name](values) if name in _UNFOLDED else {name: values}
            if fields[0]:
                parts[kind].append(
                    pl.DataFrame([_series(name, columns[name], type) for name, type in _types(kind).items()])
                )


def _series(name: str, values: Sequence[Any], type: Type) -> pl.Series:
    import polars as pl

    if type is Type.TEXTS:
        return _lists(name, values)
    return pl.Series(name, values, polars_type(type), strict=True)


def _lists(name: str, rows: Sequence[Sequence[str]]) -> pl.Series:
    """Return a column of lists; polars makes a series of every single list, which takes a hundred times as long."""
    import polars as pl

    flat = pl.DataFrame(
        [
            pl.Series("row", [at for at, row in enumerate(rows) for _ in row], pl.Int64()),
            pl.Series(name, [text for row in rows for text in row], pl.String()),
        ]
    )
    lists = flat.group_by("row", maintain_order=True).agg(name)
    every = pl.DataFrame({"row": pl.int_range(len(rows), eager=True)})
    empty = pl.lit([], pl.List(pl.String()))
    return (
        every.join(lists, on="row", how="left", maintain_order="left")[name]
        .to_frame()
        .select(pl.col(name).fill_null(empty))[name]
    )

"""A journal's events as tables, one for each kind, made block by block; intents are numbers in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from qodebase import events
from qodebase.events import Event
from qodebase.skim import Block, Skimmer
from results.run_data import no_collecting
from results.schema import Type, polars_type

if TYPE_CHECKING:
    import polars as pl

Tables = dict[type[Event], "pl.DataFrame"]

_CALL = {"attempt": Type.INT, "call": Type.INT, "model": Type.TEXT}
_RIDE = {"attempt": Type.INT, "lane": Type.TEXT, "train": Type.TEXT}
KINDS: Mapping[type[Event], Mapping[str, Type]] = MappingProxyType(
    {
        events.RunStarted: {"sitting": Type.INT, "simulated_models": Type.TEXTS},
        events.RunStopped: {},
        events.Held: {"by": Type.TEXT},
        events.Admitted: {"actor": Type.TEXT, "attempt": Type.INT},
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
        events.CutOff: {"actor": Type.TEXT, **_CALL},
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
            "inherited": Type.INT,
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
            "actor": Type.TEXT,
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
        events.Landed: {"actor": Type.TEXT, **_RIDE, "commit": Type.TEXT, "parent": Type.TEXT, "replay": Type.INT},
        events.Ended: {"ending": Type.TEXT, "reason": Type.TEXT},
        Event: {"actor": Type.TEXT},
    }
)
"""The columns of every kind beside its place, time and intent; `Event` stands for all other kinds."""

_BLOCKS = 256
_HEAD = {"at": Type.FLOAT, "simulated": Type.BOOL, "intent": Type.INT}


def _collided(values: Sequence[Any]) -> dict[str, list[Any]]:
    plain = ("path", "moved_to", "kind", "intents", "count", "foreign")
    return {name: list(map(attrgetter(name), values)) for name in plain} | {
        "by": [one.steps[-1].by if one.steps and not one.steps[-1].declined else "" for one in values],
        "declined": [[f"{step.by}: {step.declined}" for step in one.steps if step.declined] for one in values],
    }


def _simulated(values: Sequence[Any]) -> dict[str, list[Any]]:
    return {"simulated_models": [[name for name, kind in models.items() if kind.simulated] for models in values]}


_UNFOLDED: Mapping[str, Callable[[Sequence[Any]], dict[str, list[Any]]]] = MappingProxyType(
    {"paths": lambda values: {"paths": list(map(len, values))}, "collided": _collided, "models": _simulated}
)
"""Fields that hold more than one value, and the columns that are made of them."""
_FOLDED: Mapping[type[Event], Sequence[str]] = MappingProxyType(
    {events.CollisionMet: ("collided",), events.RunStarted: ("models",)}
)
"""Those of them that no column is named after."""


def _fields(kind: type[Event]) -> list[str]:
    """Return which fields of a kind its columns are made of."""
    return [*_HEAD, *_FOLDED.get(kind, ()), *filter(_own(kind), KINDS[kind])]


def _types(kind: type[Event]) -> dict[str, Type]:
    return {"place": Type.INT, **_HEAD, **KINDS[kind]}


def _own(kind: type[Event]) -> Callable[[str], bool]:
    return lambda name: name in kind.__struct_fields__


class Numbers(dict[str | None, int]):
    """A number for each key, given when it is first asked for."""

    def __missing__(self, key: str | None) -> int:
        self[key] = number = len(self)
        return number


def tables_of(journal: Path, numbers: Numbers, *, start: int = 0, end: int | None = None, place: int = 0) -> Tables:
    """Return a table for each of `KINDS`: ``place`` among all events, ``at``, ``simulated``, ``intent``, and own.

    Args:
        numbers: gets a number for each intent that has none.
        start, end: only the lines between these bytes; ``start`` begins a line.
        place: of the first event there.

    Raises:
        BadData: the journal has a broken line; one that is torn at the end is none.
    """
    import polars as pl

    skimmer = Skimmer({kind: _fields(kind) for kind in KINDS})
    parts = {kind: [pl.DataFrame([series(name, [], type) for name, type in _types(kind).items()])] for kind in KINDS}
    with no_collecting():
        blocks = skimmer.blocks(journal, start=start, end=end, place=place)
        while some := list(islice(blocks, _BLOCKS)):
            for kind, table in _made_of(some, numbers):
                parts[kind].append(table)
    return {kind: pl.concat(tables, rechunk=True) for kind, tables in parts.items()}


def _made_of(blocks: Sequence[Block], numbers: Numbers) -> Iterator[tuple[type[Event], pl.DataFrame]]:
    import polars as pl

    for kind in KINDS:
        fields: list[list[Any]] = [[] for _ in range(1 + len(_fields(kind)))]
        for block in blocks:
            if kind in block:
                for values, more in zip(fields, block[kind], strict=True):
                    values += more
        columns: dict[str, Sequence[Any]] = {}
        for name, values in zip(("place", *_fields(kind)), fields, strict=True):
            if name == "intent":
                columns[name] = list(map(numbers.__getitem__, values))
            else:
                columns |= _UNFOLDED[name](values) if name in _UNFOLDED else {name: values}
        if fields[0]:
            yield kind, pl.DataFrame([series(name, columns[name], type) for name, type in _types(kind).items()])


def series(name: str, values: Sequence[Any], type: Type) -> pl.Series:
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

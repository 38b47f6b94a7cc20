"""The story of every intent, packed for the page's script, which unpacks a piece when somebody opens a story in it.

Stories stand in order of interest: what did not land first, then what collided, then what took longest. They are cut
into pieces of so many intents, each gzipped JSON in base64; what does not fit into the page's limit is left out, least
interesting first, and stays in the list without its story.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from results.frames import Frames

if TYPE_CHECKING:
    import polars as pl

PIECE = 500
"""Stories in one piece."""

_LONGEST = 600
_MOST = 20
_PATHS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Stories:
    """The stories of a run.

    Attributes:
        index: packed: what the list shows of every intent, a list a column.
        pieces: packed stories, `PIECE` of them in each, in the order of the index.
        told, left_out: how many intents have a story on the page, and how many have none for want of room.
    """

    index: str
    pieces: tuple[str, ...]
    told: int
    left_out: int


def stories(frames: Frames, started_at: float, *, limit: int) -> Stories:
    """Pack the stories of a run.

    Args:
        started_at: when the run began, in seconds since the epoch on its clock.
        limit: the most characters that the packed stories may have.
    """
    intents = _ordered(frames.intents)
    rows = intents.to_dicts()
    teller = _Teller(frames, started_at)
    pieces: list[str] = []
    used = 0
    for begin in range(0, len(rows), PIECE):
        piece = packed([teller.story(row) for row in rows[begin : begin + PIECE]])
        used += len(piece)
        if used > limit:
            break
        pieces.append(piece)
    told = min(len(rows), len(pieces) * PIECE)
    return Stories(index=packed(_index(intents)), pieces=tuple(pieces), told=told, left_out=len(rows) - told)


def packed(value: Any) -> str:
    """Return a value as gzipped JSON in base64; the same value gives the same text."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _ordered(intents: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    rank = pl.col("ending").replace_strict({"landed": 1, "skipped": 2}, default=0, return_dtype=pl.Int64)
    return intents.sort(
        rank,
        pl.col("collided").fill_null(0) > 0,
        pl.col("seconds").fill_null(-1.0),
        descending=[False, True, True],
        maintain_order=True,
    )


def _index(intents: pl.DataFrame) -> dict[str, list[Any]]:
    columns = ("intent", "ending", "reason", "lane", "seconds", "collided", "calls")
    return {name: [_short(value, 160) for value in intents[name].to_list()] for name in columns}


class _Teller:
    """Makes stories from frames."""

    def __init__(self, frames: Frames, started_at: float) -> None:
        self._from = started_at
        self._calls = _by_intent(frames.attempts)
        self._collisions = _by_intent(frames.collisions)
        self._trains = {row["train"]: row for row in frames.trains.to_dicts() if row["of"] == "train"}

    def story(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the story of an intent without what is empty."""
        times = [(name, self._since(row[f"{name}_at"])) for name in ("admitted", "answered", "queued", "ended")]
        names = ("asked", "group", "agent", "lane", "commit", "attempts", "replays", "cost_usd", "priority")
        told: dict[str, Any] = {name: _short(row[name]) for name in names}
        told |= {"scope": row["scope"][:_PATHS], "paths": len(row["scope"])}
        told["times"] = [[name, at] for name, at in times if at is not None]
        told["train"] = self._train(row["train"])
        told["moves"] = [self._collision(one) for one in self._collisions.get(row["intent"], ())[:_MOST]]
        told["asked_of"] = [self._call(one) for one in self._calls.get(row["intent"], ())[:_MOST]]
        return {name: value for name, value in told.items() if value not in (None, "", [], 0)}

    def _train(self, name: str | None) -> dict[str, Any] | None:
        row = self._trains.get(name)
        if row is None:
            return {"train": name} if name else None
        return {one: _short(row[one]) for one in ("train", "size", "verdict", "checks", "flake")}

    def _collision(self, row: Mapping[str, Any]) -> dict[str, Any]:
        names = (
            "attempt",
            "path",
            "moved_to",
            "collision",
            "with_intents",
            "moved_by",
            "redone_by",
            "rule",
            "declined",
        )
        return {name: _short(row[name]) for name in names if row[name]}

    def _call(self, row: Mapping[str, Any]) -> dict[str, Any]:
        names = ("attempt", "purpose", "model", "source", "outcome", "why", "input_tokens", "output_tokens", "cost_usd")
        return {name: _short(row[name]) for name in names if row[name]} | {"latency_s": _rounded(row["latency_s"])}

    def _since(self, at: float | None) -> float | None:
        return None if at is None else round(at - self._from, 3)


def _by_intent(frame: pl.DataFrame) -> dict[str, Sequence[Mapping[str, Any]]]:
    found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        found[row["intent"]].append(row)
    return dict(found)


def _short(value: Any, most: int = _LONGEST) -> Any:
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]} [{len(value) - most} more characters]"
    if isinstance(value, float):
        return _rounded(value)
    return [_short(one, most) for one in value[:_PATHS]] if isinstance(value, list) else value


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")

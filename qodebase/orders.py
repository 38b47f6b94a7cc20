"""Orders of people to a run: files in its folder, which a live process takes in and journals.

Files, not a socket: an order outlives a kill of either side, needs no path of at most 107 bytes, and is taken in once,
because the journal holds its id before the file goes. Each is written whole under another name and then renamed, so
nobody reads half of one; only the owner of the run can read or write them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from qodebase.codec import JSON, json_decoder

_SUFFIX = ".json"


class What(StrEnum):
    """What a person can order."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    DRAIN = "drain"


class Order(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One order.

    Attributes:
        id: unique, in the journal once it was taken in.
        to: the process that pause and resume are for, as `qodebase.runs.RunFolder.holder` names it; others drop them.
        intents: what a cancel is of; ``everything``: all that are pending when it is taken in.
        reason: why, for the endings.
        lane: the lane that pause, drain and resume are for; empty: the whole run (which drains by a signal).
    """

    id: str
    what: What
    to: str = ""
    intents: tuple[str, ...] = ()
    everything: bool = False
    reason: str = ""
    lane: str = ""


class Given(NamedTuple):
    """An order that waits in the folder."""

    order: Order
    path: Path

    def remove(self) -> None:
        """Take the order away; one that is gone already is no fault."""
        self.path.unlink(missing_ok=True)


def new_id() -> str:
    """Return an id for an order: 16 hex digits."""
    return secrets.token_hex(8)


class Orders:
    """The orders of one run, in the order of their coming."""

    def __init__(self, run: Path) -> None:
        self._folder = run / "orders"

    def give(self, order: Order) -> Given:
        """Leave an order for the run; it is on disk when this returns."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        partial = self._folder / f"{order.id}.part"
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as out:
            out.write(JSON.encode(order))
            out.flush()
            os.fsync(descriptor)
        taken = [int(name.partition("-")[0]) for name in self._names()]
        path = self._folder / f"{max(taken, default=0) + 1:06d}-{order.id}{_SUFFIX}"
        partial.rename(path)
        return Given(order, path)

    def waiting(self) -> Iterator[Given]:
        """Yield what is waiting; a file that holds no order is put aside under another name."""
        for name in self._names():
            path = self._folder / name
            try:
                yield Given(json_decoder(Order).decode(path.read_bytes()), path)
            except FileNotFoundError:
                continue
            except msgspec.DecodeError:
                with contextlib.suppress(FileNotFoundError):
                    path.rename(path.with_suffix(".unreadable"))

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._folder) if name.endswith(_SUFFIX))
        except FileNotFoundError:
            return []

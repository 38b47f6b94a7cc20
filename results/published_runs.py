"""The runs that other systems published of themselves, as data: one TOML file each in ``published``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from qodebase.codec import BadData, convert
from qodebase.errors import QodebaseError

_FOLDER = Path(__file__).parent / "published"


class NotPublished(QodebaseError):
    """A name that is of no published run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One published figure.

    Attributes:
        unit: as in `results.metrics`; ``1`` is a share.
        what: what was counted.
        grows: it grows with the size of the work, so that a smaller run has a smaller one.
        source: where it was published, if elsewhere than the run's others.
    """

    name: str
    value: float
    unit: str
    what: str
    grows: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published run.

    Attributes:
        name: the file's name.
        source: the system, and what the figures are taken from.
        work: what was done.
        agents, intents: the size of the work; 0: not published.
        missing: why it cannot be reproduced yet; empty: it can.
    """

    name: str
    source: str
    work: str
    figures: tuple[Figure, ...]
    agents: int = 0
    intents: int = 0
    missing: str = ""


def published_names() -> list[str]:
    """Return the names of all published runs, sorted."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


def published_run(name: str) -> Published:
    """Read a published run.

    Raises:
        NotPublished: there is none of this name.
        BadData: its file does not hold what it should.
    """
    if name not in published_names():
        raise NotPublished(f"no published run {name!r}", hint=f"There are {', '.join(published_names())}.")
    file = _FOLDER / f"{name}.toml"
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadData(f"{file}: {error}") from None
    return convert({**found, "name": name}, Published, source=str(file))

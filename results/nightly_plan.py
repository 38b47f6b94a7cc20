"""What a night measures: one TOML file a bench in ``baselines``, and the sizes that fit into a time."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qodebase.codec import BadData, convert
from qodebase.errors import QodebaseError
from results.nightly import Figure

_FOLDER = Path(__file__).parent / "baselines"
_FIRST_LOOK = 0.7
"""The part of the time that is planned for; what is left is for second looks and a slow machine."""


class NotWatched(QodebaseError):
    """A name that no file of ``baselines`` has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A size of a bench's work.

    Attributes:
        words: what the bench's command line gets.
        seconds: what it takes on a machine of two cores.
    """

    name: str
    words: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A bench that nights measure.

    Attributes:
        name: its file's.
        bench: what is run; where the file does not say so, the bench of its name.
        order: those with a small one come first, and get the time first.
        sizes: from small to large.
        not_here: words of its error where a machine cannot measure it, which is no alarm.
    """

    name: str
    bench: str
    order: int
    sizes: tuple[Size, ...]
    figures: tuple[Figure, ...]
    not_here: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A bench and the size that fits; None: none does."""

    watched: Watched
    size: Size | None


def watched_benches(only: Sequence[str] = (), folder: Path = _FOLDER) -> list[Watched]:
    """Return the benches that nights measure, in their order; ``only`` some of them.

    Raises:
        NotWatched: there is none of a name.
        BadData: a file does not hold what it should.
    """
    found = sorted((_read(file) for file in folder.glob("*.toml")), key=lambda one: (one.order, one.name))
    names = [one.name for one in found]
    if unknown := sorted({*only} - {*names}):
        raise NotWatched(f"no nightly bench {unknown[0]!r}", hint=f"There are {', '.join(names)}.")
    return [one for one in found if not only or one.name in only]


def plan(benches: Sequence[Watched], seconds: float) -> list[Planned]:
    """Choose the size of each bench: first the smallest of each as far as they fit, then larger ones, in order.

    It depends on nothing but its arguments, so that every night with the same time measures the same.
    """
    left = _FIRST_LOOK * seconds
    chosen: list[int] = []
    for bench in benches:
        fits = bench.sizes[0].seconds <= left
        chosen.append(0 if fits else -1)
        left -= bench.sizes[0].seconds if fits else 0.0
    for number, bench in enumerate(benches):
        while 0 <= chosen[number] < len(bench.sizes) - 1:
            more = bench.sizes[chosen[number] + 1].seconds - bench.sizes[chosen[number]].seconds
            if more > left:
                break
            chosen[number] += 1
            left -= more
    return [
        Planned(watched=bench, size=bench.sizes[at] if at >= 0 else None)
        for bench, at in zip(benches, chosen, strict=True)
    ]


def _read(file: Path) -> Watched:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadData(f"{file}: {error}") from None
    watched = convert({"bench": file.stem, **found, "name": file.stem}, Watched, source=str(file))
    if not watched.sizes or not watched.figures:
        raise BadData(f"{file}: a nightly bench has at least one size and one figure")
    if any(figure.better not in ("higher", "lower") or figure.smallest_effect <= 0 for figure in watched.figures):
        raise BadData(f"{file}: `better` is higher or lower, and `smallest_effect` above 0")
    return watched

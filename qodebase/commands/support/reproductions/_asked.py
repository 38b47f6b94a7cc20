"""What a reproduction is asked for, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from results.published_runs import Published


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One run of a reproduction.

    Attributes:
        published: the run that is reproduced.
        space: an empty folder to work in.
        sources: where codebases that were fetched are kept for the next time.
        scale: the size of the work, as a part of the published one.
        seed: from 1; each run has another.
        model: who is asked; empty where the reproduction has no choice of models.
        repositories: the caller's; none: what the reproduction finds by itself.
        offline: fetch nothing.
        say: is told what is going on.
    """

    published: Published
    space: Path
    sources: Path
    scale: float
    seed: int
    model: str = ""
    repositories: tuple[Path, ...] = ()
    offline: bool = False
    say: Callable[[str], None] = lambda text: None

    def sized(self, whole: int, *, least: int = 1) -> int:
        """Return a number of the published work at this scale."""
        return max(least, round(whole * self.scale))


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a run came to.

    Attributes:
        figures: by the names of the published ones; those that cannot be measured here stand in ``unknown``, with why.
        differs: what was otherwise than in the published run.
        verified: whether the audits of its runs found nothing; None: none was made.
        simulated: seconds are virtual.
    """

    figures: Mapping[str, float]
    differs: tuple[str, ...]
    unknown: Mapping[str, str] = field(default_factory=dict)
    verified: bool | None = None
    simulated: bool = False

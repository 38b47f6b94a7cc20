"""What ``run.plot`` is in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.runs import RunFolder
from results.frames import Frames
from results.metrics import SCORE
from results.plots import outcomes, over_time, several
from results.plots.plot import Plot

if TYPE_CHECKING:
    from results.dial import Dial


class RunPlots:
    """The plots of a run, made from its frames as they are now; each is a `results.plots.plot.Plot`.

    Args:
        frames: returns the run's frames.
    """

    def __init__(self, frames: Callable[[], Frames]) -> None:
        self._frames = frames

    def all(self) -> list[Plot]:
        """Return every plot of the run itself."""
        overview = [self.ledger(), self.throughput(), self.in_flight(), self.lanes(), self.collisions()]
        return [*overview, self.time_to_land(), self.trains(), self.calls()]

    def ledger(self) -> Plot:
        """Return how many intents stand at each ending."""
        return outcomes.ledger(self._frames())

    def throughput(self) -> Plot:
        """Return landings a second over the run's time, with their mean."""
        return over_time.throughput(self._frames())

    def in_flight(self) -> Plot:
        """Return how many intents were with agents and how many waited in lanes, over the run's time."""
        return over_time.in_flight(self._frames())

    def lanes(self) -> Plot:
        """Return what landed in each lane over the run's time."""
        return over_time.lanes(self._frames())

    def collisions(self) -> Plot:
        """Return the paths that had moved under an attempt, by what redid them at last and by kind."""
        return outcomes.collisions(self._frames())

    def time_to_land(self) -> Plot:
        """Return which share of the landed intents had landed after how long."""
        return outcomes.time_to_land(self._frames())

    def trains(self) -> Plot:
        """Return how many trains of each size the gate found green, red or on hold."""
        return outcomes.trains(self._frames())

    def calls(self) -> Plot:
        """Return the model calls by model and purpose, and how they ended."""
        return outcomes.calls(self._frames())

    def dial(self, y: str = "passing", *, of: Dial | str | Path | None = None) -> Plot:
        """Return one figure of a collision dial, every seed a point.

        Args:
            y: which figure; a column of `results.dial.SETTINGS`.
            of: a measured dial, or a folder of scored runs; None: the folder that this run is in.

        Raises:
            NothingScored: there is no scored run, or no such figure.
        """
        if of is None:
            of = self._frames().folder.root.resolve().parent
        if not isinstance(of, str | Path):
            return several.dial_plot(of.settings, y)
        return several.dial_plot(several.scored_settings([Frames(folder) for folder in _scored(Path(of))]), y)


def _scored(home: Path) -> list[RunFolder]:
    """Return the scored runs below a folder."""
    return [RunFolder(path.parent) for path in sorted(home.rglob(SCORE))]

"""What a report says of one run, gathered once: settings, frames, metrics, ledger."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError
from qodebase.runs import RunFolder
from results.evidence import gather
from results.frames import Frames
from results.ledger import Ledger, ledger_of
from results.metrics import values_of
from results.repository import Repository
from results.run_data import RunData

if TYPE_CHECKING:
    import polars as pl

    from qodebase.runs import Settings


@dataclass(kw_only=True)
class Subject:
    """A run that a page is about.

    Attributes:
        folder: where it lies.
        key: what the ids of its elements begin with.
        name: what it is called on the page; runs of one page have different names.
    """

    folder: RunFolder
    key: str
    name: str
    frames: Frames = field(init=False)

    def __post_init__(self) -> None:
        self.frames = Frames(self.folder)

    @cached_property
    def settings(self) -> Settings:
        """Return what the run was started with; raises `BadData`."""
        return self.folder.settings()

    @cached_property
    def metrics(self) -> dict[str, float]:
        """Return the run's metrics that have a value."""
        return values_of(self.frames)

    @cached_property
    def simulated(self) -> bool:
        """Return whether the run's seconds are virtual."""
        return bool(self.frames.throughput["simulated"].any())

    @cached_property
    def simulated_model(self) -> bool:
        """Return whether a model that was asked is simulated."""
        return bool(self.frames.costs["simulated_model"].any())

    @cached_property
    def started_at(self) -> float:
        """Return when the run first started, in seconds since the epoch on its clock; 0 before."""
        first = self.frames.throughput.head(1)
        return float(first["at"][0]) - float(first["second"][0]) if first.height else 0.0

    @cached_property
    def endings(self) -> dict[str, int]:
        """Return how many intents stand at each ending, by the journal."""
        return dict(self.frames.intents["ending"].value_counts().iter_rows())

    @cached_property
    def ledger(self) -> Ledger | str:
        """Return the ledger that an audit draws up from journal and repository, or why it cannot be drawn up."""
        if not self.folder.repository.exists():
            return ledger_of(RunData(self.folder).state, None)
        try:
            with Repository(self.folder.repository) as repository:
                evidence = gather(self.folder, repository)
                if evidence is None:
                    return f"the run's repository has no branch {self.settings.branch}"
                with closing(evidence):
                    return ledger_of(evidence.state, evidence.history)
        except QodebaseError as error:
            return error.message

    @cached_property
    def places(self) -> pl.DataFrame:
        """Return the paths that moved most under changes, as ``path, collisions, intents``."""
        import polars as pl

        met = self.frames.collisions.group_by("path").agg(collisions=pl.len(), intents=pl.col("intent").n_unique())
        return met.sort("collisions", "path", descending=(True, False))

"""How the lanes of a run work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a run's settings say of its lanes; see `qodebase.runs.Settings`.

    Attributes:
        train_max: the largest train of a lane.
        prefetch: make the next train while one is at the gate.
        contract: checks of landed intents, and the job's standing ones, stay in force.
        read_sets: compare what checks read with what landed meanwhile, before main moves, and with other trees on
            which they were green.
        inside: a lane waits while a model redoes one of its changes.
        most_replays: how often a model may redo a change within one attempt.
    """

    train_max: int = 64
    prefetch: bool = True
    contract: bool = True
    read_sets: bool = True
    inside: bool = False
    most_replays: int = 3

"""What the revert job can be told."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The job's flags, and its table in a job file; `qodebase revert RUN` fills them in."""

    undo: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "A commit of the branch to take back; repeatable. The newest goes first.",
            "metavar": "COMMIT",
        },
    )
    shared: dict[str, tuple[str, ...]] = field(
        default_factory=dict,
        metadata={
            "help": "A path to which every landing adds lines of its own, and the rule that takes them out again "
            "(`sorted-index-undo`); repeatable.",
            "metavar": "RULE=PATH",
        },
    )
    shards: dict[str, tuple[str, ...]] = field(
        default_factory=dict,
        metadata={
            "help": "A shared path, and a file that was folded into it at the end of the run; repeatable.",
            "metavar": "PATH=SHARD",
        },
    )
    of: str = field(
        default="",
        metadata={"help": "The run whose checks stay in force.", "metavar": "RUN", "file": True},
    )
    checks: tuple[str, ...] = field(
        default=(),
        metadata={"help": "The name of a check of that run; repeatable.", "metavar": "NAME"},
    )

"""What the tasks job can be told."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The tasks job's settings; each is a flag and a key of the job file."""

    tasks: str = field(
        default="",
        metadata={
            "help": "A folder of tasks, a folder each: task.toml, checks/*.py, hidden/*.py (see the README).",
            "metavar": "DIR",
            "shown": "none",
            "file": True,
        },
    )
    sampled: str = field(
        default="",
        metadata={
            "help": "Take part of the folder's tasks: `tasks=100,share=0.6,seed=1`; the share is that of tasks on hot "
            "targets, those that several tasks name.",
            "metavar": "SPEC",
            "shown": "all",
        },
    )
    generated: str = field(
        default="",
        metadata={
            "help": "Instead of a folder, the generated tasks: `seed=0,tasks=1385,share=0.6,hot_modules=6`; the "
            "repository must hold the generated codebase of the same seed.",
            "metavar": "SPEC",
            "shown": "none",
        },
    )
    most_text: int = field(
        default=120_000,
        metadata={"help": "The most characters of source that a prompt shows; a task that needs more is skipped."},
    )
    verify: bool = field(
        default=True,
        metadata={
            "help": "Agents run their task's checks, and the checks in force that look at what they touched, before "
            "they hand in; red output goes into the next attempt."
        },
    )

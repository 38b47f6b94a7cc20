"""What the branches job can be told."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The job's flags, and its table in a job file."""

    branches: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Branches to land, each as one commit: `agent/*`, say, or `origin/agent/*`; repeatable.",
            "metavar": "PATTERN",
        },
    )
    patches: str = field(
        default="",
        metadata={
            "help": "A folder of patch files (*.patch, *.diff, *.mbox) to land, each as one commit.",
            "metavar": "DIR",
            "file": True,
        },
    )
    checks: str = field(
        default="",
        metadata={
            "help": "A shell command that judges every change, and stays in force for those behind it.",
            "metavar": "CMD",
        },
    )
    own_checks: dict[str, tuple[str, ...]] = field(
        default_factory=dict,
        metadata={
            "help": "One more command for the branches, or patch files, whose names match; repeatable.",
            "metavar": "PATTERN=CMD",
        },
    )
    alike: bool = field(
        default=False,
        metadata={
            "help": "Take what two of them make alike as meant once, as git does; else it is a collision.",
        },
    )

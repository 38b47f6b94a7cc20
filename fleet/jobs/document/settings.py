"""What the document job can be told."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The document job's settings; each is a flag and a key of the job file."""

    paths: tuple[str, ...] = field(
        default=(), metadata={"help": "Only files that match, in gitignore syntax; repeatable."}
    )
    exclude: tuple[str, ...] = field(
        default=(), metadata={"help": "No files that match, in gitignore syntax; repeatable."}
    )
    index: str = field(
        default="docs/API_INDEX.md",
        metadata={"help": "The shared index that each agent adds its lines to; empty for none."},
    )
    names: int = field(default=3, metadata={"help": "The most lines that a file adds to the index."})
    max_bytes: int = field(default=400_000, metadata={"help": "Files larger than this are skipped."})

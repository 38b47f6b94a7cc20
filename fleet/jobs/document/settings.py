"""What the document job can be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from fleet.jobs.document.shards import Layout


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
    index_layout: Layout = field(
        default=Layout.AUTO,
        metadata={
            "help": "Keep the index as one file, or as a shard a lane that is composed at the end (auto: above 5,000).",
        },
    )
    prompt: str = field(
        default="",
        metadata={
            "help": "A file with the prompt: what the model is told, a line `---`, and the question with {path}, "
            "{language}, {used_by}, {replay} and {text} in it.",
            "metavar": "FILE",
            "shown": "the job's own",
            "file": True,
        },
    )
    names: int = field(default=3, metadata={"help": "The most lines that a file adds to the index."})
    max_bytes: int = field(default=400_000, metadata={"help": "Files larger than this are skipped."})
    most_text: int = field(
        default=24_000,
        metadata={"help": "The most characters of a file that a prompt shows; fewer for a model with a small window."},
    )
    screen: bool = field(
        default=True,
        metadata={"help": "End answers that are no documentation: loops, code, talk of the question, invented links."},
    )
    usage: bool = field(
        default=True,
        metadata={
            "help": "Parse every file first, to tell the model who uses which; off, each is told of by itself.",
        },
    )

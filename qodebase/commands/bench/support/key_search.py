"""Look for a key in everything that a run left behind, also in what is compressed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from qodebase.commands.bench.support.workload import environment
from qodebase.journal import read_events
from qodebase.runs import RunFolder
from qodebase.segments import SegmentReader


def places_with(key: str, space: Path) -> list[str]:
    """Return what holds a key below a folder: files as they are, kept prompts and answers, objects of repositories."""
    return [name for name, content in _contents(space) if key.encode() in content]


def _contents(space: Path) -> Iterator[tuple[str, bytes]]:
    for file in space.rglob("*"):
        if file.is_file():
            yield str(file), file.read_bytes()
        elif file.suffix == ".git":
            command = ["git", "-C", str(file), "cat-file", "--batch", "--batch-all-objects", "--unordered"]
            yield (
                f"objects of {file}",
                subprocess.run(
                    command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True
                ).stdout,
            )
    for journal in space.rglob("journal.jsonl"):
        yield from _kept(RunFolder(journal.parent))


def _kept(folder: RunFolder) -> Iterator[tuple[str, bytes]]:
    reader = SegmentReader(folder.attempts)
    try:
        for event in read_events(folder.journal):
            if ref := getattr(event, "ref", ""):
                yield f"{folder.root}: event {event.seq}", reader.get(ref)
    finally:
        reader.close()

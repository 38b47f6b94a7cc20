"""What the job knows of the whole tree: the outline of each file, and who uses it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

from fleet.jobs.document.languages import language_of
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.usage import Usage, usage_of
from qodebase.paths import RepoPath
from qodebase.ports import Tree

_CHUNK = 40
_WORTH_PROCESSES = 200


class CodeMap:
    """Outlines of a tree's files, made once, on all cores where the tree is large."""

    def __init__(self, tree: Tree, paths: Iterable[RepoPath], *, max_bytes: int) -> None:
        self.outlines: dict[RepoPath, Outline] = {}
        contents = ((path, content) for path in paths if len(content := tree.read(path)) <= max_bytes)
        for path, outline in _outlined(list(contents)):
            self.outlines[path] = outline
        self.usage: Usage = usage_of(dict(self.outlines))


def outline_of(path: bytes, content: bytes) -> Outline | None:
    """Return the outline of a file, or None where its language is not known."""
    language = language_of(path)
    return None if language is None else language.outline(path, content)


def _outlined(files: list[tuple[RepoPath, bytes]]) -> Iterator[tuple[RepoPath, Outline]]:
    chunks = [files[at : at + _CHUNK] for at in range(0, len(files), _CHUNK)]
    processes = min(os.cpu_count() or 1, 8)
    if len(files) < _WORTH_PROCESSES or processes == 1:
        for chunk in chunks:
            yield from _chunk(chunk)
        return
    # Spawned, not forked: the caller may have threads.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in pool.map(_chunk, chunks):
            yield from done


def _chunk(files: list[tuple[RepoPath, bytes]]) -> list[tuple[RepoPath, Outline]]:
    return [(path, outline) for path, content in files if (outline := outline_of(path, content)) is not None]

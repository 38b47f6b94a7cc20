"""What the job knows of the whole tree: the outline of each file, and who uses it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from fleet.jobs.document.languages import language_of
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.usage import Usage, usage_of
from qodebase.children import command, environment, processors
from qodebase.paths import RepoPath
from qodebase.ports import Tree

_CHUNK = 20
_MOST_PROCESSES = 8
_WORTH_PROCESSES = 200


class CodeMap:
    """Outlines of a tree's files, made once, on all cores where the tree is large."""

    def __init__(self, tree: Tree, paths: Iterable[RepoPath], *, max_bytes: int) -> None:
        self.outlines: dict[RepoPath, Outline] = {}
        contents = ((path, content) for path in paths if len(content := tree.read(path)) <= max_bytes)
        for path, outline in _outlined(list(contents)):
            self.outlines[path] = outline
        self.usage: Usage = usage_of({bytes(path): outline for path, outline in self.outlines.items()})


def outline_of(path: bytes, content: bytes) -> Outline | None:
    """Return the outline of a file, or None where its language is not known."""
    language = language_of(path)
    return None if language is None else language.outline(path, content)


def _outlined(files: list[tuple[RepoPath, bytes]]) -> Iterator[tuple[RepoPath, Outline]]:
    processes = min(processors(), _MOST_PROCESSES)
    if len(files) < _WORTH_PROCESSES or processes == 1:
        yield from outline_chunk(files)
        return
    chunks = [files[at : at + _CHUNK] for at in range(0, len(files), _CHUNK)]
    with ThreadPoolExecutor(processes) as pool:
        for done in pool.map(_in_process, (chunks[number::processes] for number in range(processes))):
            yield from done


def _in_process(chunks: list[list[tuple[RepoPath, bytes]]]) -> list[tuple[RepoPath, Outline]]:
    """Outline chunks in a process of their own.

    It is a plain child that runs this module, because multiprocessing would run the caller's script again in each
    child, and a caller with threads must not be forked.
    """
    sent = pickle.dumps([file for chunk in chunks for file in chunk])
    done = subprocess.run(command(__name__), env=environment(), input=sent, stdout=subprocess.PIPE, check=True)
    outlined: list[tuple[RepoPath, Outline]] = pickle.loads(done.stdout)
    return outlined


def outline_chunk(files: Iterable[tuple[RepoPath, bytes]]) -> list[tuple[RepoPath, Outline]]:
    """Return the outlines of files whose language is known."""
    return [(path, outline) for path, content in files if (outline := outline_of(path, content)) is not None]


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(outline_chunk(pickle.load(sys.stdin.buffer))))

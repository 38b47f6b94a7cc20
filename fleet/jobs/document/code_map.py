"""What the job knows of the whole tree: the outline of each file, and who uses it."""

from __future__ import annotations

import pickle
import signal
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
    """Outlines of a tree's files, made once, on all cores where the tree is large.

    Args:
        beside: starts the processes.
    """

    def __init__(self, tree: Tree, paths: Iterable[RepoPath], *, max_bytes: int, beside: Outliners) -> None:
        self.outlines: dict[RepoPath, Outline] = {}
        contents = ((path, content) for path in paths if len(content := tree.read(path)) <= max_bytes)
        for path, outline in _outlined(list(contents), beside):
            self.outlines[path] = outline
        self.usage: Usage = usage_of({bytes(path): outline for path, outline in self.outlines.items()})


def outline_of(path: bytes, content: bytes) -> Outline | None:
    """Return the outline of a file, or None where its language is not known."""
    language = language_of(path)
    return None if language is None else language.outline(path, content)


class Outliners:
    """Processes that outline files beside this one.

    They are plain children that run this module, because multiprocessing would run the caller's script again in each
    child, and a caller with threads must not be forked.
    """

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []
        self._stopped = False

    def outlined(self, chunks: list[list[tuple[RepoPath, bytes]]]) -> list[tuple[RepoPath, Outline]]:
        """Outline chunks in a process of their own; any thread may call it.

        Raises:
            CalledProcessError: the process failed, or was stopped.
        """
        sent = pickle.dumps([file for chunk in chunks for file in chunk])
        words = command(__name__)
        with subprocess.Popen(words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self._started.append(process)
            if self._stopped:
                process.kill()
            told, _ = process.communicate(sent)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, words)
        outlined: list[tuple[RepoPath, Outline]] = pickle.loads(told)
        return outlined

    def stop(self) -> None:
        """End all of them, now and from now on."""
        self._stopped = True
        for process in self._started:
            process.kill()


def _outlined(files: list[tuple[RepoPath, bytes]], beside: Outliners) -> Iterator[tuple[RepoPath, Outline]]:
    processes = min(processors(), _MOST_PROCESSES)
    if len(files) < _WORTH_PROCESSES or processes == 1:
        yield from outline_chunk(files)
        return
    chunks = [files[at : at + _CHUNK] for at in range(0, len(files), _CHUNK)]
    with ThreadPoolExecutor(processes) as pool:
        for done in pool.map(beside.outlined, (chunks[number::processes] for number in range(processes))):
            yield from done


def outline_chunk(files: Iterable[tuple[RepoPath, bytes]]) -> list[tuple[RepoPath, Outline]]:
    """Return the outlines of files whose language is known."""
    return [(path, outline) for path, content in files if (outline := outline_of(path, content)) is not None]


if __name__ == "__main__":
    signal.signal(
        signal.SIGPIPE, signal.SIG_DFL
    )  # Where nobody waits for the outlines any more there is nothing to say.
    sys.stdout.buffer.write(pickle.dumps(outline_chunk(pickle.load(sys.stdin.buffer))))

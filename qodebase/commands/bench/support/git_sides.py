"""What plain git does with the same changes: one fast-import stream, and a loop of plumbing commands."""

from __future__ import annotations

import resource
import subprocess
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from qodebase.change import REGULAR
from qodebase.commands.bench.support.workload import (
    INDEX,
    PERSON,
    TIME,
    Job,
    Kind,
    Workload,
    environment,
    git,
)

NOTES = "refs/notes/qodebase"


class Spent(NamedTuple):
    """Seconds by the wall and of the processor."""

    seconds: float
    processor: float


def write_stream(workload: Workload, stream: Path, *, batch: int) -> None:
    """Write what fast-import reads: a commit for each change, a notes commit for each batch as the trunk makes them."""
    from replay_rules.sorted_index import insert

    name, mail = PERSON
    person = f"{name} <{mail}> {TIME} +0000".encode()
    index: object = b"# Index\n\n"
    jobs = workload.read()
    first = b"from %s\n" % workload.tip.encode()
    with open(stream, "wb") as out:
        while some := list(islice(jobs, batch)):
            for job in some:
                out.write(_commit(b"refs/heads/main", person, job.message, job.number + 1) + first)
                out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (job.path, len(job.content), job.content))
                first = b""
                if job.line:
                    assert isinstance(index, bytes)
                    index = insert(index, job.line)
                    assert isinstance(index, bytes)
                    out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (INDEX, len(index), index))
            out.write(_commit(NOTES.encode(), person, b"Notes of %d landings\n" % len(some)))
            for job in some:
                out.write(b"N inline :%d\ndata %d\n%s\n" % (job.number + 1, len(job.note), job.note))


def _commit(ref: bytes, person: bytes, message: bytes, mark: int = 0) -> bytes:
    marked = b"mark :%d\n" % mark if mark else b""
    head = b"commit %s\n%sauthor %s\ncommitter %s\n" % (ref, marked, person, person)
    return head + b"data %d\n%s\n" % (len(message), message)


def time_fast_import(repository: Path, stream: Path) -> Spent:
    """Return what one stream takes, unsynced; even a short one becomes a pack, as the trunk's does."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with open(stream, "rb") as file:
        git(repository, "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", stdin=file)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def time_plumbing(repository: Path, workload: Workload, count: int) -> tuple[int, float]:
    """Land the first changes by plumbing commands and return how many and the seconds.

    Each change is of another file and a commit on the base, as an agent pushes it, made before the clock runs. One
    landing is ``merge-tree``, ``commit-tree``, ``notes add`` and ``update-ref``. Changes of an index keep their file
    only, for a merge would stop at the index.
    """
    jobs = list(islice(workload.read(), min(count, workload.files)))
    sides = _side_commits(repository, workload, jobs)
    tip = workload.tip
    started = time.perf_counter()
    for job, side in zip(jobs, sides, strict=True):
        tree = git(repository, "merge-tree", "--write-tree", tip, side).split(b"\n")[0].decode()
        new = git(repository, "commit-tree", tree, "-p", tip, input=job.message).strip().decode()
        git(repository, "notes", f"--ref={NOTES}", "add", "-F", "-", new, input=job.note)
        git(repository, "update-ref", "refs/heads/main", new, tip)
        tip = new
    return len(jobs), time.perf_counter() - started


def _side_commits(repository: Path, workload: Workload, jobs: list[Job]) -> list[str]:
    name, mail = PERSON
    person = f"{name} <{mail}> {TIME} +0000".encode()
    stream = b"".join(
        _commit(b"refs/heads/side-%d" % job.number, person, job.message)
        + b"from %s\nM %o inline %s\ndata %d\n%s\n"
        % (workload.tip.encode(), REGULAR, job.path, len(job.content), job.content)
        for job in jobs
    )
    git(repository, "fast-import", "--quiet", input=stream)
    names = git(repository, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/side-*").decode()
    found = dict(line.split() for line in names.splitlines())
    git(repository, "pack-refs", "--all")
    return [found[f"refs/heads/side-{job.number}"] for job in jobs]


def facts(repository: Path) -> tuple[str, str, dict[str, str]]:
    """Return main's tree, main's commit, and the blob of each note."""
    tree = git(repository, "rev-parse", "main^{tree}").decode().strip()
    notes = git(repository, "notes", f"--ref={NOTES}", "list").decode().splitlines()
    listed = {commit: blob for blob, commit in (line.split() for line in notes)}
    return tree, git(repository, "rev-parse", "main").decode().strip(), listed


def pack_bytes(repository: Path) -> int:
    """Return the size of all packs."""
    return sum(file.stat().st_size for file in (repository / "objects" / "pack").glob("*.pack"))


def is_sound(repository: Path) -> bool:
    """Return whether ``git fsck --strict`` finds nothing."""
    command = ["git", "-C", str(repository), "fsck", "--strict", "--full", "--no-dangling", "--no-progress"]
    done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    return done.returncode == 0 and not done.stdout and not done.stderr


__all__ = ["Kind", "facts", "is_sound", "pack_bytes", "time_fast_import", "time_plumbing", "write_stream"]

"""The helper process: it opens the run's job and makes prompts and changes until its input ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fleet.attempts import pack
from fleet.jobs.registry import load_job, make_job
from fleet.making import make_change
from qodebase.change import SUBMODULE
from qodebase.code import CommitTree
from qodebase.codec import JSON
from qodebase.collector import seldom_collected
from qodebase.collision import Entry
from qodebase.errors import QodebaseError
from qodebase.helper_words import (
    OPENING,
    REQUESTS,
    AnySaid,
    Changed,
    Failed,
    Opening,
    Prompted,
    Refused,
    Request,
    frame,
    read_frame,
)
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Answer, Job, ReadsRepository, Routed, Unusable
from qodebase.segments import packed
from qodebase.trunk.reader import Reader

_TOGETHER = 64
"""Answers that leave in one frame, so that the run's process need not wait for the last of many."""


class OtherJob(QodebaseError):
    """A job that is not the one of the run."""


class GivenFork:
    """A `qodebase.ports.Tree`: the fork that a request tells of, and the repository for all else."""

    def __init__(self, reader: Reader, request: Request) -> None:
        self._reader = reader
        self._whole = CommitTree(reader, request.commit)
        self._entries = {path: Entry(mode, id) if mode else None for path, mode, id in request.entries}
        self._contents = dict(request.contents)

    @property
    def commit(self) -> CommitId:
        """Return the base commit."""
        return self._whole.commit

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the fork holds at a path."""
        return self._entries[path] if path in self._entries else self._whole.entry(path)

    def read(self, path: RepoPath) -> bytes:
        """Return a file's content; raises `KeyError` where there is none."""
        if path not in self._contents:
            entry = self.entry(path)
            if entry is None or entry.mode == SUBMODULE:
                raise KeyError(path)
            self._contents[path] = self._reader.blob(entry.id)
        return self._contents[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every entry."""
        return self._whole.walk()

    def held(self, paths: tuple[RepoPath, ...]) -> tuple[tuple[RepoPath, bytes], ...]:
        """Return the contents among ``paths`` that were read."""
        return tuple((path, self._contents[path]) for path in paths if path in self._contents)


def say(job: Job, reader: Reader, request: Request) -> AnySaid:
    """Make what a request asks for."""
    fork = GivenFork(reader, request)
    number, intent = request.number, request.intent
    if request.answer is None:
        prompt = job.prompt(intent, fork)
        return Prompted(
            number=number,
            messages=prompt.messages,
            max_output_tokens=prompt.max_output_tokens,
            shows=prompt.shows,
            digest=prompt.digest,
            packed=packed(JSON.encode(prompt.messages)),
        )
    made = make_change(job, intent, Answer(text=request.answer, model=""), fork, request.shared)
    if isinstance(made, Unusable):
        return Refused(number=number, unusable=made)
    kept = pack(made.change)
    return Changed(
        number=number,
        change=made.change,
        proof=made.proof,
        proof_s=made.proof_s,
        sanitised=made.sanitised,
        digest=kept.digest,
        packed=kept.content,
        contents=fork.held(intent.scope),
    )


@contextmanager
def opened(opening: Opening) -> Iterator[tuple[Job, Reader]]:
    """Open the job on its base.

    Raises:
        OtherJob: it is not the one of the run any more.
    """
    job = make_job(load_job(opening.job, file=opening.job_file), opening.job_settings, source="the run's settings")
    if job.digest != opening.job_digest:
        raise OtherJob(f"the job {opening.job} has changed since the run began")
    with Reader(Path(opening.repository)) as reader:
        try:
            if isinstance(job, ReadsRepository):
                job.read_from(Path(opening.repository))
            job.open(CommitTree(reader, opening.base))
            if isinstance(job, Routed):
                job.route(opening.lanes, opening.landings)
            job.ready()
            yield job, reader
        finally:
            job.close()


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer frame after frame; an empty list says that the job is open."""
    with opened(OPENING.decode(read_frame(requests))) as (job, reader), seldom_collected():
        said: list[AnySaid] = []
        _send(answers, said)
        while content := read_frame(requests):
            for request in REQUESTS.decode(content):
                try:
                    said.append(say(job, reader, request))
                except Exception:
                    said.append(Failed(number=request.number))
                if len(said) == _TOGETHER:
                    _send(answers, said)
            if said:
                _send(answers, said)


def _send(answers: BinaryIO, said: list[AnySaid]) -> None:
    answers.write(frame(said))
    answers.flush()
    said.clear()


def main() -> None:
    """Serve standard input and output; the job and its children read nothing there, and what they print is lost."""
    with (
        os.fdopen(os.dup(0), "rb") as requests,
        os.fdopen(os.dup(1), "wb") as answers,
        open(os.devnull, "r+b", buffering=0) as nowhere,
    ):
        for standard in (0, 1):
            os.dup2(nowhere.fileno(), standard)
        serve(requests, answers)


if __name__ == "__main__":
    main()

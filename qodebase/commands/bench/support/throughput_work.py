"""The work of the throughput bench: a repository of made-up scripts, and a cache that holds a model's answers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.commands.bench.support.script_text import ScriptText
from qodebase.commands.bench.support.workload import PERSON, TIME, git
from qodebase.paths import RepoPath

if TYPE_CHECKING:
    from qodebase.commands.support.starting import Order
    from qodebase.commands.support.surroundings import Surroundings

MODEL = "cached:scripted"
PUBLISHED = (40_640, 29_890)
"""Files, and how many of them changed, in the published run of ten thousand workers."""

_AREAS = 66
_FILES_OF_A_FOLDER = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A repository and a cache.

    Attributes:
        repository: bare, one commit on main.
        cache: the folder of the answers.
        files, answered, documented: how many files there are, with an answer, and with a header already.
    """

    repository: Path
    cache: Path
    files: int
    answered: int
    documented: int

    def order(self, out: Path, *, workers: int) -> Order:
        """Return the run that the bench measures: every file looked at by itself, no shared path."""
        from qodebase.commands.support.starting import Order

        return Order(
            job="document",
            settings={"index": "", "usage": False},
            repository=self.repository,
            model=MODEL,
            workers=workers,
            out=out,
        )

    @property
    def surroundings(self) -> Surroundings:
        """Return an environment without keys, and the cache."""
        from qodebase.commands.support.surroundings import Surroundings

        return Surroundings(environ={}, cache_folder=self.cache)


def changed_of(files: int) -> int:
    """Return how many of so many files change, in the published proportion."""
    return files * PUBLISHED[1] // PUBLISHED[0]


def prepare(folder: Path, *, files: int, seed: int) -> Work:
    """Make the repository and fill the cache; of the files without a change half are documented already."""
    chance = random.Random(seed)
    text = ScriptText(chance)
    answered = changed_of(files)
    documented = (files - answered) // 2
    numbers = chance.sample(range(files), files)
    with_header = set(numbers[answered : answered + documented])
    repository = folder / "code.git"
    _make_repository(repository, files, text, with_header)
    work = Work(repository=repository, cache=folder / "cache", files=files, answered=answered, documented=documented)
    _fill(work, text, {_path(number) for number in numbers[:answered]})
    return work


def _path(number: int) -> RepoPath:
    folder = number // _FILES_OF_A_FOLDER
    return RepoPath(b"esm/vs/area%02d/part%03d/script%05d.js" % (folder % _AREAS, folder // _AREAS, number))


def _make_repository(repository: Path, files: int, text: ScriptText, with_header: set[int]) -> None:
    """Write the first commit, packed as a clone is."""
    from fleet.jobs.document.writing import Inserted, insert

    repository.mkdir(parents=True)
    git(repository, "init", "-q", "--bare", "-b", "main", ".")
    stream = repository / "stream"
    with open(stream, "wb") as out:
        name, mail = PERSON
        out.write(f"commit refs/heads/main\ncommitter {name} <{mail}> {TIME} +0000\ndata 4\nbase\n".encode())
        for number in range(files):
            path, content = _path(number), text.file(number, text.size())
            if number in with_header:
                inserted = insert(path, content, text.header(path))
                assert isinstance(inserted, Inserted)
                content = inserted.content
            out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(content), content))
    with open(stream, "rb") as file:
        git(repository, "fast-import", "--quiet", "--depth=0", stdin=file)
    stream.unlink()


def _fill(work: Work, text: ScriptText, paths: set[RepoPath]) -> None:
    """Put an answer for each of these paths into the cache, as an earlier run with the same prompts would have."""
    import asyncio

    from fleet.cache import AnswerCache, answer_key
    from fleet.models.registry import parse_spec
    from qodebase.clock import SystemClock
    from qodebase.commands.support.starting import prepared
    from qodebase.ports import Answer

    clock = SystemClock()
    scope = parse_spec(MODEL.partition(":")[2], {}).scope
    with prepared(work.order(work.repository.parent / "nowhere", workers=1), work.surroundings, clock) as ready:
        answers = [
            (answer_key(scope, ready.job.prompt(intent, ready.tree).digest), text.header(intent.scope[0]))
            for intent in ready.intents
            if intent.scope[0] in paths
        ]

    async def put_all() -> None:
        cache = AnswerCache(work.cache, clock)
        async with asyncio.TaskGroup() as tasks:
            for number, (key, said) in enumerate(answers):
                answer = Answer(text=said, model="scripted", input_tokens=1000, output_tokens=120)
                tasks.create_task(cache.put(key, answer), name=f"answer {number}")
        await cache.close()

    asyncio.run(put_all())

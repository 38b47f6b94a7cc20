"""Prompts and changes made beside the run's process."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.attempts import pack
from fleet.driver import Driver
from fleet.engines.local import LocalEngine
from fleet.jobs.registry import load_job, make_job
from fleet.making import Made, make_change
from fleet.models.cached import CachedModel
from fleet.models.function import FunctionModel
from fleet.models.openai import OpenAIModel
from fleet.workshop import helper, shop
from fleet.workshop.shop import Making, Workshop, is_worth_a_helper
from lanes.fork import Fork, Main
from qodebase.clock import SystemClock, VirtualClock
from qodebase.code import CommitTree
from qodebase.codec import JSON
from qodebase.commands.bench.support.throughput_work import Work, prepare
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import freeze, prepared
from qodebase.helper_words import Opening
from qodebase.intent import Ending, Intent
from qodebase.ports import Answer, Failure, Job, NoAnswer, Unusable
from qodebase.runs import RunFolder
from qodebase.segments import packed
from qodebase.trunk.reader import Reader

SETTINGS = {"index": "", "usage": False}
SAID = "Hold the settings of the editor, and say when they change.\n\n- It keeps one value for each name."
FAILS = """
from fleet.jobs.document.job import Document

class Fails(Document):
    apart = True

    def accept(self, intent, answer, fork):
        raise {error}(intent.id)

JOB = Fails
"""
LOOKS = """
import os
import sys

import found_here

from fleet.jobs.document.job import Document
from qodebase.intent import Ending
from qodebase.ports import Unusable

class Looks(Document):
    apart = True

    def accept(self, intent, answer, fork):
        seen = [os.environ.get("OPENAI_API_KEY"), found_here.WORD, sys.stdin.read()]
        return Unusable(ending=Ending.REFUSED, why=str(seen))

JOB = Looks
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """A repository of forty scripts, and a cache with answers for most of them."""
    return prepare(tmp_path_factory.mktemp("work"), files=40, seed=3)


class Bench:
    """A job on a repository, with forks to work on."""

    def __init__(self, work: Work, reader: Reader, file: str = "") -> None:
        tip = reader.tip("main")
        assert tip is not None
        base = CommitTree(reader, tip)
        self.job: Job = make_job(load_job("document", file=file), SETTINGS, source="the test")
        self.job.open(base)
        self.main = Main(base, lambda commit: CommitTree(reader, commit))
        self.intents = [intent for intent in self.job.intents() if not intent.reason]
        self.opening = Opening(
            job="document",
            job_file=file,
            job_digest=self.job.digest,
            job_settings=SETTINGS,
            repository=str(work.repository),
            base=tip,
            lanes={},
            landings=len(self.intents),
        )

    def fork(self, intent: Intent) -> Fork:
        """Take a fork for an intent."""
        return self.main.fork(intent.scope)


@pytest.fixture
def bench(work: Work) -> Iterator[Bench]:
    with Reader(work.repository) as reader:
        yield Bench(work, reader)


@asynccontextmanager
async def helped(opening: Opening, job: Job) -> AsyncIterator[Workshop]:
    """Give a workshop whose helper is open, or has ended."""
    workshop = Workshop(job, opening)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(workshop.serve())
        serving.add_done_callback(lambda _: workshop.opened.set())
        await workshop.opened.wait()
        try:
            yield workshop
        finally:
            serving.cancel()


async def all_changes(workshop: Workshop, bench: Bench) -> list[Making]:
    async with asyncio.TaskGroup() as tasks:
        begun = [
            tasks.create_task(workshop.change(intent, Answer(text=SAID, model="m"), bench.fork(intent), ()))
            for intent in bench.intents
        ]
    return [task.result() for task in begun]


def without_times(made: Made | Unusable) -> tuple[Any, ...]:
    return (made.change, made.proof, made.sanitised) if isinstance(made, Made) else (made,)


def expected(bench: Bench) -> list[tuple[Any, ...]]:
    answer = Answer(text=SAID, model="m")
    made = [make_change(bench.job, one, answer, bench.fork(one), ()) for one in bench.intents]
    assert all(isinstance(one, Made) for one in made)
    return [without_times(one) for one in made]


def test_a_helper_makes_the_prompts_that_this_process_would_make(bench: Bench) -> None:
    async def main() -> None:
        async with helped(bench.opening, bench.job) as workshop:
            for intent in bench.intents:
                prompting = await workshop.prompt(intent, bench.fork(intent), ())
                prompt = bench.job.prompt(intent, bench.fork(intent))
                assert (prompting.prompt.messages, prompting.prompt.shows) == (prompt.messages, prompt.shows)
                assert prompting.prompt.max_output_tokens == prompt.max_output_tokens
                assert prompting.prompt.digest == prompt.digest
                assert prompting.packed == packed(JSON.encode(prompt.messages))
            assert workshop.helped == len(bench.intents)

    asyncio.run(main())


def test_a_helper_makes_the_changes_that_this_process_would_make_and_hands_over_what_it_read(bench: Bench) -> None:
    async def main() -> None:
        async with helped(bench.opening, bench.job) as workshop:
            for intent, wanted in zip(bench.intents, expected(bench), strict=True):
                fork = bench.fork(intent)
                making = await workshop.change(intent, Answer(text=SAID, model="m"), fork, ())
                assert without_times(making.made) == wanted
                assert isinstance(making.made, Made)
                assert making.packed == pack(making.made.change)
                assert fork.held(intent.scope[0]) == bench.main.read(intent.scope[0])
            assert workshop.helped == len(bench.intents)
            assert workshop.proof_s > 0

    asyncio.run(main())


def test_an_answer_that_is_no_change_is_refused_in_the_same_words(bench: Bench) -> None:
    intent = bench.intents[0]

    async def main() -> None:
        async with helped(bench.opening, bench.job) as workshop:
            for text in ("", "```js\nlet a = 1;\n```"):
                making = await workshop.change(intent, Answer(text=text, model="m"), bench.fork(intent), ())
                wanted = make_change(bench.job, intent, Answer(text=text, model="m"), bench.fork(intent), ())
                assert isinstance(wanted, Unusable)
                assert making == Making(made=wanted)
            assert workshop.helped == 2
            none = NoAnswer(failure=Failure.EMPTY, why="", model="m")
            assert isinstance((await workshop.change(intent, none, bench.fork(intent), ())).made, Unusable)
            assert workshop.helped == 2

    asyncio.run(main())


def test_nothing_is_lost_with_a_helper_that_is_killed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shop, "_OUT", 4)

    async def main() -> None:
        async with helped(bench.opening, bench.job) as workshop:
            pid = workshop.helper_pid
            assert pid is not None
            os.kill(pid, signal.SIGSTOP)
            begun = asyncio.create_task(all_changes(workshop, bench))
            for _ in range(4):
                await asyncio.sleep(0)
            os.kill(pid, signal.SIGKILL)
            assert [without_times(one.made) for one in await begun] == expected(bench)
            assert workshop.helped == 0
            assert workshop.helper_pid is None
            again = await all_changes(workshop, bench)
            assert [without_times(one.made) for one in again] == expected(bench)

    asyncio.run(main())
    assert caplog.messages == []


def test_nothing_waits_for_a_helper_that_hangs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "_SILENT_S", 0.05)

    async def main() -> None:
        async with helped(bench.opening, bench.job) as workshop, asyncio.timeout(20):
            pid = workshop.helper_pid
            assert pid is not None
            os.kill(pid, signal.SIGSTOP)
            made = await all_changes(workshop, bench)
            assert [without_times(one.made) for one in made] == expected(bench)
            assert workshop.helper_pid is None

    asyncio.run(main())


def test_the_end_of_a_helper_is_heard_of_also_by_those_who_have_no_time_for_it() -> None:
    async def main() -> None:
        process = await asyncio.create_subprocess_exec("sleep", "60", stdin=subprocess.PIPE)
        ending = asyncio.create_task(helper._ended(process))
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        assert process.returncode == -signal.SIGKILL

    asyncio.run(main())


def test_work_that_the_helper_has_no_room_for_is_done_here(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shop, "_OUT", 2)

    async def main() -> None:
        async with helped(bench.opening, bench.job) as workshop:
            made = await all_changes(workshop, bench)
            assert [without_times(one.made) for one in made] == expected(bench)
            assert 0 < workshop.helped < len(bench.intents)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("error", "raised", "said"),
    [("ZeroDivisionError", ZeroDivisionError, "document:"), ("StopIteration", RuntimeError, "raised StopIteration")],
)
def test_a_failure_of_the_job_is_raised_here_and_the_helper_goes_on(
    work: Work, tmp_path: Path, error: str, raised: type[Exception], said: str
) -> None:
    file = tmp_path / "fails.py"
    file.write_text(FAILS.replace("{error}", error))

    async def main(bench: Bench) -> None:
        intent = bench.intents[0]
        async with helped(bench.opening, bench.job) as workshop:
            with pytest.raises(raised, match=said):
                await workshop.change(intent, Answer(text=SAID, model="m"), bench.fork(intent), ())
            await workshop.prompt(intent, bench.fork(intent), ())
            assert workshop.helped == 1

    with Reader(work.repository) as reader:
        asyncio.run(main(Bench(work, reader, str(file))))


def test_a_helper_finds_no_key_and_no_input_and_the_modules_of_this_process(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules, elsewhere = tmp_path / "modules", tmp_path / "elsewhere"
    modules.mkdir()
    (modules / "found_here.py").write_text("WORD = 'here'")
    (elsewhere / "fleet").mkdir(parents=True)
    (elsewhere / "fleet" / "__init__.py").write_text("raise ImportError('of the folder that the run was started in')")
    file = tmp_path / "looks.py"
    file.write_text(LOOKS)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-somebody")
    monkeypatch.syspath_prepend(modules)
    monkeypatch.chdir(elsewhere)

    async def main(bench: Bench) -> None:
        intent = bench.intents[0]
        async with helped(bench.opening, bench.job) as workshop, asyncio.timeout(30):
            assert workshop.helper_pid is not None
            making = await workshop.change(intent, Answer(text=SAID, model="m"), bench.fork(intent), ())
            assert making.made == Unusable(ending=Ending.REFUSED, why="[None, 'here', '']")
            await workshop.prompt(intent, bench.fork(intent), ())
            assert workshop.helped == 2

    with Reader(work.repository) as reader:
        asyncio.run(main(Bench(work, reader, str(file))))


def test_a_process_that_may_open_no_more_files_has_no_helper(bench: Bench) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def main() -> None:
        workshop = Workshop(bench.job, bench.opening)
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
        try:
            await workshop.serve()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert workshop.helper_pid is None

    asyncio.run(main())


def test_a_job_that_is_not_the_run_s_any_more_has_no_helper(bench: Bench) -> None:
    other = Opening(**{name: getattr(bench.opening, name) for name in Opening.__struct_fields__} | {"job_digest": "0"})

    async def main() -> None:
        workshop = Workshop(bench.job, other)
        await workshop.serve()
        assert workshop.helper_pid is None
        assert [without_times(one.made) for one in await all_changes(workshop, bench)] == expected(bench)

    asyncio.run(main())


def test_without_a_helper_a_piece_is_done_at_once(bench: Bench) -> None:
    async def main() -> None:
        workshop = Workshop(bench.job)
        await workshop.serve()
        task = asyncio.create_task(all_changes(workshop, bench))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [without_times(one.made) for one in await task] == expected(bench)
        assert workshop.helped == 0

    asyncio.run(main())


def test_only_large_runs_of_jobs_and_models_that_allow_it_have_a_helper(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shop, "processors", lambda: 2)
    wire: Any = OpenAIModel
    cached: Any = CachedModel
    program: Any = FunctionModel

    def worth(*models: Any, job: Any = bench.job, clock: Any = None, agents: int = 5000, intents: int = 5000) -> bool:
        return is_worth_a_helper(job, models, clock or SystemClock(), agents=agents, intents=intents)

    assert worth(wire)
    assert worth(wire, cached)
    assert not worth(wire, program)
    assert not worth(wire, agents=64)
    assert not worth(wire, intents=500)
    assert not worth(wire, clock=VirtualClock())
    assert not worth(wire, job=SimpleNamespace())
    assert not worth(wire, job=make_job(load_job("document"), {"index": ""}, source="the test"))
    monkeypatch.setattr(shop, "processors", lambda: 1)
    assert not worth(wire)


class AfterTheHelper(LocalEngine):
    """Agents that start when the helper is open."""

    driver: Driver

    async def run(self, agents: int, work: Callable[[int], Awaitable[None]]) -> None:
        """Run so many agents to their end."""
        await self.driver.workshop.opened.wait()
        await super().run(agents, work)


def taken(work: Work, out: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[RunFolder, int]:
    """Take a run; return how many pieces its helper made."""
    drivers: list[Driver] = []

    def started(driver: Driver) -> None:
        drivers.append(driver)
        monkeypatch.setattr(AfterTheHelper, "driver", driver, raising=False)

    clock = SystemClock()
    with prepared(work.order(out, workers=8), work.surroundings, clock) as ready:
        folder = freeze(ready, clock)
    asyncio.run(sit(folder, work.surroundings, clock, first=True, started=started))
    return folder, drivers[0].workshop.helped


def test_a_run_comes_to_the_same_code_with_and_without_a_helper(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, none = taken(work, tmp_path / "alone", monkeypatch)
    monkeypatch.setattr(shop, "_MANY_AGENTS", 1)
    monkeypatch.setattr(shop, "_MANY_INTENTS", 1)
    monkeypatch.setattr(shop, "processors", lambda: 2)
    monkeypatch.setattr("fleet.driver.LocalEngine", AfterTheHelper)
    beside, some = taken(work, tmp_path / "beside", monkeypatch)
    assert none == 0
    assert some > work.answered

    def tree(folder: RunFolder) -> bytes:
        words = ["git", "-C", str(folder.repository), "rev-parse", "main^{tree}"]
        return subprocess.run(words, capture_output=True, check=True).stdout

    assert tree(alone) == tree(beside)

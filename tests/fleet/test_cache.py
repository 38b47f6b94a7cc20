"""The answer cache on a real disk, hostile rows included."""

from __future__ import annotations

import asyncio
import os
import pickle
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from fleet.cache import AnswerCache, CacheFailed, answer_key
from fleet.text_disk import NotText, TextDisk
from qodebase.clock import SystemClock, VirtualClock
from qodebase.ports import Answer


def answer(text: str) -> Answer:
    return Answer(text=text, model="m", input_tokens=3, cached_tokens=1, output_tokens=2, cost_usd=0.25)


def key(number: int) -> str:
    return answer_key("scope", str(number))


def filled(folder: Path, count: int) -> None:
    async def main() -> None:
        cache = AnswerCache(folder, SystemClock())
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(cache.put(key(number), answer(f"answer {number}")))
        await cache.close()

    asyncio.run(main())


def read(folder: Path, *numbers: int) -> list[Answer | None]:
    async def main() -> list[Answer | None]:
        cache = AnswerCache(folder, SystemClock())
        async with asyncio.TaskGroup() as group:
            reads = [group.create_task(cache.get(key(number))) for number in numbers]
        await cache.close()
        return [task.result() for task in reads]

    return asyncio.run(main())


def doctor(folder: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        assert database.execute(statement, values).rowcount == 1


def open_files() -> list[str]:
    """Return the names of all files that this process has open."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return found


def test_answers_come_back_as_they_were(tmp_path: Path) -> None:
    filled(tmp_path / "cache", 300)
    got = read(tmp_path / "cache", *range(301))
    assert got == [*(answer(f"answer {number}") for number in range(300)), None]


def test_the_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir(mode=0o755)
    for folder in (tmp_path / "new" / "cache", open_to_all):
        filled(folder, 1)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_is_evicted_and_no_value_goes_to_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "cache"

    async def main() -> None:
        cache = AnswerCache(folder, SystemClock())
        await cache.put(key(0), answer("x" * 200_000))
        await cache.close()

    asyncio.run(main())
    with closing(sqlite3.connect(folder / "cache.db")) as database:
        settings = dict(database.execute("SELECT key, value FROM Settings"))
    assert (settings["eviction_policy"], settings["cull_limit"]) == ("none", 0)
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {"cache.db"}
    assert read(folder, 0) == [answer("x" * 200_000)]


def test_a_planted_pickle_is_not_run(tmp_path: Path) -> None:
    folder, proof = tmp_path / "cache", tmp_path / "ran"
    filled(folder, 3)

    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(proof),)

    bomb = pickle.dumps(Bomb())
    doctor(folder, "UPDATE Cache SET mode = 4, value = ? WHERE key = ?", bomb, key(0))
    doctor(folder, "UPDATE Cache SET value = ? WHERE key = ?", bomb, key(1))
    assert read(folder, 0, 1, 2) == [None, None, answer("answer 2")]
    assert not proof.exists()
    pickle.loads(bomb)
    assert proof.exists()


@pytest.mark.parametrize("mode", [2, 3, 4])
def test_a_planted_file_name_neither_reads_nor_removes_the_file(mode: int, tmp_path: Path) -> None:
    folder, victim = tmp_path / "cache", tmp_path / "victim.txt"
    victim.write_text('{"text": "stolen", "model": "m"}')
    filled(folder, 1)
    doctor(folder, "UPDATE Cache SET mode = ?, filename = '../victim.txt', value = NULL WHERE key = ?", mode, key(0))
    assert read(folder, 0) == [None]
    filled(folder, 1)
    assert victim.exists()
    assert read(folder, 0) == [answer("answer 0")]


def test_the_disk_takes_and_gives_text_and_nothing_else(tmp_path: Path) -> None:
    disk = TextDisk(str(tmp_path))
    assert disk.fetch(1, None, "text", False) == "text"
    assert disk.store("text", False) == (0, 1, None, "text")
    for row in [(4, None, "text"), (2, None, "text"), (1, "name", "text"), (1, None, b"text"), (1, None, None)]:
        with pytest.raises(NotText):
            disk.fetch(*row, False)
    with pytest.raises(NotText):
        disk.fetch(1, None, "text", True)
    for value in (b"text", 7, None, ["text"]):
        with pytest.raises(NotText):
            disk.store(value, False)
        with pytest.raises(NotText):
            disk.put(value)
    with pytest.raises(NotText):
        disk.get("key", False)
    with pytest.raises(NotText):
        disk.filename()


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"text": 7, "model": "m"}', '{"model": "m"}'])
def test_a_row_that_is_no_answer_counts_as_missing(text: str, tmp_path: Path) -> None:
    filled(tmp_path, 1)
    doctor(tmp_path, "UPDATE Cache SET value = ? WHERE key = ?", text, key(0))
    assert read(tmp_path, 0) == [None]


def test_a_row_of_broken_text_counts_as_missing_and_the_others_are_read(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    doctor(tmp_path, "UPDATE Cache SET value = CAST(x'7bff7d' AS TEXT) WHERE key = ?", key(0))
    assert read(tmp_path, 0, 1) == [None, answer("answer 1")]


def test_on_a_full_disk_nothing_is_kept_and_everything_is_read(tmp_path: Path) -> None:
    filled(tmp_path, 1)

    async def main() -> None:
        cache = AnswerCache(tmp_path, SystemClock())
        assert await cache.get(key(0)) is not None
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, before[1]))
        try:
            async with asyncio.TaskGroup() as group:
                reads = [group.create_task(cache.get(key(number))) for number in (0, 1)]
                write = group.create_task(failing(cache.put(key(1), answer("a" * 200_000))))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [task.result() for task in reads] == [answer("answer 0"), None]
        assert isinstance(write.result(), CacheFailed)
        await cache.close()

    async def failing(writing: Any) -> Exception | None:
        try:
            await writing
        except CacheFailed as error:
            return error
        return None

    asyncio.run(main())


def test_a_broken_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(ExceptionGroup) as caught:
        read(tmp_path, 0, 1)
    for error in caught.value.exceptions:
        assert isinstance(error, CacheFailed)
        assert str(tmp_path) in error.message
        assert "--cache off" in error.hint
    assert not [name for name in open_files() if name.startswith(str(tmp_path))]


def test_two_caches_share_a_folder(tmp_path: Path) -> None:
    async def main() -> None:
        first, second = AnswerCache(tmp_path, SystemClock()), AnswerCache(tmp_path, SystemClock())
        async with asyncio.TaskGroup() as group:
            for number in range(200):
                group.create_task((first if number % 2 else second).put(key(number), answer(str(number))))
        assert await first.get(key(0)) == await second.get(key(0)) == answer("0")
        await first.close()
        assert await second.get(key(199)) == answer("199")
        await second.close()

    asyncio.run(main())


def test_a_reader_that_gave_up_harms_nobody(tmp_path: Path) -> None:
    filled(tmp_path, 2)

    async def main() -> None:
        cache = AnswerCache(tmp_path, SystemClock())
        gone = asyncio.ensure_future(cache.get(key(0)))
        await asyncio.sleep(0)
        gone.cancel()
        assert await cache.get(key(1)) == answer("answer 1")
        assert gone.cancelled()
        await cache.close()
        await cache.close()

    asyncio.run(main())


def test_virtual_time_stands_still_while_the_disk_works(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def main() -> None:
        cache = AnswerCache(tmp_path, clock)
        async with asyncio.TaskGroup() as group:
            sleeper = group.create_task(clock.sleep(50))
            await cache.put(key(0), answer("a"))
            assert await cache.get(key(0)) == answer("a")
            assert clock.now() == 0
            assert not sleeper.done()
        await cache.close()

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(main())


WRITER = """
import asyncio, sys
from pathlib import Path
from fleet.cache import AnswerCache, answer_key
from qodebase.clock import SystemClock
from qodebase.ports import Answer

async def main():
    cache = AnswerCache(Path(sys.argv[1]), SystemClock())
    async def one(number):
        await cache.put(answer_key("scope", str(number)), Answer(text=f"answer {number}", model="m"))
        print(number, flush=True)
    at = 0
    while True:
        async with asyncio.TaskGroup() as group:
            for number in range(at, at + 20):
                group.create_task(one(number))
        at += 20

asyncio.run(main())
"""


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= 500:
                break
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().splitlines()
    acknowledged = range(1 + max([int(line), *(int(number) for number in rest if number)]))
    got = read(folder, *acknowledged)
    assert [one.text if one else None for one in got] == [f"answer {number}" for number in acknowledged]

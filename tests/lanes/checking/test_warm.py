from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from lanes.checking.sandbox import Sandbox, available
from lanes.checking.warm import NotStarted, Outcome, Request, Warm

pytestmark = pytest.mark.usefixtures("sandboxed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    (tmp_path / "test_a.py").write_text("from part import f\n\ndef test_a():\n    assert f() == 1\n")
    (tmp_path / "part.py").write_text("def f():\n    return 1\n")
    return tmp_path


def test_a_process_that_was_killed_is_started_again_and_what_it_ran_is_run_again(folder: Path) -> None:
    request = Request(folder=folder, command=("true",))

    async def work() -> list[Outcome]:
        warm = Warm(Sandbox(keep=(folder,)))
        try:
            first = await warm.run(request)
            assert warm._process is not None
            os.kill(warm._process.pid, signal.SIGKILL)
            warm._process.wait()
            return [first, await warm.run(request)]
        finally:
            await warm.close()

    assert [outcome.exit for outcome in asyncio.run(work())] == [0, 0]


def test_what_cannot_be_started_says_why(folder: Path) -> None:
    async def work(sandbox: Sandbox) -> None:
        warm = Warm(sandbox)
        try:
            await warm.run(Request(folder=folder, command=("true",)))
        finally:
            await warm.close()

    with pytest.raises(NotStarted, match=r"no-such-python: No such file"):
        asyncio.run(work(Sandbox(python="/no-such-python")))
    with pytest.raises(NotStarted, match=r"no_such_module cannot be imported by .*ModuleNotFoundError"):
        asyncio.run(work(Sandbox(preload=("no_such_module",))))
    assert "No such file" in available("/no-such-python")


def test_compiled_modules_are_kept_for_the_same_text_only_and_no_check_can_write_them(folder: Path) -> None:
    bytecode = folder / "bytecode"
    bytecode.mkdir(mode=0o755)
    tests = Request(folder=folder, tests=("test_a.py",), modules=("test_a.py", "part.py"))
    where = ("find", str(bytecode), "-name", "*.pyc", "-writable", "-o", "-type", "d", "-writable")

    async def work() -> list[int | None]:
        warm = Warm(Sandbox(keep=(folder,), bytecode=bytecode, preload=("pytest",)))
        try:
            first = await warm.run(tests)
            kept = {path: path.stat().st_mtime_ns for path in bytecode.rglob("*.pyc")}
            assert len(kept) == 2
            again = await warm.run(tests)
            assert kept == {path: path.stat().st_mtime_ns for path in bytecode.rglob("*.pyc")}
            writable = await warm.run(Request(folder=folder, command=where))
            assert writable.output == ""
            (folder / "part.py").write_text("def f():\n    return 2\n")
            red = await warm.run(tests)
            (folder / "test_a.py").write_text("from part import f\n\ndef test_a():\n    assert f() == 2\n")
            return [first.exit, again.exit, red.exit, (await warm.run(tests)).exit]
        finally:
            await warm.close()

    assert asyncio.run(work()) == [0, 0, 1, 0]


def test_many_requests_at_once_share_one_process(folder: Path) -> None:
    async def work() -> list[Outcome]:
        warm = Warm(Sandbox(keep=(folder,)))
        try:
            async with asyncio.TaskGroup() as tasks:
                requests = [Request(folder=folder, command=("sh", "-c", f"exit {number}")) for number in range(8)]
                asked = [tasks.create_task(warm.run(request)) for request in requests]
            return [task.result() for task in asked]
        finally:
            await warm.close()

    assert [outcome.exit for outcome in asyncio.run(work())] == list(range(8))


def test_a_text_is_compiled_once_for_all_folders_and_knows_where_it_was_loaded_from(folder: Path) -> None:
    bytecode = folder / "bytecode"
    bytecode.mkdir(mode=0o755)
    for name in ("one", "two"):
        (folder / name).mkdir(mode=0o755)
        (folder / name / "part.py").write_text("def f():\n    raise ValueError(f.__code__.co_filename)\n")
        (folder / name / "test_a.py").write_text("from part import f\n\ndef test_a():\n    f()\n")

    async def work() -> list[bytes]:
        warm = Warm(Sandbox(keep=(folder,), bytecode=bytecode, preload=("pytest",)))
        try:
            places = [folder / name for name in ("one", "two")]
            asked = [Request(folder=at, tests=("test_a.py",), modules=("part.py",)) for at in places]
            return [(await warm.run(request)).report for request in asked]
        finally:
            await warm.close()

    said = asyncio.run(work())
    kept = list(bytecode.rglob("part.*.pyc"))
    assert len(kept) == 2
    assert len({path.stat().st_ino for path in kept}) == 1
    assert [f"{name}/part.py".encode() in text for name, text in zip(("one", "two"), said, strict=True)] == [True, True]


def test_a_test_is_rewritten_once_for_all_folders_and_shows_its_failure_where_it_lies(folder: Path) -> None:
    bytecode = folder / "bytecode"
    bytecode.mkdir(mode=0o755)
    text = "def test_a():\n    def where():\n        return where.__code__.co_filename\n    assert where() == 1\n"
    for name in ("one", "two"):
        (folder / name).mkdir(mode=0o755)
        (folder / name / "test_a.py").write_text(text)

    async def work() -> list[bytes]:
        warm = Warm(Sandbox(keep=(folder,), bytecode=bytecode, preload=("pytest",)))
        try:
            places = [folder / name for name in ("one", "two")]
            asked = [Request(folder=at, tests=("test_a.py",), modules=("test_a.py",)) for at in places]
            return [(await warm.run(request)).report for request in asked]
        finally:
            await warm.close()

    said = asyncio.run(work())
    assert len(list(bytecode.rglob("*.rewritten"))) == 1
    assert len(list(bytecode.rglob("test_a.*.pyc"))) == 2
    for name, report in zip(("one", "two"), said, strict=True):
        assert f"assert '{folder / name / 'test_a.py'}' == 1".encode() in report.replace(b"\\n", b"\n")


def test_what_was_at_work_when_a_process_died_is_told_however_long_its_name(folder: Path) -> None:
    async def work(name: str) -> bytes:
        (folder / "test_a.py").write_text(f"import os\n\ndef test_b():\n    pass\n\ndef {name}():\n    os._exit(7)\n")
        request = Request(folder=folder, together=(("test_a.py",),), plain=True)
        warm = Warm(Sandbox(keep=(folder,)))
        try:
            return (await warm.run(request)).report
        finally:
            await warm.close()

    assert asyncio.run(work("test_a")) == b'{"begin": "test_a.py::test_a"}\n'
    assert asyncio.run(work("test_" + "a" * (64 << 10))) == b""

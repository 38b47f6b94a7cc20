from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from checking_world import CheckingWorld

from lanes.checking.checker import SandboxedChecker
from lanes.checking.warm import Outcome, Request, Warm
from qodebase.check import Check
from qodebase.clock import SystemClock, VirtualClock
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict

pytestmark = pytest.mark.usefixtures("sandboxed")

GREEN, RED = Verdict.GREEN, Verdict.RED
ADD = b"def add(one, two):\n    return one + two\n"
TESTS = b"""from code_of import add

def test_small():
    assert add(1, 2) == 3

def test_zero():
    assert add(0, 0) == 0
"""
BROKEN = b"def add(one, two):\n    return one - two\n"
OWN = Check(tests=("tests/test_add.py",))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckingWorld]:
    files = {b"code_of.py": ADD, b"tests/test_add.py": TESTS, b"data/table.txt": b"1\n", b"other.py": b""}
    with CheckingWorld(tmp_path_factory.mktemp("world") / "repo.git", files) as made:
        yield made


def test_green_red_and_green_again_on_three_trees_in_one_checkout(world: CheckingWorld) -> None:
    trees = [world.tree({b"other.py": b"1\n"}), world.tree({b"code_of.py": BROKEN}), world.tree({b"other.py": b"2\n"})]
    found = world.judge({"own": OWN}, *((tree, ("own",)) for tree in trees))
    assert [one.verdict for one in found] == [GREEN, RED, GREEN]
    assert [one.failed for one in found] == [(), ("own",), ()]
    assert found[1].output.startswith("own: 1 of 2 tests failed: tests/test_add.py::test_small")
    assert "assert -1 == 3" in found[1].output
    assert found[0].output == ""


def test_a_check_brings_its_own_tests_and_reports_what_it_read(world: CheckingWorld) -> None:
    path = RepoPath(b"checks/test_own.py")
    text = (
        b"from code_of import add\n\ndef test_it():\n    assert add(2, 2) == int(open('data/table.txt').read()) + 3\n"
    )
    check = Check(tests=("checks/test_own.py",), files={path: text})
    found = world.judge_one(check, {b"other.py": b"1\n"})
    assert found.verdict is GREEN
    assert found.read is not None
    assert {b"code_of.py", b"data/table.txt", b"checks/test_own.py", b"pytest.ini"} <= set(found.read)
    assert b"other.py" not in found.read
    assert found.reads == {"c": found.read}


def test_tests_that_start_a_process_may_have_read_everything(world: CheckingWorld) -> None:
    text = b"import subprocess\n\ndef test_it():\n    assert subprocess.run(['cat', 'code_of.py']).returncode == 0\n"
    check = Check(tests=("c/test_own.py",), files={RepoPath(b"c/test_own.py"): text})
    found = world.judge_one(check, {b"other.py": b"1\n"})
    assert (found.verdict, found.read) == (GREEN, None)


def test_a_command_is_judged_by_its_exit_code_and_its_output_is_told(world: CheckingWorld) -> None:
    checks = {
        "good": Check(command=("sh", "-c", "grep -q return code_of.py && echo ok > $TMPDIR/x && cat $HOME/x")),
        "bad": Check(command=("sh", "-c", "echo what is wrong; exit 3")),
        "none": Check(command=("no-such-program",)),
    }
    good, both, none = world.judge(
        checks, *((world.tree({b"other.py": b"1\n"}), names) for names in (("good",), ("bad", "good"), ("none",)))
    )
    assert (good.verdict, good.read, good.output) == (GREEN, None, "")
    assert (both.verdict, both.failed) == (RED, ("bad",))
    assert both.output == "bad: `sh -c echo what is wrong; exit 3` ended with 3\n\nbad:\nwhat is wrong"
    assert "no-such-program: No such file" in none.output


def test_a_change_that_weakens_its_test_is_judged_by_the_one_on_main(world: CheckingWorld) -> None:
    weak = TESTS.replace(b"== 3", b"!= 4")
    found = world.judge_one(OWN, {b"code_of.py": BROKEN, b"tests/test_add.py": weak})
    assert found.verdict is RED
    assert "judged with tests/test_add.py as on main" in found.output
    free = Check(tests=OWN.tests, may_edit=("tests/",))
    assert world.judge_one(free, {b"code_of.py": BROKEN, b"tests/test_add.py": weak}).verdict is GREEN


def test_a_change_that_breaks_its_test_is_red_although_the_one_on_main_passes(world: CheckingWorld) -> None:
    found = world.judge_one(OWN, {b"tests/test_add.py": TESTS.replace(b"== 3", b"== 4")})
    assert found.failed == ("c",)


def test_a_change_that_adds_to_its_test_is_green_and_says_so(world: CheckingWorld) -> None:
    found = world.judge_one(OWN, {b"tests/test_add.py": TESTS + b"\n\ndef test_more():\n    assert add(2, 1) == 3\n"})
    assert found.verdict is GREEN
    assert "touch what defines this check" in found.output


@pytest.mark.parametrize(
    "files",
    [
        {b"tests/test_add.py": None},
        {b"tests/test_add.py": b"def test_small():\n    pass\n"},
        {b"conftest.py": b"def pytest_collection_modifyitems(items):\n    items[:] = items[:1]\n"},
        {b"pytest.ini": b"[pytest]\naddopts = -k small\n"},
        {b"pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '-k small'\n"},
        {b"tests/conftest.py": b"import pytest\n\n@pytest.fixture(autouse=True)\ndef no():\n    pytest.skip('no')\n"},
    ],
    ids=["deleted", "fewer", "deselected", "settings", "table", "skipped"],
)
def test_a_tree_in_which_tests_are_gone_is_red(world: CheckingWorld, files: dict[bytes, bytes | None]) -> None:
    found = world.judge_one(OWN, files)
    assert found.failed == ("c",)
    assert any(why in found.output for why in ("pass on main did not run", "no test was found", "test was skipped"))


def test_a_selected_folder_without_any_test_is_red(world: CheckingWorld) -> None:
    found = world.judge_one(Check(tests=("data",)), {b"other.py": b"1\n"})
    assert found.output.startswith("c: no test was found")


def test_settings_of_others_in_the_same_file_are_the_changes(world: CheckingWorld) -> None:
    text = b"import tomllib\n\ndef test_it():\n    assert tomllib.load(open('pyproject.toml', 'rb'))['project'] == {}\n"
    check = Check(tests=("c/test_own.py",), files={RepoPath(b"c/test_own.py"): text})
    found = world.judge_one(check, {b"pyproject.toml": b"[project]\n"})
    assert (found.verdict, found.output) == (GREEN, "")


def test_files_that_a_command_names_are_taken_from_main(world: CheckingWorld) -> None:
    check = Check(command=("cmp", "data/table.txt", "code_of.py"), from_main=("code_of.py",))
    found = world.judge_one(check, {b"code_of.py": b"1\n"})
    assert found.failed == ("c",)
    assert "code_of.py as on main" in found.output


def test_tests_of_main_are_run_once_for_all_trees(world: CheckingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Request] = []
    really = Warm.run

    async def counted(warm: Warm, request: Request) -> Outcome:
        ran.append(request)
        return await really(warm, request)

    monkeypatch.setattr(Warm, "run", counted)
    trees = [world.tree({b"other.py": b"%d\n" % number}) for number in range(3)]
    once = Check(tests=OWN.tests, environ={"ONCE": "1"})
    found = world.judge({"once": once}, *((tree, ("once",)) for tree in trees))
    assert [one.verdict for one in found] == [GREEN] * 3
    assert len(ran) == 4


def test_trees_are_judged_beside_each_other_under_a_virtual_clock_in_a_fixed_order(world: CheckingWorld) -> None:
    clock = VirtualClock()
    slow = Check(command=("sleep", "0.3"))
    fast = Check(command=("true",))
    ended: list[tuple[float, str]] = []

    async def work() -> None:
        checker = SandboxedChecker({"slow": slow, "fast": fast}, world.trees, clock, world.sandbox, charge_s=5.0)

        async def one(name: str) -> Judgement:
            judgement = await checker.check(world.tree({}), (name,))
            ended.append((clock.now(), name))
            return judgement

        async with asyncio.TaskGroup() as tasks:
            for name in ("slow", "fast"):
                tasks.create_task(one(name))
        await checker.close()

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(work())
    assert ended == [(5.0, "slow"), (5.0, "fast")]


def test_a_cancelled_judgement_ends_what_it_started(world: CheckingWorld) -> None:
    world.checks["long"] = Check(command=("sleep", "1000"))

    async def work() -> str:
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            judging = tasks.create_task(world.checker.check(world.tree({}), ("long",)))
            await asyncio.to_thread(_until, lambda: _started(world) > 0)
            judging.cancel()
            await asyncio.wait([judging])
            await asyncio.to_thread(_until, lambda: _started(world) == 0)
        return "ended"

    assert world.runner.run(work()) == "ended"


def _until(true: Callable[[], bool]) -> None:
    while not true():
        os.sched_yield()


def _started(world: CheckingWorld) -> int:
    """Return how many processes the judgements of a checker consist of, beside those that only wait for them."""
    process = world.checker._runs._small._process
    if process is None:
        return 0
    found = 0
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        try:
            found += len(Path(f"/proc/{child}/task/{child}/children").read_text().split())
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("limit", "most", "held"),
    [
        ("_MANY", 2, [("a.py", "b.py"), ("d.py",)]),
        ("_MANY", 4, [("d.py",)]),
        ("_MOST_FOLDERS", 1, [("d.py",)]),
        ("_SMALL", 10, [("d.py",)]),
    ],
)
def test_a_tree_is_laid_out_where_the_fewest_files_of_checks_change_or_anew_if_those_are_many(
    limit: str, most: int, held: list[tuple[str, ...]], world: CheckingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanes.checking.checker._MANY", 2)
    monkeypatch.setattr(f"lanes.checking.checker.{limit}", most)
    named = {name: Check(tests=(f"{name}.py",), files={RepoPath(f"{name}.py".encode()): TESTS}) for name in "abcd"}
    tree = world.tree({b"other.py": b"1\n"})

    async def work() -> list[tuple[str, ...]]:
        checker = SandboxedChecker(named, world.trees, SystemClock(), world.sandbox, slots=1)
        try:
            for names in ("abc", "d", "ab", "d"):
                assert (await checker.check(tree, tuple(names))).verdict is GREEN
            return [tuple(sorted(path.name for path in one.root.glob("?.py"))) for one, _ in checker._free]
        finally:
            await checker.close()

    assert sorted(asyncio.run(work())) == held

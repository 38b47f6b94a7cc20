"""Tests on many states in warm processes: verdicts, isolation, and what must be red and nothing else."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from dial_world import World

from qodebase.change import Change, Write
from qodebase.paths import RepoPath
from results.repository import Repository
from results.scoring.runner import Limits, NoWorker, Runner, Task, plain
from results.scoring.states import Outcome, State, States
from results.scoring.suite import Test, TestKind

SHORT = Limits(cpu_s=0.2, wall_s=0.7)
GREEN = "def test_green():\n    assert True\n"


def made(source: str, *functions: str) -> list[Test]:
    return [
        Test(
            name=function,
            kind=TestKind.NEIGHBOUR,
            path=RepoPath(b"checks/test_made.py"),
            source=source.encode(),
            function=function,
        )
        for function in functions
    ]


class Bench:
    """States of a small tree, and a runner on them."""

    def __init__(self, world: World, repository: Repository) -> None:
        self.base = world.base
        self.states = States(repository, world.base)

    def with_files(self, files: dict[str, str]) -> State:
        """Return the state of a change that writes these files."""
        operations = tuple(Write(path=RepoPath(path.encode()), content=text.encode()) for path, text in files.items())
        return self.states.own(Change(base=self.base, operations=operations))

    def run(self, state: State, tests: Sequence[Test], limits: Limits = SHORT) -> list[Outcome]:
        """Run tests on a state."""
        with Runner(self.states, tests, workers=1, limits=limits) as runner:
            return runner.run([Task(state=state, tests=tests)])[0]


@pytest.fixture
def bench(world: World) -> Iterator[Bench]:
    world.close()
    with Repository(world.folder.repository) as repository:
        yield Bench(world, repository)


def test_a_test_is_red_by_what_it_raises_and_says_it(bench: Bench) -> None:
    source = (
        "from shop.a import one\n\n\ndef test_a():\n    assert one() == 1\n\n\n"
        "def test_b():\n    assert one() == 2, 'no'\n\n\n"
        "def test_c():\n    raise SystemExit(0)\n\n\ndef test_d():\n    print('x' * 100_000)\n"
    )
    outcomes = bench.run(bench.states.of(bench.base), made(source, "test_a", "test_b", "test_c", "test_d", "test_e"))
    assert [outcome.green for outcome in outcomes] == [True, False, False, True, False]
    assert [outcome.why for outcome in outcomes] == [
        "",
        "AssertionError: no",
        "SystemExit: 0",
        "",
        "there is no function test_e",
    ]


def test_each_state_has_its_own_modules(bench: Bench) -> None:
    source = "from shop.a import one\nimport shop.b\n\n\ndef test():\n    assert (one(), shop.b.far()) == (1, 0)\n"
    tests = made(source, "test")
    base = bench.states.of(bench.base)
    changed = bench.with_files({"shop/b.py": "from shop.a import one\n\n\ndef far():\n    return one() - 1 + 5\n"})
    with Runner(bench.states, tests, workers=2) as runner:
        found = runner.run([Task(state=state, tests=tests) for state in (base, changed, base, changed)])
        assert [outcomes[0].green for outcomes in found] == [True, False, True, False]
        assert runner.ran == 4


HOSTILE = {
    "while True:\n        pass": "TimedOut: it used all its processor time",
    "while True:\n        try:\n            while True:\n                pass\n"
    "        except BaseException:\n            pass": "no end after 0.7 s",
    "import time\n    time.sleep(1000)": "no end after 0.7 s",
    "import os, signal\n    os.kill(os.getpid(), signal.SIGSTOP)": "no end after 0.7 s",
    "import os\n    os._exit(0)": "it ended the process",
    "class E(Exception):\n        def __str__(self):\n            while True:\n                pass\n"
    "    raise E": "it ended the process",
    "x = [0] * (1 << 40)": "MemoryError",
    "import tempfile\n    with tempfile.TemporaryFile() as f:\n        f.write(b'x')": "FileNotFoundError",
    "def f():\n        return f()\n    f()": "RecursionError",
    "import sys\n    sys.stdout.write('[[0, 1]]' * 1000)\n    assert False": "AssertionError",
}


@pytest.mark.parametrize(("hostile", "why"), HOSTILE.items(), ids=[str(number) for number in range(len(HOSTILE))])
def test_a_hostile_test_is_red_and_its_neighbours_are_not(bench: Bench, hostile: str, why: str) -> None:
    source = f"{GREEN}\n\ndef test_bad():\n    {hostile}\n\n\ndef test_last():\n    assert True\n"
    outcomes = bench.run(bench.states.of(bench.base), made(source, "test_green", "test_bad", "test_last"))
    assert [outcome.green for outcome in outcomes] == [True, False, True]
    assert why in outcomes[1].why


def test_a_test_that_came_to_its_limit_only_because_the_machine_stood_still_is_green(
    bench: Bench, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    source = (
        f"import os, time\n\n\ndef test_late():\n    try:\n        os.mkdir({str(marker)!r})\n"
        "    except FileExistsError:\n        return\n    time.sleep(1000)\n"
    )
    limits = Limits(cpu_s=0.2, wall_s=0.3)
    assert bench.run(bench.states.of(bench.base), made(source, "test_late"), limits) == [Outcome(True)]


def test_a_test_that_kills_the_process_that_serves_is_red_and_the_next_state_is_judged(bench: Bench) -> None:
    killer = made("import os, signal\n\n\ndef test():\n    os.kill(os.getppid(), signal.SIGKILL)\n", "test")
    innocent = made("from shop.a import one\n\n\ndef test():\n    assert one() == 1\n", "test")
    base = bench.states.of(bench.base)
    with Runner(bench.states, [*killer, *innocent], workers=1, limits=SHORT) as runner:
        first, second = runner.run([Task(state=base, tests=killer), Task(state=base, tests=innocent)])
    assert first == [Outcome(False, "it ended the process that runs tests")]
    assert second == [Outcome(True)]


def test_a_module_that_does_not_compile_or_never_ends_its_import_reddens_only_who_imports_it(bench: Bench) -> None:
    other = [
        Test(
            name="far",
            kind=TestKind.NEIGHBOUR,
            path=RepoPath(b"checks/test_far.py"),
            source=b"from shop.b import far\n\n\ndef test():\n    assert far() == 0\n",
            function="test",
        )
    ]
    tests = [
        *made(
            "from shop.a import one\n\n\ndef test():\n    one()\n\n\ndef test_more():\n    one()\n", "test", "test_more"
        ),
        *other,
    ]
    for text, why in (
        ("def one(:\n", "SyntaxError"),
        ("while True:\n    pass\n", "TimedOut"),
        ("raise ValueError(3)\n", "ValueError: 3"),
    ):
        outcomes = bench.run(bench.with_files({"shop/a.py": text}), tests)
        assert [outcome.green for outcome in outcomes] == [False, False, True]
        assert all(why in outcome.why for outcome in outcomes[:2])


def test_a_test_that_spoils_a_module_for_the_next_one_does_not_blame_it(bench: Bench) -> None:
    source = (
        "import shop.a\n\n\ndef test_spoils():\n    shop.a.LIMIT = 0\n\n\n"
        "def test_next():\n    assert shop.a.LIMIT == 9\n\n\n"
        "def test_spoils_and_is_red():\n    shop.a.LIMIT = 1\n    assert False\n\n\n"
        "def test_last():\n    assert shop.a.LIMIT == 9\n"
    )
    names = ("test_spoils", "test_next", "test_spoils_and_is_red", "test_last")
    outcomes = bench.run(bench.states.of(bench.base), made(source, *names))
    assert [outcome.green for outcome in outcomes] == [True, True, False, True]


def test_tests_see_neither_the_environment_nor_what_is_open(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    source = (
        "import os\n\n\ndef test_environment():\n    assert 'A_KEY' not in os.environ\n\n\n"
        "def test_open():\n    assert set(os.listdir('/proc/self/fd')) <= {'0', '1', '2', '3'}\n"
    )
    outcomes = bench.run(bench.states.of(bench.base), made(source, "test_environment", "test_open"))
    assert [outcome.green for outcome in outcomes] == [True, True]


def test_what_tests_import_from_outside_of_the_tree_is_there(bench: Bench) -> None:
    source = "import pytest\n\n\ndef test():\n    with pytest.raises(ZeroDivisionError):\n        1 / 0\n"
    assert bench.run(bench.states.of(bench.base), made(source, "test")) == [Outcome(True)]


def test_the_caller_says_how_the_process_is_started(bench: Bench, tmp_path: Path) -> None:
    started: list[Sequence[str]] = []

    def spawn(command: Sequence[str]) -> subprocess.Popen[bytes]:
        started.append(command)
        return plain(command)

    tests = made(GREEN, "test_green")
    with Runner(bench.states, tests, workers=1, spawn=spawn) as runner:
        assert runner.run([Task(state=bench.states.of(bench.base), tests=tests)]) == [[Outcome(True)]]
    assert len(started) == 1


def test_a_process_that_cannot_be_started_is_an_error_that_says_what_to_do(bench: Bench) -> None:
    tests = made(GREEN, "test_green")
    with (
        Runner(bench.states, tests, workers=1, spawn=lambda command: plain(["/nowhere/python"])) as runner,
        pytest.raises(NoWorker) as raised,
    ):
        runner.run([Task(state=bench.states.of(bench.base), tests=tests)])
    assert raised.value.hint

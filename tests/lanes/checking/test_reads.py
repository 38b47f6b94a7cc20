"""What is read past the interpreter's own events: a verdict does not hold where such a thing is different."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from checking_world import CheckingWorld, Files

from lanes.checking.inside.compiled import is_unheard
from lanes.checking.inside.reads import Reads
from lanes.checking.sandbox import Sandbox
from lanes.verdicts import Verdicts
from qodebase.check import Check
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict

pytestmark = pytest.mark.usefixtures("sandboxed")

CODE = b"def two():\n    return 3\n"
FILES = {b"data/a.txt": b"1", b"code_of.py": CODE, b"pkg/__init__.py": b"", b"keep.txt": b"1"}
OWN = RepoPath(b"own/test_own.py")
WAYS = pytest.mark.parametrize("fixture", ["", "tmp_path"], ids=["plain", "pytest"])

INTERPRETERS = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"

OF_DATA = {
    "compiled code": ("import polars", "assert polars.read_csv('data/a.txt', has_header=False).item() == 1"),
    "compiled code, lazily": ("", "import pygit2; assert str(pygit2.hashfile('data/a.txt')).startswith('56a6')"),
    "a library's functions": ("import ctypes", "assert ctypes.CDLL(None).access(b'data/a.txt', 0) == 0"),
    "certificates": ("import ssl", "with raises(): ssl.create_default_context(cafile='data/a.txt')"),
    "a started program": (
        "import multiprocessing.util, os",
        "assert os.waitpid(multiprocessing.util.spawnv_passfds(b'/bin/cat', ['cat', 'data/a.txt'], []), 0)[1] == 0",
    ),
    "another interpreter": (
        f"import {INTERPRETERS} as other",
        "other.run_string(other.create(), 'open(\"data/a.txt\").close()')",
    ),
    "another interpreter, by a name": (
        f"import importlib\n\nother = importlib.import_module({INTERPRETERS!r})",
        "other.run_string(other.create(), 'open(\"data/a.txt\").close()')",
    ),
    "entries of a folder": ("import os", "assert sum(one.stat().st_size for one in os.scandir('data')) == 1"),
    "entries, at import": (
        "import os\nSIZE = sum(one.stat().st_size for one in os.scandir('data'))",
        "assert SIZE == 1",
    ),
    "the module below os": ("import posix", "assert posix.stat('data/a.txt').st_size == 1"),
    "by a folder above": (
        "import os",
        "assert os.stat(os.getcwd()[1:] + '/data/a.txt', dir_fd=os.open('/', os.O_RDONLY)).st_size == 1",
    ),
    "by the process's own links": (
        "import os",
        "os.chdir('data'); assert open('/proc/self/cwd/a.txt').read() == '1'; os.chdir('/')",
    ),
}
if sys.version_info >= (3, 14):
    OF_DATA["entries that pathlib hands on"] = (
        "import pathlib",
        "assert sum(one.info._stat().st_size for one in pathlib.Path('data').iterdir()) == 1",
    )
RAISES = "import code_of, contextlib\n\ndef raises(): return contextlib.suppress(OSError)\n\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckingWorld]:
    with CheckingWorld(tmp_path_factory.mktemp("world") / "repo.git", {**FILES, b"data.db": database()}) as made:
        yield made


def database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("create table t (n)")
        return bytes(made.serialize())


def judged(world: CheckingWorld, texts: tuple[str, str], fixture: str = "", before: Files | None = None) -> Judgement:
    """Judge a tree with a test; what it does is remembered by its name, so each has another one."""
    head, body = texts
    text = f"{RAISES}{head}\n\ndef test_it({fixture}):\n    {body}\n"
    name = f"c{len(world.checks)}"
    check = Check(tests=(f"{OWN.text}::test_it",), files={OWN: text.encode()})
    (found,) = world.judge({name: check}, (world.tree(before or {b"keep.txt": b"2"}), (name,)))
    assert found.verdict is Verdict.GREEN, found.output
    return found


def holds(world: CheckingWorld, found: Judgement, after: Files) -> bool:
    """Return whether a verdict holds on a tree that is different in nothing but some paths."""
    verdicts = Verdicts(world.trees)
    verdicts.take(found)
    return bool(verdicts.holding(world.tree({b"keep.txt": b"2", **after}), found.checks))


@WAYS
@pytest.mark.parametrize("texts", OF_DATA.values(), ids=OF_DATA)
def test_what_a_file_holds_is_heard(world: CheckingWorld, texts: tuple[str, str], fixture: str) -> None:
    found = judged(world, texts, fixture)
    assert not holds(world, found, {b"data/a.txt": b"12"})


def test_a_module_that_is_read_as_a_text_is_not_told_by_its_names(world: CheckingWorld) -> None:
    more = {b"code_of.py": CODE + b"\n\ndef more():\n    return 1\n"}
    for head, told in (("import mimetypes", True), ("import mimetypes\nmimetypes.init(['code_of.py'])", False)):
        found = judged(world, (head, "assert code_of.two() == 3"))
        assert (bool(found.mentions), holds(world, found, more)) == (told, told)


@WAYS
@pytest.mark.parametrize(
    "text",
    [
        "sqlite3.connect(':memory:').execute('attach \"data.db\" as x').execute('select * from x.t')",
        "sqlite3.connect(':memory:').execute('attach ? as x', ('data.db',))",
        "sqlite3.connect('file://localhost' + os.getcwd() + '/data.db?mode=ro', uri=True)",
        "sqlite3.Connection(':memory:').execute('attach \"data.db\" as x')",
    ],
    ids=["named", "bound", "address", "direct"],
)
def test_an_attached_database_is_heard(world: CheckingWorld, text: str, fixture: str) -> None:
    assert not holds(world, judged(world, ("import os, sqlite3", text), fixture), {b"data.db": b""})


@WAYS
def test_what_lies_beside_a_database_is_heard(world: CheckingWorld, fixture: str) -> None:
    texts = ("import sqlite3", "sqlite3.connect('file:data.db?mode=ro&immutable=1', uri=True)")
    found = judged(world, texts, fixture, {b"keep.txt": b"2", b"data.db-wal": b"1"})
    assert not holds(world, found, {b"data.db-wal": b"2"})


@WAYS
@pytest.mark.parametrize(
    "texts",
    [
        ("import sqlite3", "sqlite3.connect(':memory:').execute('create table t (n)')"),
        ("import msgspec, tree_sitter", "assert msgspec.json.decode(b'1') == 1"),
        ("import ssl, ctypes, asyncio", "ssl.create_default_context()"),
        ("import concurrent.futures", "concurrent.futures.ThreadPoolExecutor(1).shutdown()"),
        ("import os", "assert len(list(os.walk('data'))) == 1"),
    ],
    ids=["in memory", "known", "of Python", "threads", "walk"],
)
def test_what_reads_no_file_is_still_told(world: CheckingWorld, texts: tuple[str, str], fixture: str) -> None:
    found = judged(world, texts, fixture)
    assert holds(world, found, {b"data/a.txt": b"12"})
    assert not holds(world, found, {OWN: b"", b"code_of.py": CODE.replace(b"3", b"4")})


def test_what_another_thread_reads_counts_for_all(tmp_path: Path) -> None:
    reads = Reads(str(tmp_path))
    tests = ["test_a.py::test_a", "test_b.py::test_b"]
    for test in tests:
        reads.begin(test, test.partition("::")[0])
        one = threading.Thread(target=reads.hear, args=("open", (f"{tmp_path}/{test[5]}.txt", "r", 0)))
        one.start()
        one.join()
        reads.end()
    assert [reads.found_by([test]) for test in tests] == [("a.txt", "b.txt")] * 2


def test_of_checks_in_one_process_only_those_that_load_it_depend_on_compiled_code(world: CheckingWorld) -> None:
    texts = {"loads": "import pygit2\n\ndef test_it(): pass\n", "does not": "def test_it(): pass\n"}
    checks = {
        name: Check(tests=(f"own/test_{number}.py",), files={RepoPath(b"own/test_%d.py" % number): text.encode()})
        for number, (name, text) in enumerate(texts.items())
    }
    (found,) = world.judge(checks, (world.tree({b"keep.txt": b"3"}), tuple(checks)))
    assert {name: read is None for name, read in found.reads.items()} == {"loads": True, "does not": False}


def test_what_the_sandbox_loads_beforehand_counts_for_those_that_ask_for_it(tmp_path: Path) -> None:
    with CheckingWorld(tmp_path / "repo.git", FILES, sandbox=Sandbox(preload=("pygit2",))) as world:
        for fixture in ("", "tmp_path"):
            asks = judged(world, ("import pygit2", "pass"), fixture)
            does_not = judged(world, ("", "pass"), fixture)
            assert [*asks.reads.values()] == [None]
            assert does_not.read is not None


def test_machine_code_in_the_tree_is_not_known_whatever_its_name_is() -> None:
    assert is_unheard("numpy.core", "/tree/site-packages/numpy/core.so", "/tree")
    assert not is_unheard("numpy.core", "/env/site-packages/numpy/core.so", "/tree")
    assert is_unheard("other", "/env/site-packages/other.so", "/tree")

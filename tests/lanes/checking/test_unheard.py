"""What could alter a verdict without being seen: each is either reported as read, or does not reach another check."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from checking_world import ENVIRONMENT, CheckingWorld, Files

from lanes.checking.checkout import Checkout
from qodebase.change import REGULAR, SYMLINK
from qodebase.check import Check, Limits, concerns
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict

pytestmark = pytest.mark.usefixtures("sandboxed")

GREEN, RED = Verdict.GREEN, Verdict.RED
FILES = {
    b"code_of.py": b"x = 1\n",
    b"data/table.txt": b"1\n",
    b"pkg/__init__.py": b"",
    b"pkg/other.py": b"",
    b"space/other.py": b"",
    b"resource.py": b"def mine():\n    return 1\n",
}
CHANGED: Files = {b"unrelated.txt": b"1\n"}
TABLE = RepoPath(b"data/table.txt")
WAYS = pytest.mark.parametrize("fixture", ["", "tmp_path"], ids=["plain", "pytest"])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckingWorld]:
    with CheckingWorld(tmp_path_factory.mktemp("world") / "repo.git", FILES) as made:
        yield made


def check_of(text: str, path: str = "own/test_own.py", *, limits: Limits | None = None) -> Check:
    return Check(tests=(path,), files={RepoPath(path.encode()): text.encode()}, limits=limits or Limits(wall_s=30.0))


def judged(world: CheckingWorld, checks: Mapping[str, Check], files: Files = CHANGED) -> Judgement:
    (found,) = world.judge(checks, (world.tree(files), tuple(checks)))
    return found


LOOKS = {
    "below an opened folder": "os.close(os.open('table.txt', os.O_RDONLY, dir_fd=os.open('data', os.O_RDONLY)))",
    "the names of an opened folder": "assert os.listdir(os.open('data', os.O_RDONLY))",
    "a database by address": "__import__('sqlite3').connect('file:data/table.txt?mode=ro', uri=True)",
    "a database by path": "__import__('sqlite3').connect(__import__('pathlib').Path('data/table.txt'))",
    "whether it exists": "assert os.path.exists('data/table.txt')",
    "whether it is a file": "assert __import__('pathlib').Path('data/table.txt').is_file()",
    "whether it meets a pattern": "assert [*__import__('pathlib').Path('.').glob('*/table.txt')]",
    "whether it may be read": "assert os.access('data/table.txt', os.R_OK)",
    "from its folder": "os.chdir('data'); open('table.txt').close()",
    "as a library": "try: __import__('ctypes').CDLL('data/table.txt')\n    except OSError: pass",
}


@WAYS
def test_every_way_to_look_at_a_file_is_reported(world: CheckingWorld, fixture: str) -> None:
    names = {name: f"{name}, {fixture}" for name in LOOKS}
    checks = {
        names[name]: check_of(f"import os\n\ndef test_it({fixture}):\n    {text}\n", f"own/test_{number}.py")
        for number, (name, text) in enumerate(LOOKS.items())
    }
    found = [judged(world, {name: check}) for name, check in checks.items()]
    assert [one.failed for one in found] == [()] * len(LOOKS)
    assert [name for one in found for name, read in one.reads.items() if not concerns(read, TABLE)] == []


@WAYS
def test_a_module_in_machine_code_is_reported(world: CheckingWorld, fixture: str) -> None:
    source = next(Path(sysconfig.get_config_var("DESTSHARED")).glob("_queue.*.so"))
    text = f"import importlib.util, os\n\ndef test_it({fixture}):\n"
    text += "    spec = importlib.util.spec_from_file_location('_queue', os.getcwd() + '/ext.so')\n"
    text += "    spec.loader.exec_module(importlib.util.module_from_spec(spec))\n"
    found = judged(world, {f"machine code {fixture}": check_of(text)}, {b"ext.so": source.read_bytes()})
    assert (found.verdict, concerns(found.read, RepoPath(b"ext.so"))) == (GREEN, True)


@pytest.mark.parametrize("package", ["pkg", "space"])
def test_a_module_looked_for_in_vain_in_a_package_that_another_check_loaded_is_reported(
    world: CheckingWorld, package: str
) -> None:
    text = f"def test_it():\n    try: import {package}.accel\n    except ImportError: pass\n"
    checks = {
        f"{package} has": check_of(f"import {package}.other\n\ndef test_it(): pass\n", "own/test_a.py"),
        f"{package} tries": check_of(text, "own/test_b.py"),
    }
    found = judged(world, checks)
    assert found.verdict is GREEN
    assert concerns(found.reads[f"{package} tries"], RepoPath(f"{package}/accel.py".encode()), named=True)


def test_every_link_on_the_way_to_a_file_is_reported(world: CheckingWorld) -> None:
    files = {b"way": Edit(SYMLINK, b"data"), b"a": Edit(SYMLINK, b"b"), b"b": Edit(SYMLINK, b"way/table.txt")}
    found = judged(world, {"links": check_of("def test_it(): assert open('a').read()\n")}, files)
    assert found.verdict is GREEN
    assert {b"way", b"a", b"b", TABLE} <= set(found.read or ())


@WAYS
@pytest.mark.parametrize("text", ["len(os.listdir('own')) == 2", "os.path.exists('own/test_a.py')"])
def test_what_lies_there_only_for_another_check_turns_nothing_green(
    world: CheckingWorld, text: str, fixture: str
) -> None:
    lies, looks = f"lies {text} {fixture}", f"looks {text} {fixture}"
    checks = {
        lies: check_of(f"def test_it({fixture}): pass\n", "own/test_a.py"),
        looks: check_of(f"import os\n\ndef test_it({fixture}): assert {text}\n", "own/test_b.py"),
    }
    assert judged(world, checks).failed == (looks,)


@WAYS
@pytest.mark.parametrize(
    ("leaves", "needs"),
    [
        ("os.environ['LEFT'] = '1'", "assert os.environ['LEFT']"),
        ("os.environ.pop('LANG')", "assert 'LANG' not in os.environ"),
        ("os.chdir('data')", "assert open('table.txt').read()"),
        ("sys.path.insert(0, 'pkg')", "import other"),
    ],
    ids=["set", "unset", "folder", "path"],
)
def test_what_a_test_leaves_changed_turns_no_other_check_green(
    world: CheckingWorld, leaves: str, needs: str, fixture: str
) -> None:
    first, second = f"first {leaves} {fixture}", f"second {leaves} {fixture}"
    checks = {
        first: check_of(f"import os, sys\n\ndef test_it({fixture}):\n    {leaves}\n", "own/test_a.py"),
        second: check_of(f"import os, sys\n\ndef test_it({fixture}):\n    {needs}\n", "own/test_b.py"),
    }
    assert judged(world, checks).failed == (second,)


def test_within_a_check_tests_find_what_those_before_left(world: CheckingWorld) -> None:
    text = "import os\n\ndef test_one(): os.environ['LEFT'] = '1'\n\ndef test_two(): assert os.environ['LEFT']\n"
    assert judged(world, {"both": check_of(text)}).verdict is GREEN


@WAYS
def test_a_module_of_the_tree_may_be_named_like_one_that_the_sandbox_itself_loaded(
    world: CheckingWorld, fixture: str
) -> None:
    text = f"import resource\n\ndef test_it({fixture}): assert resource.mine() == 1\n"
    found = judged(world, {f"shadow {fixture}": check_of(text)})
    assert (found.verdict, found.output) == (GREEN, "")


@WAYS
def test_code_that_asks_whether_pytest_runs_it_is_told_the_same_in_every_way(
    world: CheckingWorld, fixture: str
) -> None:
    files = {b"asks.py": b"import sys\n\nTESTING = 'pytest' in sys.modules\n"}
    text = f"from asks import TESTING\n\ndef test_it({fixture}): assert not TESTING\n"
    name = f"asks {fixture}"
    assert judged(world, {name: check_of(text)}, files).failed == (name,)


def test_a_failure_with_half_a_character_is_told_as_text(world: CheckingWorld) -> None:
    found = judged(world, {"half": check_of("def test_it():\n    raise ValueError('\\udcff')\n")})
    assert found.failed == ("half",)
    assert b"ValueError: ?" in found.output.encode()


def test_a_changed_test_file_whose_name_is_no_text_is_judged(tmp_path: Path) -> None:
    name = b"tests/test_\xff.py"
    with CheckingWorld(tmp_path / "repo.git", {name: b"def test_it(): pass\n"}) as world:
        found = world.judge_one(Check(tests=("tests",)), {name: b"def test_it(): assert 1\n"})
    assert (found.verdict, name in (found.read or ())) == (GREEN, True)


def test_files_that_are_written_one_after_the_other_never_have_the_same_time(
    world: CheckingWorld, tmp_path: Path
) -> None:
    checkout = Checkout(tmp_path / "c")
    seen = set()
    for number in range(4):
        checkout.hold(world.code({b"code_of.py": b"x = %d\n" % number}), {})
        seen.add(int((checkout.root / "code_of.py").stat().st_mtime))
    assert len(seen) == 4


def test_a_test_that_main_itself_no_longer_has_is_not_missed(tmp_path: Path) -> None:
    test = b"import code_of, pytest\n\n@pytest.mark.parametrize('name', code_of.NAMES)\ndef test_it(name): pass\n"
    world = CheckingWorld(tmp_path / "repo.git", {b"code_of.py": b"NAMES = 'ab'\n", b"tests/test_n.py": test})
    stream = b"commit refs/heads/later\ncommitter P <p@example.org> 1700000000 +0000\ndata 5\nlater\n"
    stream += b"from refs/heads/main\nM 100644 inline code_of.py\ndata 12\nNAMES = 'a'\n\n"
    git = ["git", "-C", str(world.repository)]
    subprocess.run([*git, "fast-import", "--quiet"], env=ENVIRONMENT, input=stream, check=True)
    tree = subprocess.run([*git, "rev-parse", "later^{tree}"], env=ENVIRONMENT, capture_output=True, check=True).stdout
    with world:
        later = tree.decode().strip()
        world.trees.tell("as later", later, {RepoPath(b"unrelated.txt"): Edit(REGULAR, b"1\n")})
        world.trees.tell("less than later", later, {RepoPath(b"code_of.py"): Edit(REGULAR, b"NAMES = ''\n")})
        trees = (world.tree(CHANGED), "as later", "less than later")
        found = world.judge({"c": Check(tests=("tests/test_n.py",))}, *((tree, ("c",)) for tree in trees))
    assert [one.verdict for one in found] == [GREEN, GREEN, RED]


@pytest.mark.full
def test_a_small_text_that_is_long_work_for_the_compiler_is_held_to_the_limits(world: CheckingWorld) -> None:
    lines = ["def bomb():"]
    for depth in range(1, 20):
        lines += [" " * depth + "try: x()", " " * depth + "finally:"]
    files = {b"bomb.py": "\n".join([*lines, " " * 20 + "y()\n"]).encode()}
    check = check_of("import bomb\n\ndef test_it(): pass\n", limits=Limits(wall_s=1.0, memory_bytes=1 << 29))
    assert judged(world, {"bomb": check}, files).failed == ("bomb",)

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from checking_world import CheckingWorld

from lanes.checking.sandbox import Sandbox
from qodebase.check import Check
from qodebase.check_selection import Selection
from qodebase.paths import RepoPath
from qodebase.ports import Verdict

pytestmark = pytest.mark.usefixtures("sandboxed")

CODE = b"""from rates import tax

def add(one, two):
    return one + two + tax()

def off(one):
    return -one
"""
FILES = {
    b"code_of.py": CODE,
    b"rates.py": b"def tax():\n    return 0\n\n\ndef more():\n    return 1\n",
    b"tests/test_held.py": b"from code_of import off\n\n\ndef test_held():\n    assert off(1) == -1\n",
    b"data.txt": b"1",
}
IMPORTS = "import code_of\n\n\n"
OWN = RepoPath(b"own/test_own.py")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckingWorld]:
    with CheckingWorld(tmp_path_factory.mktemp("world") / "repo.git", FILES) as made:
        yield made


def own(text: str, function: str = "::test_it") -> Check:
    return Check(tests=(f"{OWN.text}{function}",), files={OWN: (IMPORTS + text).encode()})


def words(world: CheckingWorld, check: Check, files: Mapping[bytes, bytes]) -> set[str] | None:
    """Judge a tree with a check of a new name, for what a check did before is remembered by its name."""
    name = f"c{len(world.checks)}"
    (judged,) = world.judge({name: check}, (world.tree(files), (name,)))
    parts = judged.mentions.get(name)
    return None if parts is None else set().union(*parts)


def test_a_check_that_only_calls_functions_is_told_with_what_it_mentions(world: CheckingWorld) -> None:
    check = own("def test_it():\n    assert code_of.add(1, 2) == 3\n")
    found = words(world, check, {b"rates.py": FILES[b"rates.py"] + b"# seen\n"})
    assert found is not None
    assert {"test_it", "add", "tax"} <= found
    assert not {"off", "more", "test_held"} & found


def test_what_it_mentions_is_that_of_the_judged_tree(world: CheckingWorld) -> None:
    check = own("def test_it():\n    assert code_of.add(1, 2)\n")
    found = words(world, check, {b"code_of.py": CODE.replace(b"tax()", b"off(1)")})
    assert found is not None
    assert "off" in found


@pytest.mark.parametrize(
    "text",
    [
        "def test_it():\n    assert open('data.txt').read() == '1' and code_of.add(1, 1) == 2\n",
        "def test_it(tmp_path):\n    assert code_of.add(1, 1) == 2\n",
        "import pytest\n\ndef test_it():\n    assert code_of.add(1, 1) == 2\n",
        "def test_it():\n    assert getattr(code_of, 'ad' + 'd')(1, 1) == 2\n",
        "def test_it():\n    import subprocess\n    assert subprocess.run(['true']).returncode == 0\n",
        "def test_it():\n    assert code_of.add(1, 1) == 3\n",
    ],
)
def test_nothing_is_told_of_a_check_that_does_more_or_is_red(world: CheckingWorld, text: str) -> None:
    assert words(world, own(text), {b"data.txt": b"1"}) is None


def test_nothing_is_told_of_a_check_that_selects_a_whole_file(world: CheckingWorld) -> None:
    text = "def test_it():\n    assert code_of.off(1) == -1\n"
    assert words(world, own(text), {b"data.txt": b"2"}) is not None
    assert words(world, own(text, ""), {b"data.txt": b"2"}) is None


def test_a_test_of_the_tree_is_told_unless_the_changes_touch_its_file(world: CheckingWorld) -> None:
    held = Check(tests=("tests/test_held.py::test_held",))
    found = words(world, held, {b"data.txt": b"3"})
    assert found is not None
    assert "off" in found
    assert words(world, held, {b"tests/test_held.py": FILES[b"tests/test_held.py"] + b"\n"}) is None


def test_nothing_is_told_where_another_python_runs_the_tests(world: CheckingWorld, tmp_path: Path) -> None:
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    other.symlink_to(Sandbox().python)
    prefix = Path(sys.prefix)
    for name in ("pyvenv.cfg", "lib"):
        (tmp_path / name).symlink_to(prefix / name)
    sandbox = Sandbox(python=str(other), keep=(tmp_path, prefix))
    with CheckingWorld(tmp_path / "repo.git", FILES, sandbox=sandbox) as elsewhere:
        judged = elsewhere.judge_one(own("def test_it():\n    assert code_of.off(1) == -1\n"), {b"data.txt": b"4"})
    assert judged.verdict == "green"
    assert judged.mentions == {}


@pytest.mark.parametrize(
    ("selection", "read", "named"), [("names", True, True), ("files", True, False), ("all", False, False)]
)
def test_no_more_is_told_of_what_a_check_looked_at_than_the_selection_goes_by(
    tmp_path: Path, selection: Selection, read: bool, named: bool
) -> None:
    with CheckingWorld(tmp_path / "repo.git", FILES, selection=selection) as made:
        (judged,) = made.judge(
            {"own": own("def test_it():\n    assert code_of.add(1, 2) == 3\n")}, (made.tree({}), ("own",))
        )
    assert judged.verdict is Verdict.GREEN
    assert ((judged.reads["own"] is not None), bool(judged.mentions)) == (read, named)
    assert (judged.read is not None) is read

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from checking_world import CheckingWorld

from lanes.checking.warm import Outcome, Request, Warm
from qodebase.check import Check, Limits
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict

pytestmark = pytest.mark.usefixtures("sandboxed")

FILES = {
    b"base_of.py": b"def two():\n    return 2\n",
    b"left.py": b"from base_of import two\n\ndef four():\n    return two() + two()\n",
    b"right.py": b"import base_of\n\ndef six():\n    return 3 * base_of.two()\n",
    b"late.py": b"SEEN = []\n\ndef seen():\n    return SEEN\n",
    b"table.txt": b"1\n",
}
CHANGED = {b"other.py": b"1\n"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckingWorld]:
    with CheckingWorld(tmp_path_factory.mktemp("world") / "repo.git", FILES) as made:
        yield made


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Return what is asked of the processes, as it is asked."""
    found: list[Request] = []
    really = Warm.run

    async def noted(warm: Warm, request: Request) -> Outcome:
        found.append(request)
        return await really(warm, request)

    monkeypatch.setattr(Warm, "run", noted)
    return found


def checks_of(text: str, path: str = "own/test_own.py", limits: Limits | None = None) -> dict[str, Check]:
    """Return a check for each test function of a file that all of them bring."""
    names = [line[4:].partition("(")[0] for line in text.splitlines() if line.startswith("def test_")]
    files = {RepoPath(path.encode()): text.encode()}
    return {
        name: Check(tests=(f"{path}::{name}",), files=files, limits=limits or Limits(wall_s=30.0)) for name in names
    }


def judged(world: CheckingWorld, checks: dict[str, Check], files: dict[bytes, bytes | None] | None = None) -> Judgement:
    (found,) = world.judge(checks, (world.tree(files or CHANGED), tuple(checks)))
    return found


def test_many_checks_are_one_run_and_each_knows_only_what_it_read(world: CheckingWorld, ran: list[Request]) -> None:
    lines = [f"def test_l{number}():\n    assert four() == 4\n\n" for number in range(60)]
    checks = checks_of("from left import four\n\n" + "".join(lines), "own/test_left.py")
    checks |= checks_of("from right import six\n\ndef test_right():\n    assert six() == 6\n", "own/test_right.py")
    found = judged(world, checks)
    assert (found.verdict, len(ran)) == (Verdict.GREEN, 1)
    of_left, of_right = found.reads["test_l59"], found.reads["test_right"]
    assert of_left is not None
    assert of_right is not None
    assert {b"left.py", b"base_of.py", b"own/test_left.py"} <= set(of_left)
    assert {b"right.py", b"base_of.py", b"own/test_right.py"} <= set(of_right)
    assert {b"right.py", b"own/test_right.py"}.isdisjoint(of_left)
    assert {b"left.py", b"own/test_left.py"}.isdisjoint(of_right)


def test_pytest_attributes_reads_in_the_same_way_where_tests_have_fixtures(world: CheckingWorld) -> None:
    checks = checks_of(
        "from left import four\n\ndef test_left(tmp_path):\n    assert four() == 4\n", "own/test_left.py"
    )
    checks |= checks_of(
        "def test_right(tmp_path):\n    from right import six\n    assert six() == 6\n", "own/test_r.py"
    )
    reads = judged(world, checks).reads
    left, right = set(reads["test_left"] or ()), set(reads["test_right"] or ())
    assert {b"left.py", b"base_of.py"} <= left
    assert {b"right.py", b"base_of.py"} <= right
    assert b"right.py" not in left
    assert b"left.py" not in right


def test_what_a_test_reads_may_stay_in_memory_so_later_ones_depend_on_it_until_they_are_kept_apart(
    world: CheckingWorld,
) -> None:
    text = "import functools\n\n@functools.cache\ndef table():\n    return open('table.txt').read()\n\n"
    text += "def test_first():\n    assert table()\n\ndef test_second():\n    assert table()\n\n"
    checks = checks_of(text) | checks_of("def test_third():\n    pass\n", "own/test_third.py")
    first = judged(world, checks)
    assert all(b"table.txt" in (first.reads[name] or ()) for name in ("test_first", "test_second", "test_third"))
    judged(world, checks)
    again = judged(world, checks)
    assert all(b"table.txt" in (again.reads[name] or ()) for name in ("test_first", "test_second"))
    assert b"table.txt" not in (again.reads["test_third"] or (b"table.txt",))


def test_a_red_test_is_run_again_alone_so_state_that_another_left_behind_blames_nobody(world: CheckingWorld) -> None:
    text = "import late\n\ndef test_dirty():\n    late.SEEN.append(1)\n\n"
    text += "def test_clean():\n    assert late.seen() == []\n\n"
    found = judged(world, checks_of(text + "def test_wrong():\n    assert late.seen() == [2]\n"))
    assert found.failed == ("test_wrong",)
    assert found.output.startswith("test_wrong: 1 of 1 tests failed: own/test_own.py::test_wrong")
    assert "assert [] == [2]" in found.output


@pytest.mark.parametrize("fixture", ["", "tmp_path"], ids=["plain", "pytest"])
def test_a_test_that_ends_or_blocks_its_process_makes_only_its_own_check_red(
    world: CheckingWorld, ran: list[Request], fixture: str
) -> None:
    text = "import os\n\n" + "".join(f"def test_{number}({fixture}): pass\n\n" for number in range(20))
    text += f"def test_exit({fixture}): os._exit(0)\n\ndef test_loop({fixture}):\n    while True: pass\n\n"
    text += "".join(f"def test_after_{number}({fixture}): pass\n\n" for number in range(20))
    found = judged(world, checks_of(text, limits=Limits(wall_s=1.5)))
    assert found.failed == ("test_exit", "test_loop")
    assert "test_exit: pytest was ended from within, in own/test_own.py::test_exit" in found.output
    assert "test_loop: it took longer than 1.5 s, in own/test_own.py::test_loop" in found.output
    assert len(ran) <= 8


def test_a_file_that_cannot_be_imported_is_red_for_all_of_its_checks_and_for_no_other(
    world: CheckingWorld, ran: list[Request]
) -> None:
    lines = "".join(f"def test_{number}():\n    assert five() == 5\n\n" for number in range(30))
    checks = checks_of("from left import five\n\n" + lines, "own/test_five.py")
    others = checks_of("from left import four\n\ndef test_good():\n    assert four() == 4\n", "own/test_good.py")
    found = judged(world, {**others, **checks})
    assert found.failed == tuple(checks)
    assert "test_7: 1 of 1 tests failed: own/test_five.py\n" in found.output
    assert "ImportError: cannot import name 'five'" in found.output
    assert len(ran) <= 3


def test_a_file_whose_import_never_ends_is_waited_for_a_few_times_only(
    world: CheckingWorld, ran: list[Request]
) -> None:
    text = "while True: pass\n\n" + "".join(f"def test_{number}(): pass\n\n" for number in range(30))
    found = judged(world, checks_of(text, limits=Limits(wall_s=30.0, cpu_s=1)))
    assert len(found.failed) == 30
    assert "test_9: it used more processor time than it may, in own/test_own.py" in found.output
    assert len(ran) <= 3


def test_a_test_that_is_not_there_is_red_and_the_others_are_not(world: CheckingWorld) -> None:
    checks = checks_of("def test_here():\n    pass\n")
    gone = Check(tests=("own/test_own.py::test_gone",), files=checks["test_here"].files)
    found = judged(world, {**checks, "gone": gone})
    assert found.failed == ("gone",)
    assert "not found" in found.output


def test_what_breaks_after_the_tests_of_a_file_is_red_for_each_check_of_it(world: CheckingWorld) -> None:
    text = "def teardown_module():\n    raise ValueError('late')\n\n"
    found = judged(world, checks_of(text + "def test_one():\n    pass\n\ndef test_two():\n    pass\n"))
    assert found.failed == ("test_one", "test_two")


def test_checks_with_other_texts_at_the_same_path_do_not_meet(world: CheckingWorld) -> None:
    one = checks_of("def test_it():\n    assert True\n")["test_it"]
    two = checks_of("def test_it():\n    assert False\n")["test_it"]
    helper = RepoPath(b"own/helper.py")
    brings = Check(
        tests=("own/test_brings.py",),
        files={
            helper: b"x = 1\n",
            RepoPath(b"own/test_brings.py"): b"import helper\n\ndef test_x(): assert helper.x\n",
        },
    )
    needs = Check(
        tests=("own/test_n.py",), files={RepoPath(b"own/test_n.py"): b"import helper\n\ndef test_x(): pass\n"}
    )
    reads = (
        b"def test_x(): assert not __import__('os').path.exists('own/test_own.py') or open('own/test_own.py').read()\n"
    )
    looks = Check(tests=("own/test_l.py",), files={RepoPath(b"own/test_l.py"): reads})
    found = judged(world, {"one": one, "two": two, "brings": brings, "needs": needs, "looks": looks})
    assert found.failed == ("two", "needs")
    assert RepoPath(b"own/test_own.py") in (found.reads["looks"] or ())


def test_the_process_that_checks_are_forked_from_does_not_grow(world: CheckingWorld) -> None:
    text = "from left import four\nKEPT = bytes(4 << 20)\n\ndef test_big():\n    assert four() == 4\n"

    def pages() -> int:
        process = world.checker._runs._small._process
        assert process is not None
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])

    judged(world, checks_of(text))
    before = pages()
    for number in range(12):
        judged(world, checks_of(text + f"# {number}\n"), {b"left.py": FILES[b"left.py"] + b"# %d\n" % number})
    assert pages() - before < 256

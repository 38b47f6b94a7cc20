from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from checking_world import CheckingWorld, Files

from lanes.gate import Gate
from lanes.verdicts import Verdicts
from qodebase.change import EXECUTABLE, SYMLINK
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict

CODE = b"def f():\n    return 1\n\n\ndef g():\n    return 2\n"
F2 = CODE.replace(b"return 1", b"return 3")
G2 = CODE.replace(b"return 2", b"return 4")
BASE = {b"pkg/code.py": CODE, b"pkg/data.txt": b"1", b"other.txt": b"1"}
READ = (RepoPath(b"pkg/code.py"), RepoPath(b"pkg/data.txt"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[CheckingWorld]:
    with CheckingWorld(tmp_path / "repo.git", BASE) as made:
        yield made


def green(tree: str, *names: str, mentions: str = "f", **words: Any) -> Judgement:
    reads = dict.fromkeys(names, READ)
    parts = {name: (frozenset(mentions.split()),) for name in names} if mentions else {}
    settings: dict[str, Any] = {"verdict": Verdict.GREEN, "reads": reads, "mentions": parts, **words}
    return Judgement(tree=tree, checks=names, **settings)


def holds(world: CheckingWorld, before: Files, after: Files, mentions: str = "f") -> bool:
    verdicts = Verdicts(world.trees)
    verdicts.take(green(world.tree(before), "c", mentions=mentions))
    return "c" in verdicts.holding(world.tree(after), ["c"])


def test_a_verdict_holds_where_nothing_that_was_looked_at_is_different(world: CheckingWorld) -> None:
    assert holds(world, {b"pkg/code.py": G2}, {b"pkg/code.py": G2, b"other.txt": b"2"})
    assert holds(world, {b"pkg/code.py": G2}, {b"pkg/code.py": G2})
    assert holds(world, {b"pkg/code.py": G2}, {b"other.txt": None})


def test_it_does_not_hold_where_a_file_that_was_read_is_different(world: CheckingWorld) -> None:
    assert not holds(world, {}, {b"pkg/data.txt": b"2"})
    assert not holds(world, {b"pkg/data.txt": b"2"}, {})
    assert not holds(world, {}, {b"pkg/data.txt": None})
    assert not holds(world, {b"pkg/code.py": F2}, {b"pkg/code.py": CODE}, mentions="")
    assert not holds(world, {}, {b"pkg/code.py": Edit(EXECUTABLE, CODE)})


def test_it_does_not_hold_where_something_in_a_folder_that_was_listed_is_of_another_kind(world: CheckingWorld) -> None:
    verdicts = Verdicts(world.trees)
    verdicts.take(green(world.tree({}), "c", reads={"c": (RepoPath(b"pkg/"),)}))
    for entry, held in ((b"2", True), (Edit(SYMLINK, b"code.py"), False)):
        assert ("c" in verdicts.holding(world.tree({b"pkg/data.txt": entry}), ["c"])) is held


def test_it_holds_where_only_names_are_different_that_are_not_mentioned(world: CheckingWorld) -> None:
    assert holds(world, {b"pkg/code.py": CODE}, {b"pkg/code.py": G2})
    assert not holds(world, {b"pkg/code.py": CODE}, {b"pkg/code.py": F2})
    assert not holds(world, {b"pkg/code.py": F2}, {b"pkg/code.py": G2})
    assert not holds(world, {}, {b"pkg/code.py": CODE.replace(b"def g", b"def h")})


def test_it_holds_only_where_main_before_the_changes_is_the_same_too(world: CheckingWorld) -> None:
    verdicts = Verdicts(world.trees)
    changed = world.tree({b"pkg/data.txt": b"2"})
    verdicts.take(green(changed, "c"))
    assert "c" in verdicts.holding(changed, ["c"])
    # The same as main with nothing changed: what the tests are held to is another main.
    world.trees.tell(world.tree({b"pkg/data.txt": b"2", b"other.txt": b"3"}), changed, {RepoPath(b"other.txt"): None})
    later = world.tree({b"pkg/data.txt": b"2", b"other.txt": b"3"})
    assert "c" in verdicts.holding(later, ["c"])


@pytest.mark.parametrize(
    "words",
    [
        {"verdict": Verdict.HOLD},
        {"verdict": Verdict.RED},
        {"verdict": Verdict.RED, "failed": ("c",)},
        {"reads": {}},
        {"reads": {"c": None}},
    ],
)
def test_only_what_was_green_and_is_known_to_have_read_so_much_is_kept(
    world: CheckingWorld, words: dict[str, Any]
) -> None:
    verdicts = Verdicts(world.trees)
    tree = world.tree({})
    verdicts.take(green(tree, "c", **words))
    assert verdicts.holding(tree, ["c"]) == {}


def test_of_a_red_judgement_what_was_green_is_kept_and_under_its_other_names_too(world: CheckingWorld) -> None:
    verdicts = Verdicts(world.trees)
    tree = world.tree({})
    verdicts.take(green(tree, "c", "d", verdict=Verdict.RED, failed=("d",)), {"c": ["e"], "d": ["f"]})
    assert set(verdicts.holding(tree, ["c", "d", "e", "f"])) == {"c", "e"}


def test_a_verdict_on_a_tree_that_nobody_knows_holds_nowhere(world: CheckingWorld) -> None:
    verdicts = Verdicts(world.trees)
    verdicts.take(green("0" * 40, "c"))
    assert verdicts.holding(world.tree({}), ["c"]) == {}
    verdicts.take(green(world.tree({}), "c"))
    assert verdicts.holding("1" * 40, ["c"]) == {}


def test_what_holds_is_carried_from_tree_to_tree(world: CheckingWorld) -> None:
    verdicts = Verdicts(world.trees)
    verdicts.take(green(world.tree({}), "c"))
    code = CODE
    for number in range(20):
        code += b"\n\ndef new_%d():\n    return 1\n" % number
        tree = world.tree({b"pkg/code.py": code})
        assert "c" in verdicts.holding(tree, ["c"])


class Ran:
    """A checker that notes what it is asked; a check reads everything of the package and mentions f."""

    def __init__(self, *red: str) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._red = red

    async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
        self.asked.append(tuple(checks))
        failed = tuple(name for name in checks if name in self._red)
        return green(tree, *checks, verdict=Verdict.RED if failed else Verdict.GREEN, failed=failed)


def test_the_gate_runs_only_what_is_not_known_from_another_tree(world: CheckingWorld) -> None:
    checker = Ran()
    gate = Gate(checker, Verdicts(world.trees))

    async def judged(files: Files, *names: str) -> tuple[int, int, int]:
        found = await gate.judge(world.tree(files), names)
        assert found.judgement.verdict is Verdict.GREEN
        assert set(found.judgement.reads) == set(names)
        return found.runs, found.inherited, len(found.judgement.mentions)

    async def work() -> None:
        assert await judged({}, "a", "b") == (1, 0, 2)
        assert await judged({b"pkg/code.py": G2}, "a", "b") == (0, 2, 2)
        assert await judged({b"pkg/code.py": G2}, "a") == (0, 0, 1)
        assert await judged({b"other.txt": b"2"}, "a", "new") == (1, 1, 2)
        assert await judged({b"pkg/code.py": F2}, "a", "b") == (1, 0, 2)

    asyncio.run(work())
    assert checker.asked == [("a", "b"), ("new",), ("a", "b")]


def test_what_is_red_is_run_on_every_tree_and_again(world: CheckingWorld) -> None:
    checker = Ran("a")
    gate = Gate(checker, Verdicts(world.trees))

    async def work() -> None:
        for files in ({}, {b"other.txt": b"2"}):
            found = await gate.judge(world.tree(files), ["a", "b"])
            assert found.judgement.failed == ("a",)

    asyncio.run(work())
    assert checker.asked == [("a", "b"), ("a",), ("a",), ("a",)]
    assert asyncio.run(gate.again(world.tree({}), ["b"], 3)) == [frozenset()] * 3
    assert checker.asked[-3:] == [("b",)] * 3

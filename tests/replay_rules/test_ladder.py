"""The ladder: steps in order, each written down, none believed that an invariant doubts."""

from __future__ import annotations

import msgspec
import pytest

from qodebase.change import EXECUTABLE, REGULAR
from qodebase.collision import Collision, Declined, Kind, Resolved, Side, Step
from qodebase.paths import RepoPath
from replay_rules.ladder import climb, climb_shared, kind_of, redo
from replay_rules.registry import rules_for
from replay_rules.symbols_added import rule
from tests.support.replay_sides import edited

INDEX = b"# Index\n\n- `b` `g` x\n"


def collide(path: str, *contents: bytes | None, modes: tuple[int, ...] = (REGULAR,) * 3) -> Collision:
    sides = [Side(content=content, mode=mode) for content, mode in zip(contents, modes, strict=True)]
    return Collision(path=RepoPath(path.encode()), base=sides[0], main=sides[1], change=sides[2])


def test_a_clean_merge_is_one_step() -> None:
    climbed = climb(collide("a", b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n"), ["sorted-index"])
    assert climbed.resolved == Resolved(content=b"A\nb\nC\n")
    assert climbed.steps == (Step(by="merge"),)


def test_what_the_merge_declines_goes_to_the_rules_and_every_step_says_why() -> None:
    main, change = INDEX + b"- `c` `h` main\n", INDEX + b"- `d` `i` change\n"
    climbed = climb(collide("I.md", INDEX, main, change), ["file-mode", "sorted-index"])
    assert climbed.resolved == Resolved(content=main + b"- `d` `i` change\n")
    assert [(step.by, bool(step.declined)) for step in climbed.steps] == [
        ("merge", True),
        ("rule:file-mode", True),
        ("rule:sorted-index", False),
    ]


def test_a_doubtful_merge_is_declined_with_the_invariants_name() -> None:
    base = b"a\n" * 3 + b"n = 5\n" + b"b\n" * 3
    raised = base.replace(b"5", b"6")
    climbed = climb(collide("a", base, raised, raised))
    assert climbed.resolved is None
    assert climbed.steps[0].declined.startswith("alike: ")


def test_the_mode_is_merged_whatever_a_rule_says() -> None:
    main, change = INDEX + b"- `c` `h` main\n", INDEX + b"- `d` `i` change\n"
    modes = (REGULAR, EXECUTABLE, REGULAR)
    outcome = redo(collide("I.md", INDEX, main, change, modes=modes), "rule:sorted-index")
    assert isinstance(outcome, Resolved)
    assert outcome.mode == EXECUTABLE
    clash = collide("I.md", INDEX, main, change, modes=(REGULAR, EXECUTABLE, 0o120000))
    assert isinstance(redo(clash, "rule:sorted-index"), Declined)


def test_a_shared_path_is_redone_by_its_rule_alone() -> None:
    climbed = climb_shared(collide("I.md", INDEX, None, INDEX + b"- `d` `i` x\n"), "sorted-index")
    assert climbed.resolved is None
    assert climbed.steps == (Step(by="rule:sorted-index", declined="the index was deleted"),)


def test_collisions_are_named_by_what_differs() -> None:
    assert kind_of(collide("a", None, b"a", b"b")) is Kind.ADDED_TWICE
    assert kind_of(collide("a", b"a", None, b"b")) is Kind.DELETED
    assert kind_of(collide("a", b"a", b"a", b"b")) is Kind.MODE
    assert kind_of(collide("a", b"a", b"b", b"c")) is Kind.CONTENT


def test_a_rule_has_no_say_in_blank_lines_where_git_merges() -> None:
    base = b"class A:\n    x = 1\n\n\nclass B:\n    pass\n"
    main = base.replace(b"1\n\n\n", b"1\n\n    y = 2\n\n")
    change = base.replace(b"class B", b"def f():\n    return 1\n\n\nclass B")
    collision = collide("m.py", base, main, change)
    merged, by_rule, ruled = redo(collision, "merge"), redo(collision, "rule:symbols-added"), rule(collision)
    assert isinstance(merged, Resolved)
    assert isinstance(ruled, Resolved)
    assert merged.content != ruled.content
    assert by_rule == merged


def test_no_rule_lands_a_use_of_a_name_that_main_renamed() -> None:
    base = b"def old(x):\n    return x + 1\n\n\ndef last():\n    return 0\n"
    main = base.replace(b"old", b"new") + b"\n\ndef theirs():\n    return new(1)\n"
    change = base + b"\n\ndef mine():\n    return old(2)\n"
    sides = [Side(content=content) for content in (base, main, change)]
    climbed = climb(Collision(path=RepoPath(b"a.py"), base=sides[0], main=sides[1], change=sides[2]), ["symbols-added"])
    assert climbed.resolved is None
    assert "rename: old is used and no longer defined" in climbed.steps[-1].declined


_BODY = b"def f(a):\n    n = 5\n    x = a\n    y = a\n    z = a\n    w = a\n    return n\n"
_ALIKE = {
    "m.py": (
        b"import os\n\n\n" + _BODY,
        ((b"import os\n", b"import os\nimport re\n"), (b"n = 5", b"n = 6"), (b"w = a", b"w = 1")),
        ((b"import os\n", b"import os\nimport sys\n"), (b"n = 5", b"n = 6"), (b"y = a", b"y = 2")),
    ),
    "renamed.py": (
        _BODY + b"\n\nN = 5\nA = 1\nB = 1\nC = 1\n",
        ((b"def f", b"def g"), (b"N = 5", b"N = 6")),
        ((b"N = 5", b"N = 6"), (b"C = 1\n", b"C = f(1)\n")),
    ),
    "setup.cfg": (
        b"version = 1.4.0\na = 1\nbuild = 5\nb = 1\nc = 1\n",
        ((b"1.4.0", b"1.4.1"), (b"build = 5", b"build = 6")),
        ((b"1.4.0", b"1.5.0"), (b"build = 5", b"build = 6"), (b"c = 1", b"c = 2")),
    ),
    "T.md": (
        b"count: 5\n\na\n\nb\n\n| n | v |\n| - | - |\n| a | 1 |\n",
        ((b"count: 5", b"count: 6"), (b"| a | 1 |\n", b"| a | 1 |\n| b | 2 |\n")),
        ((b"count: 5", b"count: 6"), (b"\nb\n", b"\nbb\n"), (b"| a | 1 |\n", b"| a | 1 |\n| c | 3 |\n")),
    ),
}


@pytest.mark.parametrize("path", _ALIKE)
def test_an_edit_that_both_sides_made_is_not_taken_once_beside_what_a_rule_decides(path: str) -> None:
    base, ours, theirs = _ALIKE[path]
    main, change = edited(base, *ours), edited(base, *theirs)
    for sides in ((main, change), (change, main)):
        assert climb(collide(path, base, *sides), rules_for(RepoPath(path.encode()))).resolved is None
    once = msgspec.structs.replace(collide(path, base, main, change), idempotent=True)
    assert climb(once, rules_for(once.path)).resolved is not None

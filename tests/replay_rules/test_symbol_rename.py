"""A rename on one side, edits on the other."""

from __future__ import annotations

import pytest

from replay_rules.symbol_rename import dangling, rule, stale_use
from tests.support.three_ways import content, three, why

BASE = b"def old(x):\n    return x\n\n\ndef user():\n    return old(1)\n"
RENAMED = BASE.replace(b"old", b"new")


def test_a_new_caller_is_renamed_whichever_side_renamed() -> None:
    grown = BASE + b"\n\ndef more():\n    return map(old, [old(2)])\n"
    assert content(rule(three(BASE, RENAMED, grown))) == grown.replace(b"old", b"new")
    assert content(rule(three(BASE, grown, RENAMED))) == grown.replace(b"old", b"new")


def test_an_edit_of_a_line_with_the_old_name_is_renamed() -> None:
    assert content(rule(three(BASE, RENAMED, BASE.replace(b"old(1)", b"old(1) + 1")))) == RENAMED.replace(
        b"new(1)", b"new(1) + 1"
    )


def test_edits_beside_the_rename_are_merged() -> None:
    main = RENAMED + b"\n\nX = 1\n"
    change = b"import os\n" + BASE
    assert content(rule(three(BASE, main, change))) == b"import os\n" + main


def test_comments_follow_where_the_rename_changed_comments() -> None:
    base = b"# old doubles\n" + BASE
    change = base + b"# old again\nold(5)\n"
    assert content(rule(three(base, base.replace(b"old", b"new"), change))) == change.replace(b"old", b"new")


def test_methods_of_scripts_are_renamed() -> None:
    base = b"class A {\n  old() {\n    return 1;\n  }\n}\nnew A().old();\n"
    change = base.replace(b".old()", b".old() + 1")
    outcome = rule(three(base, base.replace(b"old", b"fresh"), change, b"a.js"))
    assert content(outcome) == change.replace(b"old", b"fresh")


@pytest.mark.parametrize(
    ("main", "change"),
    [
        (RENAMED, BASE + b"\n\ndef new():\n    return 1\n"),
        (RENAMED, BASE + b"\n\ndef other(old):\n    return old\n"),
        (RENAMED, BASE + b"\n\nx.old = 1\n"),
        (RENAMED, BASE + b"\n\ng('old')\n"),
        (RENAMED, BASE + b"\n\n# the old way\n"),
        (b"def new(y):\n    return y * 2\n\n\ndef user():\n    return new(1)\n", BASE + b"old(3)\n"),
        (RENAMED, BASE.replace(b"old", b"newer")),
        (RENAMED + b"old = 3\n", BASE + b"old(3)\n"),
        (BASE + b"x = 1\n", BASE + b"y = 1\n"),
    ],
)
def test_what_may_be_no_rename_is_declined(main: bytes, change: bytes) -> None:
    assert why(rule(three(BASE, main, change)))


def test_a_merge_that_left_a_caller_of_the_old_name_is_seen() -> None:
    assert dangling("python", BASE, RENAMED + b"\n\nold(3)\n") == "old"
    assert dangling("python", BASE, RENAMED) == ""
    assert dangling("python", BASE, RENAMED + b"\n\nold = 1\nprint(old)\n") == ""


@pytest.mark.parametrize(
    ("left", "doubted"),
    [(b"", True), (b"# old\n", True), (b"older = 1\n", True), (b"import old\n", False), (b"def old(): pass\n", False)],
)
def test_a_rename_is_seen_whatever_else_holds_the_old_word(left: bytes, doubted: bool) -> None:
    base = left + b"\n\ndef old(x):\n    return x\n\n\ndef user():\n    pass\n"
    used = (b"    pass\n", b"    return old(1)\n")
    main, change = base.replace(b"def old(x)", b"def new(x)"), base.replace(*used)
    assert bool(stale_use(three(base, main, change), main.replace(*used))) == doubted


def test_a_definition_that_moved_to_another_file_is_no_rename() -> None:
    base = b"package a\n\nfunc old() {\n\tmoved()\n}\n\nfunc user() {\n\told()\n}\n\nfunc more() {\n\tother()\n}\n"
    main = base.replace(b"func old() {\n\tmoved()\n}\n\n", b"")
    change, again = (base.replace(b"\tother()\n", use) for use in (b"\tanother()\n", b"\told()\n"))
    for one, two in ((main, change), (change, main)):
        assert stale_use(three(base, one, two, b"a.go"), main.replace(b"\tother", b"\tanother")) == ""
    assert "rename: old" in stale_use(three(base, main, again, b"a.go"), main.replace(b"\tother", b"\told"))

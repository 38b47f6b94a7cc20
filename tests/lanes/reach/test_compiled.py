from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from lanes.checking.definition import Definition
from lanes.checking.mentioning import mentions_of
from lanes.checking.results import Result
from lanes.checking.sharing import Wanted
from lanes.checking.trees import Code
from qodebase.check import Check
from qodebase.paths import RepoPath

TEST = RepoPath(b"tests/test_it.py")
NOT_ASKED = cast(Code, None)
"""The tree: all that is read lies over it."""


@pytest.mark.parametrize("path", [b"shop/fast.cpython-311-x86_64-linux-gnu.so", b"shop/fast.pyc"])
def test_nothing_is_said_of_tests_that_come_to_code_which_is_no_text(path: bytes) -> None:
    check = Check(tests=(f"{TEST.text}::test_it",), files={TEST: b"def test_it():\n    pass\n"})
    wanted = Wanted.of(Definition(check), {})
    green = Result(why="", read=(TEST, RepoPath(b"data.txt"), RepoPath(b"shop/")), called=True)
    assert mentions_of(wanted, green, NOT_ASKED) is not None
    assert mentions_of(wanted, replace(green, read=(TEST, RepoPath(path))), NOT_ASKED) is None

"""A file that both sides added: kept once where it is the same, declined where anything differs."""

from __future__ import annotations

import pytest

from qodebase.change import EXECUTABLE, REGULAR
from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.ladder import climb
from replay_rules.same_file import rule

GONE = Side(content=None)


@pytest.mark.parametrize("content", [b"", b"a\r\n", b"no end", b"\xff\x00\n"])
def test_equal_files_are_kept_once(content: bytes) -> None:
    added = Side(content=content, mode=EXECUTABLE)
    collision = Collision(path=RepoPath(b"a"), base=GONE, main=added, change=added)
    assert rule(collision) == rule(collision) == Resolved(content=content, mode=EXECUTABLE)
    assert climb(collision, ["same-file"]).resolved == Resolved(content=content, mode=EXECUTABLE)


@pytest.mark.parametrize(
    ("base", "main", "change"),
    [
        (GONE, Side(content=b"a"), Side(content=b"a\n")),
        (GONE, Side(content=b"a"), Side(content=b"a", mode=EXECUTABLE)),
        (Side(content=b"x"), Side(content=b"a"), Side(content=b"a")),
        (GONE, GONE, Side(content=b"a", mode=REGULAR)),
    ],
)
def test_anything_that_differs_is_declined(base: Side, main: Side, change: Side) -> None:
    assert isinstance(rule(Collision(path=RepoPath(b"a"), base=base, main=main, change=change)), Declined)

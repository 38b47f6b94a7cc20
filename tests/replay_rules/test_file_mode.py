"""Modes: each side's own change is kept, a clash is the author's."""

from __future__ import annotations

import pytest

from qodebase.change import EXECUTABLE, REGULAR, SYMLINK
from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.file_mode import merged_mode, rule


def collide(modes: tuple[int, int, int], contents: tuple[bytes | None, ...] = (b"a\n",) * 3) -> Collision:
    sides = [Side(content=content, mode=mode) for content, mode in zip(contents, modes, strict=True)]
    return Collision(path=RepoPath(b"run.sh"), base=sides[0], main=sides[1], change=sides[2])


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ((REGULAR, REGULAR, EXECUTABLE), EXECUTABLE),
        ((REGULAR, EXECUTABLE, REGULAR), EXECUTABLE),
        ((EXECUTABLE, REGULAR, REGULAR), REGULAR),
        ((REGULAR, REGULAR, REGULAR), REGULAR),
        ((REGULAR, REGULAR, SYMLINK), None),
        ((0o100664, REGULAR, EXECUTABLE), None),
    ],
)
def test_the_only_changer_of_a_mode_decides_it(modes: tuple[int, int, int], expected: int | None) -> None:
    found = merged_mode(collide(modes))
    assert found == expected if expected else isinstance(found, Declined)


def test_an_edit_keeps_its_bytes_beside_the_other_sides_mode() -> None:
    for content in (b"b\r\n", b"no end", b"\xff\x00"):
        edited = collide((REGULAR, EXECUTABLE, REGULAR), (b"a\n", b"a\n", content))
        assert rule(edited) == Resolved(content=content, mode=EXECUTABLE)
        assert rule(edited) == rule(edited)
        moved = collide((REGULAR, REGULAR, EXECUTABLE), (b"a\n", content, b"a\n"))
        assert rule(moved) == Resolved(content=content, mode=EXECUTABLE)


def test_a_clash_of_modes_or_contents_or_a_missing_side_is_declined() -> None:
    assert isinstance(rule(collide((0o100664, REGULAR, EXECUTABLE))), Declined)
    assert isinstance(rule(collide((REGULAR, EXECUTABLE, REGULAR), (b"a", b"b", b"c"))), Declined)
    assert isinstance(rule(collide((REGULAR, EXECUTABLE, REGULAR), (b"a", None, b"c"))), Declined)

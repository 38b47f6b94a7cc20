"""Moves of main: believed where they are certain, and a change to the old path meets the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from qodebase.change import EXECUTABLE, REGULAR, SYMLINK
from qodebase.collision import Collision, Declined, Entry, Resolved, Side
from qodebase.edits import blob_id
from qodebase.paths import CommitId, RepoPath
from replay_rules.ladder import climb
from replay_rules.renames import followed, moved_to

BODY = b"".join(b"line number %d\n" % number for number in range(20))
OLD = RepoPath(b"src/old.py")


class Files:
    """A tree of contents, or of contents with modes."""

    def __init__(self, files: Mapping[str, bytes | tuple[bytes, int]]) -> None:
        self._files = {
            RepoPath(path.encode()): content if isinstance(content, tuple) else (content, REGULAR)
            for path, content in files.items()
        }

    @property
    def commit(self) -> CommitId:
        return CommitId("0" * 40)

    def entry(self, path: RepoPath) -> Entry | None:
        if path not in self._files:
            return None
        content, mode = self._files[path]
        return Entry(mode, blob_id(content))

    def read(self, path: RepoPath) -> bytes:
        return self._files[path][0]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path, (content, mode) in sorted(self._files.items()):
            yield path, Entry(mode, blob_id(content))


BEFORE = Files({"src/old.py": BODY, "keep.py": b"k\n"})


def edited(*numbers: int) -> bytes:
    """Return the body with some lines replaced."""
    out = BODY
    for number in numbers:
        out = out.replace(b"number %d\n" % number, b"is now %d\n" % number)
    return out


@pytest.mark.parametrize("content", [BODY, edited(1, 2, 3), (edited(4), EXECUTABLE)])
def test_an_equal_or_like_file_is_where_it_went(content: bytes | tuple[bytes, int]) -> None:
    now = Files({"lib/new.py": content, "lib/other.py": b"something else\n" * 20, "keep.py": b"k\n"})
    assert moved_to(OLD, BEFORE, now) == RepoPath(b"lib/new.py")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"new.py": b"something else\n" * 20},
        {"new.py": edited(*range(1, 12))},
        {"one.py": BODY, "two.py": BODY},
        {"one.py": edited(1), "two.py": edited(2)},
        {"link": (BODY, SYMLINK)},
        {"src/old.py": edited(1), "new.py": BODY},
    ],
)
def test_what_is_not_certain_is_declined(files: dict[str, bytes | tuple[bytes, int]]) -> None:
    assert isinstance(moved_to(OLD, BEFORE, Files({**files, "keep.py": b"k\n"})), Declined)


def test_a_file_that_may_come_from_two_is_declined() -> None:
    for twin in (BODY, edited(5)):
        before = Files({"src/old.py": BODY, "src/twin.py": twin})
        for content in (BODY if twin == BODY else edited(6), edited(9)):
            assert isinstance(moved_to(OLD, before, Files({"new.py": content})), Declined)


def test_empty_files_have_no_identity_when_several_moved() -> None:
    before = Files({"src/old.py": b"", "b/__init__.py": b""})
    assert isinstance(moved_to(OLD, before, Files({"x/__init__.py": b"", "y/__init__.py": b""})), Declined)


def test_a_folder_that_moved_takes_each_file_to_its_own_place() -> None:
    before = Files({"src/old.py": BODY, "src/b.py": BODY.replace(b"line", b"row"), "src/c.py": b"c\n" * 30})
    now = Files({"lib/old.py": edited(1), "lib/b.py": BODY.replace(b"line", b"row"), "lib/c.py": b"c\n" * 30})
    assert moved_to(OLD, before, now) == RepoPath(b"lib/old.py")


def test_a_change_to_the_old_path_merges_into_the_new_one() -> None:
    now = Files({"lib/new.py": (edited(1), EXECUTABLE), "keep.py": b"k\n"})
    collision = followed(OLD, Side(content=edited(15)), BEFORE, now)
    assert isinstance(collision, Collision)
    assert collision.path == RepoPath(b"lib/new.py")
    assert climb(collision).resolved == Resolved(content=edited(1, 15), mode=EXECUTABLE)
    assert isinstance(followed(OLD, Side(content=None), BEFORE, now), Declined)


def test_bytes_of_any_kind_are_compared() -> None:
    body = b"\xff\xfe\r\n\0" * 30
    before = Files({"src/old.py": body})
    assert moved_to(OLD, before, Files({"b": body[:-3]})) == RepoPath(b"b")

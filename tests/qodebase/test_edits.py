from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from qodebase.change import (
    EXECUTABLE,
    REGULAR,
    SUBMODULE,
    SYMLINK,
    AnyOperation,
    Change,
    Delete,
    Hunk,
    Patch,
    Rename,
    SetMode,
    Symlink,
    Write,
)
from qodebase.collision import Entry
from qodebase.edits import BadChange, Edit, blob_id, materialise
from qodebase.paths import CommitId, RepoPath

A, B, C, LINK, SUB, TOOL = (RepoPath(name) for name in (b"a", b"b", b"dir/c", b"link", b"sub", b"tool"))


class Held:
    """A tree in memory."""

    commit = CommitId("1" * 40)

    def __init__(self) -> None:
        self._files = {
            A: (REGULAR, b"one\ntwo\n"),
            LINK: (SYMLINK, b"a"),
            TOOL: (EXECUTABLE, b"run\n"),
            SUB: (SUBMODULE, b""),
        }

    def entry(self, path: RepoPath) -> Entry | None:
        found = self._files.get(path)
        return found and Entry(found[0], blob_id(found[1]))

    def read(self, path: RepoPath) -> bytes:
        if path == SUB:
            raise KeyError(path)
        return self._files[path][1]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path, (mode, content) in self._files.items():
            yield path, Entry(mode, blob_id(content))


def lay(*operations: AnyOperation) -> dict[RepoPath, Edit | None]:
    return materialise(Change(base=Held.commit, operations=operations), Held())


def test_a_write_keeps_the_mode_of_the_base_and_a_new_file_is_plain() -> None:
    assert lay(Write(path=TOOL, content=b"x")) == {TOOL: Edit(EXECUTABLE, b"x")}
    assert lay(Write(path=B, content=b"x")) == {B: Edit(REGULAR, b"x")}
    assert lay(Write(path=B, content=b"x", mode=EXECUTABLE)) == {B: Edit(EXECUTABLE, b"x")}


def test_hunks_are_laid_on_the_content_of_the_base() -> None:
    hunks = (Hunk(offset=0, text=b"zero\n"), Hunk(offset=4, length=3, text=b"2"))
    assert lay(Patch(path=A, hunks=hunks)) == {A: Edit(REGULAR, b"zero\none\n2\n")}


def test_a_later_operation_sees_what_an_earlier_one_made() -> None:
    found = lay(
        Write(path=B, content=b"abc"),
        Patch(path=B, hunks=(Hunk(offset=1, length=1, text=b"-"),)),
        SetMode(path=B, mode=EXECUTABLE),
    )
    assert found == {B: Edit(EXECUTABLE, b"a-c")}


def test_a_renamed_file_keeps_content_and_mode_and_can_be_edited_where_it_went() -> None:
    hunk = Hunk(offset=3, text=b"!")
    assert lay(Rename(path=TOOL, target=C), Patch(path=C, hunks=(hunk,))) == {
        TOOL: None,
        C: Edit(EXECUTABLE, b"run!\n"),
    }


def test_an_edit_before_a_rename_moves_with_it() -> None:
    assert lay(Write(path=A, content=b"new"), Rename(path=A, target=B)) == {A: None, B: Edit(REGULAR, b"new")}


def test_two_files_can_change_places() -> None:
    found = lay(Rename(path=A, target=B), Rename(path=TOOL, target=A), Rename(path=B, target=TOOL))
    assert found == {A: Edit(EXECUTABLE, b"run\n"), B: None, TOOL: Edit(REGULAR, b"one\ntwo\n")}


def test_a_file_renamed_to_itself_stays() -> None:
    assert lay(Rename(path=A, target=A)) == {A: Edit(REGULAR, b"one\ntwo\n")}


def test_a_deleted_file_can_be_written_again_as_a_new_one() -> None:
    assert lay(Delete(path=TOOL), Write(path=TOOL, content=b"x")) == {TOOL: Edit(REGULAR, b"x")}


def test_a_link_is_made_moved_and_deleted() -> None:
    assert lay(Symlink(path=B, target=b"a")) == {B: Edit(SYMLINK, b"a")}
    assert lay(Rename(path=LINK, target=B)) == {LINK: None, B: Edit(SYMLINK, b"a")}
    assert lay(Delete(path=LINK)) == {LINK: None}


@pytest.mark.parametrize(
    "operations",
    [
        [Delete(path=B)],
        [Delete(path=A), Delete(path=A)],
        [Rename(path=B, target=C)],
        [Rename(path=A, target=B), Patch(path=A, hunks=())],
        [SetMode(path=B, mode=EXECUTABLE)],
        [Patch(path=B, hunks=())],
        [Delete(path=SUB)],
        [Patch(path=SUB, hunks=())],
    ],
)
def test_an_operation_on_what_is_no_file_is_a_bad_change(operations: list[AnyOperation]) -> None:
    with pytest.raises(BadChange, match="is no file at the change's base"):
        lay(*operations)


def test_hunks_that_do_not_fit_are_a_bad_change_that_names_the_path() -> None:
    with pytest.raises(BadChange, match=r"^a: a hunk at 99 of 8 bytes"):
        lay(Patch(path=A, hunks=(Hunk(offset=99, text=b""),)))


def test_operations_on_unwanted_paths_are_passed_over() -> None:
    change = Change(base=Held.commit, operations=(Delete(path=B), Write(path=A, content=b"x")))
    assert materialise(change, Held(), lambda path: path == A) == {A: Edit(REGULAR, b"x")}


def test_an_edit_has_the_id_that_git_gives_its_content() -> None:
    content = b"some\x00content\n"
    said = subprocess.run(["git", "hash-object", "--stdin"], input=content, capture_output=True, check=True).stdout
    assert Edit(REGULAR, content).entry == Entry(REGULAR, said.decode().strip())

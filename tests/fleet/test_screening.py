from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from fleet.screening import MAX_BYTES, screen
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
from qodebase.edits import blob_id
from qodebase.intent import Given, Intent
from qodebase.paths import CommitId, RepoPath

A, B, LINK, INDEX, DEEP, UNDER = (RepoPath(name) for name in (b"a", b"b", b"link", b"index", b"d/e/f", b"a/x/y"))


class Held:
    """A tree in memory."""

    commit = CommitId("1" * 40)

    def __init__(self) -> None:
        self.files = {A: (REGULAR, b"one\n"), LINK: (SYMLINK, b"a"), INDEX: (REGULAR, b"i\n")}

    def entry(self, path: RepoPath) -> Entry | None:
        found = self.files.get(path)
        return found and Entry(found[0], blob_id(found[1]))

    def read(self, path: RepoPath) -> bytes:
        return self.files[path][1]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path, (mode, content) in self.files.items():
            yield path, Entry(mode, blob_id(content))


def fault(*operations: AnyOperation, scope: Sequence[RepoPath] | None = None) -> str:
    change = Change(base=Held.commit, operations=operations)
    intent = Intent(id="x", asked="", scope=tuple(change.paths if scope is None else scope))
    return screen(intent, change, Held(), [INDEX])


@pytest.mark.parametrize(
    "operations",
    [
        [],
        [Write(path=A, content=b"x")],
        [Write(path=B, content=b"x", mode=EXECUTABLE), Write(path=DEEP, content=b"")],
        [Patch(path=A, hunks=(Hunk(offset=1, text=b"x"),)), Write(path=INDEX, content=b"i\nx\n")],
        [Patch(path=INDEX, hunks=(Hunk(offset=0, text=b"x\n"),))],
        [Rename(path=A, target=DEEP), Patch(path=DEEP, hunks=())],
        [SetMode(path=A, mode=EXECUTABLE), Delete(path=LINK)],
        [Delete(path=A), Write(path=UNDER, content=b"a folder now")],
        [Rename(path=A, target=UNDER)],
    ],
)
def test_a_harmless_change_within_its_scope_passes(operations: list[AnyOperation]) -> None:
    assert fault(*operations) == ""


@pytest.mark.parametrize(
    "path",
    [
        b"",
        b"/etc/passwd",
        b"../x",
        b"a/../../x",
        b"./a",
        b"a//b",
        b"a/",
        b".git/config",
        b"sub/.GIT/hooks/post-checkout",
        b"git~1/config",
        b".git ./config",
        b".git::$INDEX_ALLOCATION/config",
        b"x\\.git\\config",
        ".g\u200cit/config".encode(),
        b"a\0b",
    ],
)
@pytest.mark.parametrize("kind", ["write", "rename"])
def test_an_unsafe_path_is_refused_even_where_the_scope_names_it(path: bytes, kind: str) -> None:
    unsafe = RepoPath(path)
    operation = Write(path=unsafe, content=b"") if kind == "write" else Rename(path=A, target=unsafe)
    assert fault(operation).startswith("unsafe path ")


@pytest.mark.parametrize(
    "operation",
    [
        Write(path=B, content=b""),
        Delete(path=B),
        Rename(path=A, target=B),
        Rename(path=B, target=A),
        SetMode(path=B, mode=EXECUTABLE),
        Symlink(path=B, target=b"a"),
        Patch(path=B, hunks=()),
    ],
)
def test_any_operation_outside_the_scope_is_refused_and_names_the_path(operation: AnyOperation) -> None:
    assert fault(operation, scope=[A]) == "outside its scope: b"


def test_shared_paths_are_within_every_scope() -> None:
    assert fault(Write(path=INDEX, content=b""), scope=[]) == ""


@pytest.mark.parametrize(
    "operations",
    [
        [Symlink(path=B, target=b"/etc/passwd")],
        [Write(path=B, content=b"/etc/passwd", mode=SYMLINK)],
        [SetMode(path=A, mode=SYMLINK)],
        [Write(path=LINK, content=b"/etc/passwd")],
        [Patch(path=LINK, hunks=(Hunk(offset=0, text=b"../"),))],
        [Rename(path=LINK, target=DEEP)],
        [Symlink(path=B, target=b"x"), Rename(path=B, target=DEEP)],
    ],
    ids=["link", "write", "mode", "write through", "patch", "move", "make and move"],
)
def test_a_symbolic_link_is_neither_made_nor_written_nor_moved(operations: list[AnyOperation]) -> None:
    assert fault(*operations) == "makes a symbolic link, or writes one that is there"


def test_a_link_that_is_made_and_made_a_file_again_does_no_harm() -> None:
    assert fault(Symlink(path=B, target=b"x"), Delete(path=B), Write(path=B, content=b"x")) == ""


@pytest.mark.parametrize("mode", [SUBMODULE, 0o040000, 0o100777, 0o104755, 1])
@pytest.mark.parametrize("kind", [Write, SetMode])
def test_a_mode_that_is_no_files_is_refused(kind: type[Write] | type[SetMode], mode: int) -> None:
    operation = Write(path=A, content=b"", mode=mode) if kind is Write else SetMode(path=A, mode=mode)
    assert fault(operation) == f"gives a the mode {mode:o}"


def test_an_answer_that_writes_too_much_is_refused_and_the_whole_change_counts() -> None:
    half = bytes(MAX_BYTES // 2)
    assert fault(Write(path=A, content=half), Write(path=B, content=half)) == ""
    more = Patch(path=INDEX, hunks=(Hunk(offset=0, text=b"x"),))
    assert (
        fault(Write(path=A, content=half), Write(path=B, content=half), more) == f"writes more than {MAX_BYTES} bytes"
    )


@pytest.mark.parametrize(
    ("operations", "said"),
    [
        ([Delete(path=INDEX)], "does more to the shared path index than write it"),
        ([SetMode(path=INDEX, mode=EXECUTABLE)], "does more to the shared path index than write it"),
        ([Rename(path=INDEX, target=B)], "does more to the shared path index than write it"),
        ([Symlink(path=INDEX, target=b"a")], "does more to the shared path index than write it"),
        ([Rename(path=A, target=INDEX)], "moves a file to the shared path index"),
        (
            [Write(path=INDEX, content=b""), Patch(path=INDEX, hunks=())],
            "writes the shared path index twice",
        ),
    ],
)
def test_what_no_rule_could_redo_on_a_shared_path_is_refused(operations: list[AnyOperation], said: str) -> None:
    assert fault(*operations) == said


@pytest.mark.parametrize(
    "operations",
    [
        [Write(path=UNDER, content=b"")],
        [Rename(path=A, target=B), Write(path=RepoPath(b"b/x"), content=b"")],
        [Write(path=B, content=b""), Write(path=RepoPath(b"b/c"), content=b"")],
        [Write(path=RepoPath(b"b/c"), content=b""), Write(path=B, content=b"")],
        [Write(path=RepoPath(b"link/c"), content=b"")],
    ],
)
def test_a_file_below_a_file_is_refused(operations: list[AnyOperation]) -> None:
    assert fault(*operations).startswith("needs a folder where a file stands: ")


def test_operations_that_do_not_fit_the_base_are_refused_in_words() -> None:
    assert fault(Delete(path=B)) == "b is no file at the change's base"
    assert fault(Patch(path=A, hunks=(Hunk(offset=9, text=b""),))) == "a: a hunk at 9 of 4 bytes does not fit"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (b"a", ""),
        (b"../a", ""),
        (b"../../a", "b/link links out of the repository"),
        (b"/etc/passwd", "b/link links out of the repository"),
        (b"../.GIT/config", "b/link links out of the repository"),
        (b"x/../../.git", "b/link links out of the repository"),
    ],
)
def test_a_change_from_before_the_run_may_bring_links_that_stay_in_the_repository(target: bytes, said: str) -> None:
    path = RepoPath(b"b/link")
    change = Change(base=Held.commit, operations=(Symlink(path=path, target=target),))
    given = Given(base=Held.commit, tip=CommitId("2" * 40))
    intent = Intent(id="x", asked="", scope=(path,), given=given)
    assert screen(intent, change, Held(), []) == said
    other = intent.giving(Given(base=CommitId("3" * 40), tip=CommitId("2" * 40)))
    assert screen(other, change, Held(), []) == "makes a symbolic link, or writes one that is there"

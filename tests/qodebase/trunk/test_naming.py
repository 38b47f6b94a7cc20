from __future__ import annotations

import pytest

from qodebase.trunk.naming import fault_of_edit, fault_of_path


@pytest.mark.parametrize(
    "path",
    [
        b"", b"/", b"/a", b"a/", b"a//b", b".", b"..", b"a/..", b"../a", b"a/./b", b"a\0", b".git", b"a/.Git",
        b".git/hooks/x", b".git ", b".git...", b"git~1", b"a/gIt~1/b", b".git::$INDEX_ALLOCATION", b"git~1:x",
        b"a\\.git", b".git\\a", b"a\\git~1\\b", ".\u200dgit".encode(), ".g\u206ait".encode(),
        "a/.git\ufeff/b".encode(),
    ],
)  # fmt: skip
def test_a_path_that_could_reach_gits_folder_or_leave_the_tree_has_a_fault(path: bytes) -> None:
    assert fault_of_path(path)


@pytest.mark.parametrize(
    "path",
    [
        b"a", b"a/b", b"...", b"a/...", b".gitignore", b".gitmodules", b".gitx", b"agit~1", b"git~12", b"git", b"x.git",
        b"a\\b", b" ", b"\n", b"\xff\xfe", "ä/ö".encode(), ".g\u00edt".encode(), b"..a", b"a..", b"-", b"--help",
    ],
)  # fmt: skip
def test_a_path_that_git_takes_has_none(path: bytes) -> None:
    assert fault_of_path(path) is None


def test_only_the_modes_that_git_writes_have_no_fault() -> None:
    for mode in (0o100644, 0o100755, 0o120000, 0o160000):
        assert fault_of_edit(b"a", mode) is None
    for mode in (0, 0o40000, 0o100600, 0o100664, 0o644):
        assert fault_of_edit(b"a", mode)
    assert fault_of_edit(b"a/.GITMODULES", 0o120000)
    assert fault_of_edit(b"a/.gitmodules", 0o100644) is None


@pytest.mark.parametrize(
    "name",
    [b".gitmodules", b".GitModules . ", b".gitmodules::$INDEX_ALLOCATION", b"gitmod~1", b"GI7EBA~2", b"a\\.gitmodules",
     ".git\u200dmodules".encode()],
)  # fmt: skip
def test_a_link_in_place_of_gitmodules_on_any_file_system_is_a_fault(name: bytes) -> None:
    assert fault_of_edit(b"d/" + name, 0o120000) is not None
    assert fault_of_edit(b"d/" + name, 0o100644) is None


@pytest.mark.parametrize("name", [b".gitmodule", b"gitmod~5", b".gitmodules-old", b"gitmodules"])
def test_other_links_are_none(name: bytes) -> None:
    assert fault_of_edit(b"d/" + name, 0o120000) is None

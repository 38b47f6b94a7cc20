from __future__ import annotations

import pytest

from qodebase.check import BadCheck, Check, concerns, proved
from qodebase.paths import RepoPath


def test_a_check_is_a_command_or_tests() -> None:
    good = {"a": Check(command=("true",)), "b": Check(tests=("tests/test_a.py::test_one[x/../y]",))}
    assert proved(good) == good
    for bad in (Check(), Check(command=("true",), tests=("tests",))):
        with pytest.raises(BadCheck, match="'c' must be either a command or tests"):
            proved({"c": bad})


@pytest.mark.parametrize("path", ["/etc/passwd", "../a", "a/../b", "a//b", "", ".git/hooks/x", "-p"])
def test_a_check_names_paths_within_the_repository(path: str) -> None:
    with pytest.raises(BadCheck, match="names the path"):
        proved({"c": Check(tests=(path,))})
    with pytest.raises(BadCheck, match="names the path"):
        proved({"c": Check(command=("true",), files={RepoPath(path.encode()): b""})})


def test_what_was_read_concerns_a_check_and_so_do_the_names_of_a_listed_folder() -> None:
    read = (RepoPath(b"a/b"), RepoPath(b"lib/"), RepoPath(b"/"))
    assert concerns(read, RepoPath(b"a/b"))
    assert not concerns(read, RepoPath(b"a/c"), named=True)
    assert not concerns(read, RepoPath(b"lib/x"))
    assert concerns(read, RepoPath(b"lib/x"), named=True)
    assert concerns(read, RepoPath(b"top"), named=True)
    assert not concerns(read, RepoPath(b"lib/deep/x"), named=True)
    assert concerns(None, RepoPath(b"any"))
    assert not concerns((), RepoPath(b"any"))

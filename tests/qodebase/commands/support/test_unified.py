from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qodebase.collision import Side
from qodebase.commands.support.unified import unified
from qodebase.paths import RepoPath

LINES = st.lists(st.sampled_from([b"a", b"b", b"c\r", b"", "\u2028".encode()]), max_size=14)
CONTENTS = st.builds(lambda lines, end: b"\n".join(lines) + end, LINES, st.sampled_from([b"", b"\n"]))


def applied(folder: Path, path: str, before: Side, diff: str) -> tuple[bytes | None, bool]:
    """Return what `git apply` makes of a diff: the content and whether it is executable."""
    file = folder / path
    file.unlink(missing_ok=True)
    if before.content is not None:
        file.write_bytes(before.content)
        file.chmod(before.mode & 0o777)
    subprocess.run(["git", "apply", "--unidiff-zero", "-"], input=diff.encode(), cwd=folder, check=True)
    return (file.read_bytes(), bool(file.stat().st_mode & 0o100)) if file.exists() else (None, False)


@settings(max_examples=25, deadline=None)
@given(before=CONTENTS, after=CONTENTS)
def test_git_applies_the_diff_of_any_two_texts(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes
) -> None:
    old, new = Side(content=before), Side(content=after)
    diff = unified(RepoPath(b"f.txt"), old, new)
    if before == after:
        assert diff == ""
        return
    folder = tmp_path_factory.getbasetemp() / "apply"
    folder.mkdir(exist_ok=True)
    assert applied(folder, "f.txt", old, diff) == (after, False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Side(content=None), Side(content=b"new\n", mode=0o100755)),
        (Side(content=b"old\n"), Side(content=None)),
        (Side(content=b"same\n"), Side(content=b"same\n", mode=0o100755)),
        (Side(content=b"one\n"), Side(content=b"two", mode=0o100755)),
    ],
    ids=["added", "deleted", "made executable", "edited and made executable"],
)
def test_git_applies_what_happens_to_a_whole_file(tmp_path: Path, before: Side, after: Side) -> None:
    diff = unified(RepoPath("ä f.txt".encode()), before, after)
    executable = after.content is not None and after.mode == 0o100755
    assert applied(tmp_path, "ä f.txt", before, diff) == (after.content, executable)


def test_only_three_lines_around_an_edit_are_shown_in_a_long_file() -> None:
    lines = [b"%d\n" % number for number in range(50_000)]
    before, after = b"".join(lines), b"".join([*lines[:40_000], b"new\n", *lines[40_000:]])
    diff = unified(RepoPath(b"f"), Side(content=before), Side(content=after))
    assert diff.splitlines()[3:] == [
        "@@ -39998,6 +39998,7 @@",
        *(" 39997", " 39998", " 39999"),
        "+new",
        *(" 40000", " 40001", " 40002"),
    ]


def test_content_with_a_nul_is_named_and_not_shown() -> None:
    diff = unified(RepoPath(b"f"), Side(content=b"\0a"), Side(content=b"\0b"))
    assert diff == "diff --git a/f b/f\nBinary files a/f and b/f differ\n"

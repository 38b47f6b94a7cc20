"""Moves of main: believed where they are certain, and a change to the old path meets the new one."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from made_tree import Files

from qodebase.change import EXECUTABLE, SYMLINK
from qodebase.collision import Declined
from qodebase.paths import RepoPath
from replay_rules.renames import moves_between

BODY = b"".join(b"line number %d\n" % number for number in range(20))
OLD = RepoPath(b"src/old.py")


def moved_to(path: RepoPath, before: Files, now: Files) -> RepoPath | Declined | None:
    """Return where a path went between two trees."""
    return moves_between(before, now).target(path)


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
        {"new.py": edited(*range(12))},
        {"link": (BODY, SYMLINK)},
        {"src/old.py": edited(1), "new.py": BODY},
    ],
    ids=["nothing came", "another file came", "less than half is alike", "a link came", "the path is still there"],
)
def test_a_file_with_nothing_like_it_went_nowhere(files: dict[str, bytes | tuple[bytes, int]]) -> None:
    assert moved_to(OLD, BEFORE, Files({**files, "keep.py": b"k\n"})) is None


@pytest.mark.parametrize(
    "files",
    [
        {"one.py": BODY, "two.py": BODY},
        {"one.py": edited(1), "two.py": edited(2)},
        {"x/old.py": edited(1, 2, 3), "one.py": edited(1)},
    ],
    ids=["two equal", "two alike", "one of the same name, and one that is more alike"],
)
def test_what_is_not_certain_is_declined(files: dict[str, bytes | tuple[bytes, int]]) -> None:
    assert isinstance(moved_to(OLD, BEFORE, Files({**files, "keep.py": b"k\n"})), Declined)


def test_half_of_a_file_is_enough_and_a_namesake_needs_three_quarters_only_to_go_first() -> None:
    assert moved_to(OLD, BEFORE, Files({"new.py": edited(*range(10, 19)), "keep.py": b"k\n"})) == b"new.py"
    files = {"x/old.py": edited(1, 2), "y/other.py": edited(1, 2, 3), "keep.py": b"k\n"}
    assert moved_to(OLD, BEFORE, Files(files)) == b"x/old.py"


def test_of_equal_files_each_goes_to_its_namesake() -> None:
    before = Files({"a/one.py": BODY, "a/two.py": BODY, "a/three.py": BODY})
    now = Files({"b/one.py": BODY, "b/two.py": BODY, "b/four.py": BODY})
    moves = moves_between(before, now)
    targets = [moves.target(RepoPath(b"a/%s.py" % name)) for name in (b"one", b"two", b"three")]
    assert targets == [b"b/one.py", b"b/two.py", b"b/four.py"]


def test_a_file_that_may_come_from_two_is_declined() -> None:
    for twin in (BODY, edited(5)):
        before = Files({"src/old.py": BODY, "src/twin.py": twin})
        for content in (BODY if twin == BODY else edited(6), edited(9)):
            assert isinstance(moved_to(OLD, before, Files({"new.py": content})), Declined)


def test_empty_files_have_no_identity() -> None:
    before = Files({"src/old.py": b"", "b/__init__.py": b""})
    assert moved_to(OLD, before, Files({"x/__init__.py": b"", "y/old.py": b""})) is None


def test_a_path_that_is_kept_apart_is_no_place_for_a_file() -> None:
    now = Files({"shared.md": BODY, "keep.py": b"k\n"})
    assert moves_between(BEFORE, now, frozenset([RepoPath(b"shared.md")])).target(OLD) is None


def test_long_lines_and_line_ends_are_compared_in_pieces() -> None:
    body = b"".join(b"%04d" % number for number in range(400)) + b"\n"
    before = Files({"src/old.py": body, "src/text": BODY})
    now = Files({"one": body.replace(b"0399", b"last"), "text": BODY.replace(b"\n", b"\r\n")})
    assert moved_to(OLD, before, now) == b"one"
    assert moved_to(RepoPath(b"src/text"), before, now) == b"text"


def test_a_folder_that_moved_takes_each_file_to_its_own_place() -> None:
    before = Files({"src/old.py": BODY, "src/b.py": BODY.replace(b"line", b"row"), "src/c.py": b"c\n" * 30})
    now = Files({"lib/old.py": edited(1), "lib/b.py": BODY.replace(b"line", b"row"), "lib/c.py": b"c\n" * 30})
    assert moved_to(OLD, before, now) == RepoPath(b"lib/old.py")


def test_bytes_of_any_kind_are_compared() -> None:
    body = b"\xff\xfe\r\n\0" * 30
    before = Files({"src/old.py": body})
    assert moved_to(OLD, before, Files({"b": body[:-3]})) == RepoPath(b"b")


def test_what_is_not_declined_is_what_git_finds(tmp_path: Path) -> None:
    pairs = [_random_pair(Random(seed)) for seed in range(60)]
    found = _renames_of_git(tmp_path, pairs)
    agreed = declined = 0
    for (before, now), theirs in zip(pairs, found, strict=True):
        moves = moves_between(before, now)
        for path in moves.gone:
            target = moves.target(path)
            if isinstance(target, Declined):
                declined += 1
                continue
            assert target == theirs.get(path), (path, theirs)
            agreed += target is not None
    assert agreed > 150
    assert declined < agreed / 4


def _random_pair(random: Random) -> tuple[Files, Files]:
    """Return two trees: of some files that share lines each is kept, deleted, moved, or moved and edited."""
    words = [b"%d " % number + bytes(random.choices(b"abcdef", k=random.randrange(90))) + b"\n" for number in range(60)]
    old: dict[str, bytes | tuple[bytes, int]] = {}
    new: dict[str, bytes | tuple[bytes, int]] = {}
    for number in range(8):
        body = random.sample(words, 15) + [b"own %d %d\n" % (number, line) for line in range(random.randrange(40))]
        old[f"a/f{number}.py"] = b"".join(body)
        name = random.choice([f"b/f{number}.py", f"a/g{number}.py", f"c/d/{random.randrange(99)}.py"])
        what = random.random()
        if what < 0.2:
            new[f"a/f{number}.py"] = b"".join(body)
        elif what < 0.5:
            new[name] = b"".join(body)
        elif what < 0.9:
            kept = [line for line in body if random.random() > random.choice([0.1, 0.3, 0.5])]
            new[name] = b"".join([*kept, *(b"new %d\n" % line for line in range(random.randrange(12)))]) or b"x\n"
    return Files(old), Files({**new, "always": b"there\n"})


def _renames_of_git(folder: Path, pairs: Sequence[tuple[Files, Files]]) -> list[dict[bytes, bytes]]:
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "-q", "-b", "main", "--template="], check=True)
    stream = []
    for tree in (tree for pair in pairs for tree in pair):
        stream.append(b"commit refs/heads/main\ncommitter P <p@example.org> 1 +0000\ndata 0\ndeleteall\n")
        for path, _ in tree.walk():
            content = tree.read(path)
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(content), content))
    subprocess.run([*git, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    commits = subprocess.run([*git, "rev-list", "--reverse", "main"], capture_output=True, check=True).stdout.split()
    found = []
    for before, now in zip(commits[::2], commits[1::2], strict=True):
        words = [*git, "diff-tree", "-r", "-M", "-z", "--name-status", "--diff-filter=R", before, now]
        parts = subprocess.run(words, capture_output=True, check=True).stdout.split(b"\0")[:-1]
        found.append(dict(zip(parts[1::3], parts[2::3], strict=True)))
    return found


def test_a_folder_of_edited_files_is_followed_in_time() -> None:
    paths = [f"m{number}.py" for number in range(300)]
    texts = [b"".join(b"line %d of %d\n" % (line, number) for line in range(30)) for number in range(len(paths))]
    before = Files({f"old/{path}": text for path, text in zip(paths, texts, strict=True)})
    now = Files({f"new/{path}": text + b"more\n" for path, text in zip(paths, texts, strict=True)})
    moves = moves_between(before, now)
    began = time.process_time()
    assert all(moves.target(RepoPath(f"old/{path}".encode())) == f"new/{path}".encode() for path in paths)
    assert time.process_time() - began < 4

"""The clean merge: git's bytes and status, and what is never merged."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from triples import Triple, real_files, triples

from qodebase.change import EXECUTABLE, REGULAR, SYMLINK
from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.clean_merge import merge, merge_file
from replay_rules.ladder import redo

PATH = RepoPath(b"a.txt")
OBJECTIONS = ("I1: ", "I2: ", "I3: ", "I4: ", "alike: ", "rename: ", "astray: ")


def collide(base: bytes | None, main: bytes | None, change: bytes | None, *, idempotent: bool = False) -> Collision:
    sides = (Side(content=content) for content in (base, main, change))
    return Collision(path=PATH, base=next(sides), main=next(sides), change=next(sides), idempotent=idempotent)


def gits_merge(folder: Path, triple: Triple) -> bytes | None:
    files = []
    for name, side in (("main", triple.main), ("base", triple.base), ("change", triple.change)):
        files.append(folder / name)
        files[-1].write_bytes(side)
    git = subprocess.run(["git", "merge-file", "-p", *files], capture_output=True, check=False)
    return git.stdout if git.returncode == 0 else None


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.full)])
def test_real_files_merge_to_gits_bytes_and_status_unless_an_invariant_objects(tmp_path: Path, count: int) -> None:
    clean = believed = 0
    for triple in triples(7, count, real_files()):
        expected = gits_merge(tmp_path, triple)
        assert merge_file(*triple[1:]) == expected
        collision = Collision(
            path=RepoPath(triple.path),
            **{name: Side(content=getattr(triple, name)) for name in ("base", "main", "change")},
        )
        outcome = redo(collision, "merge")
        if isinstance(outcome, Resolved):
            assert outcome.content == expected
            believed += 1
        elif expected is None:
            assert outcome == Declined(why="both sides changed the same lines")
        else:
            assert outcome.why.startswith(OBJECTIONS)
        clean += expected is not None
    assert clean > believed > count * 0.4


def test_edits_of_different_lines_merge() -> None:
    base = b"a\nb\nc\nd\ne\nf\n"
    merged = merge(collide(base, base.replace(b"a", b"A"), base.replace(b"f", b"F")))
    assert merged == Resolved(content=b"A\nb\nc\nd\ne\nF\n")


def test_a_binary_is_never_merged_as_text() -> None:
    base = b"\0a\nb\nc\nd\ne\n"
    outcome = merge(collide(base, base.replace(b"a", b"A"), base.replace(b"e", b"E")))
    assert outcome == Declined(why="binary: author")


def test_a_binary_that_only_one_side_changed_is_taken_as_it_is() -> None:
    base, changed = b"\0a\nb\n", b"\0B\n"
    assert merge(collide(base, base, changed)) == Resolved(content=changed)


def test_a_delete_against_an_edit_is_declined() -> None:
    assert isinstance(merge(collide(b"a\n", None, b"b\n")), Declined)


def test_two_added_files_that_differ_are_declined() -> None:
    assert isinstance(merge(collide(None, b"a\n", b"b\n")), Declined)


def test_a_mode_merges_beside_the_content() -> None:
    base = b"a\nb\nc\nd\n"
    collision = Collision(
        path=PATH,
        base=Side(content=base),
        main=Side(content=base.replace(b"a", b"A"), mode=EXECUTABLE),
        change=Side(content=base.replace(b"d", b"D"), mode=REGULAR),
    )
    assert merge(collision) == Resolved(content=b"A\nb\nc\nD\n", mode=EXECUTABLE)


@pytest.mark.parametrize("modes", [(SYMLINK, SYMLINK, SYMLINK), (REGULAR, SYMLINK, REGULAR)])
def test_links_are_never_merged_as_text(modes: tuple[int, int, int]) -> None:
    contents = (b"a\nb\nc\nd", b"A\nb\nc\nd", b"a\nb\nc\nD")
    sides = [Side(content=content, mode=mode) for content, mode in zip(contents, modes, strict=True)]
    outcome = merge(Collision(path=PATH, base=sides[0], main=sides[1], change=sides[2]))
    assert isinstance(outcome, Declined)
    assert outcome.why.endswith("author")

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.clean_merge import merge, merge_file

PATH = RepoPath(b"a.txt")


def collide(base: bytes | None, main: bytes | None, change: bytes | None, *, idempotent: bool = False) -> Collision:
    sides = (Side(content=content) for content in (base, main, change))
    return Collision(path=PATH, base=next(sides), main=next(sides), change=next(sides), idempotent=idempotent)


def test_the_merge_gives_gits_bytes_and_status_on_random_texts(tmp_path: Path) -> None:
    random_ = random.Random(5)
    for number in range(60):
        ending = random_.choice([b"\n", b"\r\n"])
        words = [f"line {random_.randrange(8)}".encode("latin-1") + b"\xe9" for _ in range(random_.randrange(12))]

        def edited(words: list[bytes] = words, ending: bytes = ending) -> bytes:
            copy = list(words)
            for _ in range(random_.randrange(3)):
                at = random_.randrange(len(copy) + 1)
                copy[at : at + random_.randrange(2)] = [f"new {random_.randrange(4)}".encode()]
            return ending.join(copy) + (ending if random_.random() < 0.8 else b"")

        sides = [ending.join(words) + ending, edited(), edited()]
        files = []
        for name, side in zip(("base", "ours", "theirs"), sides, strict=True):
            files.append(tmp_path / f"{number}-{name}")
            files[-1].write_bytes(side)
        git = subprocess.run(
            ["git", "merge-file", "-p", files[1], files[0], files[2]], capture_output=True, check=False
        )
        assert merge_file(*sides) == (git.stdout if git.returncode == 0 else None)


def test_edits_of_different_lines_merge() -> None:
    base = b"a\nb\nc\nd\ne\nf\n"
    merged = merge(collide(base, base.replace(b"a", b"A"), base.replace(b"f", b"F")))
    assert merged == Resolved(content=b"A\nb\nc\nd\ne\nF\n")


def test_a_hunk_made_alike_is_doubtful_unless_it_is_idempotent() -> None:
    base, raised = b"x = 5\ny\n", b"x = 6\ny\n"
    assert isinstance(merge(collide(base, raised, raised)), Declined)
    assert merge(collide(base, raised, raised, idempotent=True)) == Resolved(content=raised)


def test_a_binary_is_never_merged_as_text() -> None:
    base = b"\0a\nb\nc\nd\ne\n"
    outcome = merge(collide(base, base.replace(b"a", b"A"), base.replace(b"e", b"E")))
    assert outcome == Declined(why="binary")


def test_a_delete_against_an_edit_is_declined() -> None:
    assert isinstance(merge(collide(b"a\n", None, b"b\n")), Declined)


def test_two_added_files_that_differ_are_declined() -> None:
    assert isinstance(merge(collide(None, b"a\n", b"b\n")), Declined)

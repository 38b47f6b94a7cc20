"""Hunks made alike: which of them cannot be meant twice."""

from __future__ import annotations

import pytest

from qodebase.collision import Collision, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.hunks import hunks, lines_of
from replay_rules.ladder import redo
from replay_rules.meant_once import is_meant_once

PY = b"import os\n\n\ndef f():\n    old(1)\n    return 5\n\n\nx = 1\n"
PINS = b"click==8.1.3\nflask[async]==2.0\n# by hand\nrich>=13\n"


def once(path: str, base: bytes, side: bytes) -> list[bool]:
    lines = lines_of(base)
    return [is_meant_once(RepoPath(path.encode()), lines, hunk) for hunk in hunks(lines, lines_of(side))]


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("a.py", PY, b"    old(1)\n", b""),
        ("a.py", PY, b"    return 5\n", b"    return 5\n\n"),
        ("a.py", PY, b"import os\n", b"import os  \n"),
        ("a.py", PY, b"import os\n", b"import os\nfrom re import (\n    sub,\n)\n"),
        ("a.py", PY, b"import os\n", b"import os, sys\n"),
        ("a.ts", b"import a from 'a';\nf();\n", b"f();", b"import { b } from 'b';\nf();"),
        ("a.go", b'package a\n\nimport "os"\n', b'import "os"\n', b'import "os"\nimport "io"\n'),
        ("a.py", PY, b"\n\nx = 1\n", b"\n\nx = 1\n\n\n@cached\ndef g():\n    return 2\n"),
        ("a.go", b"package a\n", b"package a\n", b"package a\n\n// F is.\nfunc F() {}\n"),
        ("requirements.txt", PINS, b"click==8.1.3", b"click==8.1.7"),
        ("requirements/dev.txt", PINS, b"async]==2.0\n", b"async]==2.3.1\n"),
    ],
)
def test_what_makes_no_difference_the_second_time_is_meant_once(path: str, base: bytes, old: bytes, new: bytes) -> None:
    side = base.replace(old, new)
    assert side != base
    assert set(once(path, base, side)) == {True}


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("a.py", PY, b"return 5", b"return 6"),
        ("a.py", PY, b"x = 1\n", b"x = 1\nx += 1\n"),
        ("a.py", PY, b"    old(1)\n", b"    new(1)\n"),
        ("a.py", PY, b"    return 5\n", b"        return 5\n"),
        ("a.py", PY, b"import os\n", b"import os\nsetup()\n"),
        ("a.py", PY, b"x = 1\n", b"def f():\n    return 9\n"),
        ("a.c", b"#include <a.h>\n", b"#include <a.h>\n", b"#include <a.h>\n#include <b.def>\n"),
        ("tally.txt", b"a\na\na\n", b"a\na\na\n", b"a\na\n"),
        ("tally.txt", b"a\na\n", b"a\na\n", b"a\na\na\n"),
        ("NEWS", b"- a\n", b"- a\n", b"- a\n- b\n"),
        ("version.txt", b"1.4.2\n", b"1.4.2", b"1.4.3"),
        ("requirements.txt", PINS, b"rich>=13\n", b"rich>=14\n"),
        ("requirements.txt", PINS, b"click==8.1.3", b"clack==8.1.7"),
    ],
)
def test_what_may_be_meant_twice_is_not(path: str, base: bytes, old: bytes, new: bytes) -> None:
    side = base.replace(old, new)
    assert side != base
    assert False in once(path, base, side)


def test_a_clean_merge_keeps_what_both_sides_did_once_and_each_sides_own() -> None:
    gone = PY.replace(b"    old(1)\n", b"")
    main, change = gone.replace(b"import os\n", b"import os\nimport re\n"), gone.replace(b"x = 1", b"x = 2")
    sides = [Side(content=content) for content in (PY, main, change)]
    collision = Collision(path=RepoPath(b"a.py"), base=sides[0], main=sides[1], change=sides[2])
    assert redo(collision, "merge") == Resolved(content=main.replace(b"x = 1", b"x = 2"))


def test_no_bytes_make_it_raise() -> None:
    for path in ("a.py", "a.go", "a.rb", "a"):
        for side in (b"", b"\0", b"\xff\xfe{", b"[" * 5000, b"import \n" * 9, b"==1\n"):
            assert isinstance(once(path, PY, side), list)

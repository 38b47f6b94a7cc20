"""What a collision that nothing could redo says of itself."""

from __future__ import annotations

from qodebase.collision import Collision, Side
from qodebase.paths import RepoPath
from replay_rules.conflict import clashes, described

BASE = b"import a\n\n\nclass A:\n    def f(self):\n        return 1\n\n\ndef g():\n    return 2\n"


def collide(path: str, *contents: bytes | None) -> Collision:
    base, main, change = (Side(content=content) for content in contents)
    return Collision(path=RepoPath(path.encode()), base=base, main=main, change=change)


def test_each_region_names_its_line_on_main_its_symbol_and_its_three_versions() -> None:
    main = b"# new\n" + BASE.replace(b"return 1", b"return 10").replace(b"return 2", b"return 20")
    change = BASE.replace(b"return 1", b"return 11").replace(b"return 2", b"return 21")
    first, second = clashes(collide("a.py", BASE, main, change))
    assert (first.line, first.symbol) == (7, "A.f")
    assert (first.base, first.main, first.change) == (
        "        return 1\n",
        "        return 10\n",
        "        return 11\n",
    )
    assert (second.line, second.symbol) == (11, "g")
    text = described("a.py", [first, second])
    assert text.startswith("a.py line 7, in A.f\n--- as it was\n        return 1\n--- as main has it now\n")
    assert "a.py line 11, in g\n" in text


def test_edits_apart_clash_nowhere() -> None:
    assert clashes(collide("a.py", BASE, BASE.replace(b"import a", b"import b"), BASE + b"x = 1\n")) == ()


def test_missing_sides_binaries_and_bytes_that_are_no_text_do_not_raise() -> None:
    assert clashes(collide("a", b"a\n", None, b"b\n")) == ()
    assert clashes(collide("a", b"\0a\n", b"\0b\n", b"\0c\n")) == ()
    (clash,) = clashes(collide("a.py", b"\xe9", b"\xff", b"\xfe"))
    assert (clash.line, clash.symbol, clash.main) == (1, "", "�")
    (added,) = clashes(collide("a.py", None, b"x\r\n", b"y"))
    assert (added.base, added.main, added.change) == ("", "x\r\n", "y")
    assert described("a.py", [added]).endswith("--- as this change wants it\ny\n")

"""What no automatic result may do, and that honest results are not doubted."""

from __future__ import annotations

import pytest

from qodebase.collision import Collision, Side
from qodebase.paths import RepoPath
from replay_rules.clean_merge import merge_file
from replay_rules.invariants import merge_objection, objection

BODY = b"".join(b"line %d\n" % number for number in range(12))
PY = b"import a\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n\n\nx = {'a': 1}\n"


def collide(path: str, base: bytes, main: bytes, change: bytes, *, idempotent: bool = False) -> Collision:
    sides = [Side(content=content) for content in (base, main, change)]
    return Collision(path=RepoPath(path.encode()), base=sides[0], main=sides[1], change=sides[2], idempotent=idempotent)


def doubt(path: str, base: bytes, main: bytes, change: bytes, *, idempotent: bool = False) -> str:
    """Return what is said of git's own clean merge."""
    merged = merge_file(base, main, change)
    assert merged is not None
    return merge_objection(collide(path, base, main, change, idempotent=idempotent), merged)


def test_honest_edits_of_different_places_are_not_doubted() -> None:
    for path, base, old, new in (
        ("a.txt", BODY, (b"line 1\n", b"line 9\n"), (b"one\n", b"nine\n")),
        ("a.py", PY, (b"return 1", b"'a': 1"), (b"return 3", b"'a': 1, 'b': 2")),
        ("a.bin", BODY.replace(b"l", b"\xff"), (b"\xffine 1\n", b"\xffine 9\n"), (b"\xfe\n", b"\xfd\n")),
        ("a.py", PY.replace(b"\n", b"\r\n"), (b"return 1", b"'a': 1"), (b"return 3", b"'a': 4")),
    ):
        assert doubt(path, base, base.replace(old[0], new[0]), base.replace(old[1], new[1])) == ""


def test_a_counter_that_both_raise_is_doubted_unless_it_is_meant_once() -> None:
    raised = BODY.replace(b"line 5\n", b"line 6\n")
    other = raised.replace(b"line 0\n", b"zero\n")
    assert doubt("a.txt", BODY, raised, other).startswith("alike: both sides made the same hunk at line 6")
    assert doubt("a.txt", BODY, raised, other, idempotent=True) == ""


def test_twin_functions_at_different_places_are_doubted() -> None:
    twin = b"def twin():\n    return 0\n\n\n"
    main, change = PY.replace(b"def f", twin + b"def f"), PY.replace(b"x = ", twin + b"x = ")
    assert doubt("a.py", PY, main, change) == "I2: the definition `twin` stands more often than on either side"


def test_a_key_that_both_add_at_different_places_is_doubted() -> None:
    base = b'{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4\n}\n'
    main = base.replace(b'  "a"', b'  "new": 1,\n  "a"')
    change = base.replace(b'  "d"', b'  "new": 2,\n  "d"')
    assert doubt("a.json", base, main, change) == "I2: the key `new` stands more often than on either side"
    python = b"X = {\n    'a': 1,\n    'b': 2,\n    'c': 3,\n    'd': 4,\n}\n"
    main = python.replace(b"    'a'", b"    'new': 1,\n    'a'")
    change = python.replace(b"    'd'", b"    'new': 2,\n    'd'")
    assert doubt("a.py", python, main, change) == "I2: the key `'new'` stands more often than on either side"


def test_a_result_that_no_longer_parses_is_doubted() -> None:
    base = b"def f():\n    x = 1\n    y = 2\n    z = 3\n    return x\n"
    main = base.replace(b"def f():", b"def f(a):\n    if a:\n        pass")
    broken = main.replace(b"def f(a):", b"def f(a:")
    assert objection(collide("a.py", base, main, base), broken).startswith("I1: ")
    assert objection(collide("a.toml", b"a = 1\n", b"a = 1\nb = 2\n", b"c = 1\na = 1\n"), b"c = 1\na = 1\nb = \n")


def test_faults_that_a_side_has_already_are_allowed() -> None:
    base = b"def f(:\n    pass\n\n\nx = 1\ny = 2\nz = 3\n"
    assert doubt("a.py", base, base.replace(b"x = 1", b"x = 4"), base.replace(b"z = 3", b"z = 5")) == ""


def test_definitions_that_stand_twice_on_a_side_may_stand_twice() -> None:
    base = (
        b"class A:\n    @property\n    def p(self):\n        return 1\n\n"
        b"    @p.setter\n    def p(self, v):\n        self.q = v\n"
    )
    assert doubt("a.py", base, base.replace(b"return 1", b"return 2"), base.replace(b"= v", b"= v + 1")) == ""


def test_a_hunk_that_another_diff_puts_elsewhere_is_doubted() -> None:
    block = b"{\n  a\n}\n"
    base = block + b"mid\n" + block
    main = base.replace(b"mid\n", b"mid\nmore\n")
    misplaced = b"wrong\n" + main
    change = base + b"wrong\n"
    assert merge_objection(collide("a.txt", base, main, change), misplaced).startswith("I4: ")


@pytest.mark.parametrize(
    ("result", "named"),
    [
        (b"keep\nmain one\n", "I3: `change_word` is lost, which a side added"),
        (b"main one\nchange_word\n", "I3: the line `keep` is lost, which neither side touched"),
        (b"main change_word one\nkeep\n", ""),
    ],
)
def test_a_rule_loses_no_line_and_no_word(result: bytes, named: str) -> None:
    assert objection(collide("a.txt", b"keep\n", b"keep\nmain one\n", b"keep\nchange_word\n"), result) == named


def test_a_rule_brings_no_word_back_that_a_side_took_out_of_all_places() -> None:
    base = b"def a():\n    return make()\n\n\ndef b():\n    return make()\n"
    main, change = base.replace(b"make()", b"made"), base + b"\n\ndef c():\n    return make()\n"
    both = main + b"\n\ndef c():\n    return make()\n"
    assert (
        objection(collide("a.py", base, main, change), both)
        == "swept: `make` is back, which one side took out everywhere"
    )
    assert objection(collide("a.py", base, change, main), both).startswith("swept: ")
    assert objection(collide("a.md", base, main, change), both) == ""
    assert objection(collide("a.py", base, main.replace(b"made", b"make()", 1), change), both) == ""


def test_the_last_lines_end_may_come_or_go() -> None:
    assert objection(collide("a.txt", b"keep", b"keep\nmain\n", b"keep\nchange\n"), b"keep\nmain\nchange\n") == ""


def test_no_bytes_make_it_raise() -> None:
    for path in ("a.py", "a.json", "a.toml", "a.rb", "a"):
        for content in (b"", b"\x00", b"\xff\xfe{", b"[" * 20_000, b"{" * 5000, b'{"a":1,"a":'):
            assert isinstance(objection(collide(path, b"", content, content + b"\n"), content + b"\n\n"), str)


def test_faults_that_both_sides_bring_are_not_doubted_where_nothing_else_is_wrong() -> None:
    base = b"struct A {\n%s  int a;\n  int b;\n  int c;\n  int d;\n%s};\n"
    odd = b"  void f%d() ODD_MACRO(x) ODD%d;\n"
    one, two = odd % (1, 1), odd % (2, 2)
    sides = [base % both for both in ((b"", b""), (one, b""), (b"", two))]
    assert doubt("a.hpp", *sides) == ""
    assert objection(collide("a.hpp", *sides), base % (one, two)).startswith("I1")
    torn = collide("a.hpp", sides[0], sides[0].replace(b"a;", b"e;"), sides[2])
    assert merge_objection(torn, (base % (one, two)).replace(b"a;", b"e;"))


@pytest.mark.parametrize(
    ("path", "line", "around"),
    [
        ("app.properties", b"%s = 1\n", b"%s"),
        (".env", b"%s=1\n", b"%s"),
        ("Makefile", b"%s:\n\trun it\n", b"%s"),
        ("run.sh", b"%s() {\n  :\n}\n", b"%s"),
        ("Main.strings", b'"%s" = "x";\n', b"%s"),
        ("strings.xml", b'<string name="%s">x</string>\n', b"<resources>\n%s</resources>\n"),
    ],
)
def test_a_key_of_a_text_or_of_xml_that_both_add_is_doubted(path: str, line: bytes, around: bytes) -> None:
    rows = [line % (b"old%d" % number) for number in range(8)]
    new, other = line % b"new", line % b"other"
    tops = [rows, [*rows[:1], new, *rows[1:]], [*rows[:7], new, *rows[7:]], [*rows[:7], other, *rows[7:]]]
    base, main, change, apart = (around % b"".join(top) for top in tops)
    shown = '"new"' if path == "Main.strings" else "new"
    assert doubt(path, base, main, change) == f"I2: the key `{shown}` stands more often than on either side"
    assert doubt(path, base, main, apart) == ""


JOBS = b"jobs:\n  one:\n    steps:\n%s" % b"".join(
    b"    - use: %s\n      with: 1\n" % name for name in (b"a", b"b", b"c")
)
TALL = b'a = """\none\n\n\ntwo\n"""\nb = "x"\n'


@pytest.mark.parametrize(
    ("path", "base", "one", "two"),
    [
        ("a.yaml", JOBS, (b"a\n      with", b"a\n      by"), (b"c\n      with", b"c\n      by")),
        ("a.yaml", JOBS, (b"  one:", b"  two:"), (b"c\n      with: 1", b"c\n      with: 2")),
        ("a.toml", TALL, (b"\none", b"\n1"), (b"two", b"2")),
        ("a.toml", TALL.replace(b'"""', b"'''"), (b"\none", b"\n1"), (b"two", b"2")),
    ],
)
def test_what_both_sides_edit_below_one_key_is_not_astray(
    path: str, base: bytes, one: tuple[bytes, bytes], two: tuple[bytes, bytes]
) -> None:
    main, change = base.replace(*one), base.replace(*two)
    assert doubt(path, base, main, change) == ""
    assert doubt(path, base, change, main) == ""

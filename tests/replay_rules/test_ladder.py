"""The ladder: steps in order, each written down, none believed that an invariant doubts."""

from __future__ import annotations

import msgspec
import pytest

from qodebase.change import EXECUTABLE, REGULAR
from qodebase.collision import Collision, Declined, Kind, Resolved, Side, Step
from qodebase.paths import RepoPath
from replay_rules.ladder import climb, climb_shared, kind_of, redo
from replay_rules.registry import rules_for
from replay_rules.symbols_added import rule
from tests.support.replay_sides import edited

INDEX = b"# Index\n\n- `b` `g` x\n"


def collide(path: str, *contents: bytes | None, modes: tuple[int, ...] = (REGULAR,) * 3) -> Collision:
    sides = [Side(content=content, mode=mode) for content, mode in zip(contents, modes, strict=True)]
    return Collision(path=RepoPath(path.encode()), base=sides[0], main=sides[1], change=sides[2])


def test_a_clean_merge_is_one_step() -> None:
    climbed = climb(collide("a", b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n"), ["sorted-index"])
    assert climbed.resolved == Resolved(content=b"A\nb\nC\n")
    assert climbed.steps == (Step(by="merge"),)


def test_what_the_merge_declines_goes_to_the_rules_and_every_step_says_why() -> None:
    main, change = INDEX + b"- `c` `h` main\n", INDEX + b"- `d` `i` change\n"
    climbed = climb(collide("I.md", INDEX, main, change), ["file-mode", "sorted-index"])
    assert climbed.resolved == Resolved(content=main + b"- `d` `i` change\n")
    assert [(step.by, bool(step.declined)) for step in climbed.steps] == [
        ("merge", True),
        ("rule:file-mode", True),
        ("rule:sorted-index", False),
    ]


def test_a_doubtful_merge_is_declined_with_the_invariants_name() -> None:
    base = b"a\n" * 3 + b"n = 5\n" + b"b\n" * 3
    raised = base.replace(b"5", b"6")
    climbed = climb(collide("a", base, raised, raised))
    assert climbed.resolved is None
    assert climbed.steps[0].declined.startswith("alike: ")


def test_the_mode_is_merged_whatever_a_rule_says() -> None:
    main, change = INDEX + b"- `c` `h` main\n", INDEX + b"- `d` `i` change\n"
    modes = (REGULAR, EXECUTABLE, REGULAR)
    outcome = redo(collide("I.md", INDEX, main, change, modes=modes), "rule:sorted-index")
    assert isinstance(outcome, Resolved)
    assert outcome.mode == EXECUTABLE
    clash = collide("I.md", INDEX, main, change, modes=(REGULAR, EXECUTABLE, 0o120000))
    assert isinstance(redo(clash, "rule:sorted-index"), Declined)


def test_a_shared_path_is_redone_by_its_rule_alone() -> None:
    climbed = climb_shared(collide("I.md", INDEX, None, INDEX + b"- `d` `i` x\n"), "sorted-index")
    assert climbed.resolved is None
    assert climbed.steps == (Step(by="rule:sorted-index", declined="the index was deleted"),)


def test_collisions_are_named_by_what_differs() -> None:
    assert kind_of(collide("a", None, b"a", b"b")) is Kind.ADDED_TWICE
    assert kind_of(collide("a", b"a", None, b"b")) is Kind.DELETED
    assert kind_of(collide("a", b"a", b"a", b"b")) is Kind.MODE
    assert kind_of(collide("a", b"a", b"b", b"c")) is Kind.CONTENT


def test_a_rule_has_no_say_in_blank_lines_where_git_merges() -> None:
    base = b"class A:\n    x = 1\n\n\nclass B:\n    pass\n"
    main = base.replace(b"1\n\n\n", b"1\n\n    y = 2\n\n")
    change = base.replace(b"class B", b"def f():\n    return 1\n\n\nclass B")
    collision = collide("m.py", base, main, change)
    merged, by_rule, ruled = redo(collision, "merge"), redo(collision, "rule:symbols-added"), rule(collision)
    assert isinstance(merged, Resolved)
    assert isinstance(ruled, Resolved)
    assert merged.content != ruled.content
    assert by_rule == merged


def test_no_rule_lands_a_use_of_a_name_that_main_renamed() -> None:
    base = b"def old(x):\n    return x + 1\n\n\ndef last():\n    return 0\n"
    main = base.replace(b"old", b"new") + b"\n\ndef theirs():\n    return new(1)\n"
    change = base + b"\n\ndef mine():\n    return old(2)\n"
    sides = [Side(content=content) for content in (base, main, change)]
    climbed = climb(Collision(path=RepoPath(b"a.py"), base=sides[0], main=sides[1], change=sides[2]), ["symbols-added"])
    assert climbed.resolved is None
    assert "rename: old is used and no longer defined" in climbed.steps[-1].declined


_BODY = b"def f(a):\n    n = 5\n    x = a\n    y = a\n    z = a\n    w = a\n    return n\n"
_ALIKE = {
    "m.py": (
        b"import os\n\n\n" + _BODY,
        ((b"import os\n", b"import os\nimport re\n"), (b"n = 5", b"n = 6"), (b"w = a", b"w = 1")),
        ((b"import os\n", b"import os\nimport sys\n"), (b"n = 5", b"n = 6"), (b"y = a", b"y = 2")),
    ),
    "renamed.py": (
        _BODY + b"\n\nN = 5\nA = 1\nB = 1\nC = 1\n",
        ((b"def f", b"def g"), (b"N = 5", b"N = 6")),
        ((b"N = 5", b"N = 6"), (b"C = 1\n", b"C = f(1)\n")),
    ),
    "setup.cfg": (
        b"version = 1.4.0\na = 1\nbuild = 5\nb = 1\nc = 1\n",
        ((b"1.4.0", b"1.4.1"), (b"build = 5", b"build = 6")),
        ((b"1.4.0", b"1.5.0"), (b"build = 5", b"build = 6"), (b"c = 1", b"c = 2")),
    ),
    "T.md": (
        b"count: 5\n\na\n\nb\n\n| n | v |\n| - | - |\n| a | 1 |\n",
        ((b"count: 5", b"count: 6"), (b"| a | 1 |\n", b"| a | 1 |\n| b | 2 |\n")),
        ((b"count: 5", b"count: 6"), (b"\nb\n", b"\nbb\n"), (b"| a | 1 |\n", b"| a | 1 |\n| c | 3 |\n")),
    ),
}


@pytest.mark.parametrize("path", _ALIKE)
def test_an_edit_that_both_sides_made_is_not_taken_once_beside_what_a_rule_decides(path: str) -> None:
    base, ours, theirs = _ALIKE[path]
    main, change = edited(base, *ours), edited(base, *theirs)
    for sides in ((main, change), (change, main)):
        assert climb(collide(path, base, *sides), rules_for(RepoPath(path.encode()))).resolved is None
    once = msgspec.structs.replace(collide(path, base, main, change), idempotent=True)
    assert climb(once, rules_for(once.path)).resolved is not None


KEYS = b"x = 1\ny = 2\nz = 3\n"
FOUR = b"a\nb\nc\nd\n"
SPREAD = b"import a\nimport re\nimport c\nLIMIT = 3\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n"
SETUP = b"setup(\n    name='a',\n    b=2,\n    c=3,\n    author='me',\n)\n"
SIGNED = b"def f(\n    a,\n    b,\n    c,\n    d=1,\n):\n    pass\n"
SWITCH = b"switch (k) {\n  case 'a':\n    f()\n    break\n  case 'b':\n    g()\n    break\n}\n"
SCRIPT = b"import a from 'a'\nimport b from 'b'\nimport c from 'c'\nf()\n"
ROUTES = b"app.get('/a', x)\n"
IOTA = b"package m\n\nconst (\n\tA = 1 << iota\n\tB\n)\n"
OWNED = b"class A:\n    def __init__(self, a):\n        self.a = a\n"
METHOD = b"class A:\n    def f(self):\n        pass\n"
ONE = b"def a():\n    return 1\n"
HALF = b"def half(x):\n    return x / 2\n"
LOG = b"# C\n\n## Next\n\n- X\n\n## 1.0\n\n- old\n"
KEPT = b"@register(K.A)\ndef a(): pass\n"
URLS = b"urlpatterns = [\n    path('', home),\n]\n"
ITEMS = b'{\n  "e": [\n    "p",\n    "q",\n    "r"\n  ]\n}\n'
TABLE = b'b = [\n  "r",\n]\n'
NESTED = b'y = 1\n\n[a]\nd = "v"\n\n[a.b]\n[a.b.f]\nc = 1\n'
BLOCK = b"a: 1\nrun: |\n  text\n  # Heading\nnext: 1\n"


@pytest.mark.parametrize(
    ("path", "base", "main", "change"),
    [
        pytest.param(
            "setup.py",
            SETUP,
            edited(SETUP, (b"    b", b"    x=1,\n    b")),
            edited(SETUP, (b"'me',\n", b"'me',\n    x=2,\n")),
            id="an argument given twice",
        ),
        pytest.param(
            "m.py",
            SIGNED,
            edited(SIGNED, (b"    b", b"    x,\n    b")),
            edited(SIGNED, (b"d=1,\n", b"d=1,\n    x=3,\n")),
            id="a parameter of one name twice",
        ),
        pytest.param(
            "m.js",
            SWITCH,
            edited(SWITCH, (b"  case 'a'", b"  case 'x':\n    h()\n    break\n  case 'a'")),
            edited(SWITCH, (b"    break\n}", b"    break\n  case 'x':\n    i()\n    break\n}")),
            id="a case that never comes to its turn",
        ),
        pytest.param(
            "m.py",
            SPREAD,
            b"from q import load\n" + SPREAD,
            edited(SPREAD, (b"LIMIT", b"from z import load\nLIMIT")),
            id="a name imported from two modules",
        ),
        pytest.param(
            "m.py",
            SPREAD,
            b"from q import load\n" + SPREAD,
            SPREAD + b"\n\ndef load():\n    return 3\n",
            id="a name imported and defined",
        ),
        pytest.param(
            "m.js",
            SCRIPT,
            b"import {x} from 'q'\n" + SCRIPT,
            edited(SCRIPT, (b"f()", b"import {x} from 'z'\nf()")),
            id="a name that a script declares twice",
        ),
        pytest.param(
            "m.py",
            SPREAD,
            edited(SPREAD, (b"import re\n", b"")),
            SPREAD + b"\n\ndef h():\n    return re.compile('x')\n",
            id="an import taken away that is used anew",
        ),
        pytest.param(
            "m.py",
            SPREAD,
            edited(SPREAD, (b"LIMIT = 3\n", b"")),
            SPREAD + b"\n\ndef h():\n    return LIMIT\n",
            id="a constant taken away that is used anew",
        ),
        pytest.param(
            "setup.cfg", b"[o]\n" + KEYS, b"[o]\nn = 1\n" + KEYS, b"[o]\n" + KEYS + b"n = 9\n", id="an option twice"
        ),
        pytest.param("requirements.txt", FOUR, b"q==1\n" + FOUR, FOUR + b"Q==2\n", id="a package required twice"),
        pytest.param(
            "m.toml",
            NESTED,
            edited(NESTED, (b"[a.b.f]\nc = 1\n", b"f = 7\n")),
            edited(NESTED, (b"[a.b.f]\nc = 1\n", b"k = 2\n")),
            id="a table that one side deletes and the other makes a value",
        ),
        pytest.param(
            "m.py",
            KEPT,
            KEPT + b"\n\n@register(K.B)\ndef b(): pass\n",
            KEPT + b"\n\n@register(K.B)\ndef c(): pass\n",
            id="two functions registered under one key",
        ),
        pytest.param(
            "m.py",
            METHOD,
            METHOD + b"\n    def list(self):\n        pass\n",
            METHOD + b"\n    def g(self) -> list[int]:\n        pass\n",
            id="a method that hides what the next one names",
        ),
        pytest.param(
            "m.py",
            OWNED,
            edited(OWNED, (b"a):", b"a, b=0):")),
            edited(OWNED, (b"a):", b"a, c=0):")) + b"\n\ndef make():\n    return A(1, 2)\n",
            id="a constructor's new parameter given by its place",
        ),
        pytest.param(
            "m.py",
            b"def f(a):\n    return a\n",
            b"def f(a, b=0):\n    return a\n",
            b"def f(a, c=0):\n    return a\n\n\ndef make():\n    return partial(f, 1, 2)\n",
            id="a new parameter given by its place through another function",
        ),
        pytest.param(
            "m.go",
            IOTA,
            edited(IOTA, (b"\tB\n", b"\tB\n\tC = iota * 10\n")),
            edited(IOTA, (b"\tB\n", b"\tB\n\tD\n")),
            id="a member that repeats the other side's expression",
        ),
        pytest.param(
            "m.py", ONE, ONE + b"\n\n" + HALF, HALF + b"\n\nX = half(4)\n\n\n" + ONE, id="a twin behind its use"
        ),
        pytest.param(
            "CHANGELOG.md",
            LOG,
            edited(LOG, (b"- X\n", b"- X\n\n- Y\n")),
            edited(LOG, (b"- X\n", b"- X\n\n  - below X\n")),
            id="a bullet that belongs below another one",
        ),
        pytest.param(
            "urls.py",
            URLS,
            edited(URLS, (b"]", b"    path('a/', a, name='x'),\n]")),
            edited(URLS, (b"]", b"    path('b/', b, name='x'),\n]")),
            id="two routes of one name",
        ),
        pytest.param(
            "m.js",
            ROUTES,
            ROUTES + b"app.get('/b', y)\n",
            ROUTES + b"app.head('/b', z)\n",
            id="a HEAD that a GET answers",
        ),
        pytest.param(
            "m.js",
            ROUTES,
            ROUTES + b"app.get('/B', y)\n",
            ROUTES + b"app.get('/b', z)\n",
            id="paths that differ in case",
        ),
    ],
)
def test_what_would_lose_double_or_misplace_work_is_declined(
    path: str, base: bytes, main: bytes, change: bytes
) -> None:
    collision = collide(path, base, main, change)
    assert climb(collision, rules_for(collision.path)).resolved is None


def test_a_line_of_a_yaml_text_that_looks_like_a_comment_is_text() -> None:
    main = edited(BLOCK, (b"a: 1\n", b"a: 1\nb: 1\n"), (b"next", b"foo: 3\nnext"))
    change = edited(BLOCK, (b"a: 1\n", b"a: 1\nc: 1\n"), (b"  # Heading\n", b""))
    collision = collide("w.yaml", BLOCK, main, change)
    resolved = climb(collision, rules_for(collision.path)).resolved
    assert resolved is not None
    assert resolved.content == b"a: 1\nb: 1\nc: 1\nrun: |\n  text\nfoo: 3\nnext: 1\n"


def test_what_lines_would_double_or_misplace_is_merged_by_key() -> None:
    appended = b'b = "new"\n\n[c]\ng = "v"\n\n[c.x]\na = [\n  "q",\n]\n'
    for path, base, main, change, wanted in (
        (
            "m.json",
            ITEMS,
            edited(ITEMS, (b'"q"', b'"n",\n    "q"')),
            edited(ITEMS, (b'"q",\n', b'"q",\n    "n",\n')),
            edited(ITEMS, (b'"q"', b'"n",\n    "q"')),
        ),
        ("m.toml", TABLE, appended, TABLE + b"d = 6\n", edited(appended, (b'"new"\n', b'"new"\nd = 6\n'))),
    ):
        collision = collide(path, base, main, change)
        climbed = climb(collision, rules_for(collision.path))
        assert climbed.steps[0].declined
        assert climbed.resolved == Resolved(content=wanted)

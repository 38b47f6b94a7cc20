"""What all structure rules share: cutting files into items, and putting them together again."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules import several
from replay_rules.invariants import objection
from replay_rules.parsing import parse
from replay_rules.parts import cut, grammar_of, join
from replay_rules.registry import load_rule
from replay_rules.weave import weave
from tests.support.three_ways import content, inserted, three, why

RULES = (
    "clauses",
    "enum-members",
    "imports",
    "key-sets",
    "parallel-inserts",
    "routes",
    "several",
    "signature-union",
    "symbol-rename",
    "symbols-added",
    "table-rows",
    "twin-functions",
)
BASE = b"""import os
from x import (
    a,
)

__all__ = ["f"]

TABLE = {
    "f": 1,
}


class E(Enum):
    A = auto()


def f(k):
    if k == "a":
        return 1
    return 0


if __name__ == "__main__":
    f()
"""


def grown(name: bytes) -> bytes:
    return (
        BASE.replace(b"    a,\n", b"    a,\n    %s,\n" % name)
        .replace(b'["f"', b'["f", "g%s"' % name)
        .replace(b'    "f": 1,\n', b'    "f": 1,\n    "g%s": 2,\n' % name)
        .replace(b"    A = auto()\n", b"    A = auto()\n    X%s = auto()\n" % name)
        .replace(b"    return 0\n", b'    if k == "%s":\n        return 3\n    return 0\n' % name)
        .replace(b"\n\nif __", b"\n\n# about %s\n@wraps(f)\ndef g%s():\n    return %s\n\n\nif __" % ((name,) * 3))
    )


def test_a_file_that_collides_at_places_of_many_kinds_is_put_together() -> None:
    collision = three(BASE, grown(b"b"), grown(b"c"))
    got = content(several.rule(collision))
    assert objection(collision, got) == ""
    for part in (
        b"    a,\n    b,\n    c,\n)",
        b'["f", "gb", "gc"]',
        b'    "gb": 2,\n    "gc": 2,\n}',
        b"    Xb = auto()\n    Xc = auto()\n",
        b'    if k == "b":\n        return 3\n    if k == "c":\n        return 3\n    return 0\n',
        b"# about b\n@wraps(f)\ndef gb():\n    return b\n\n\n# about c\n@wraps(f)\ndef gc():\n    return c\n\n\nif __",
    ):
        assert part in got


def test_one_place_that_no_rule_proves_leaves_all_undecided() -> None:
    main, change = grown(b"b").replace(b"return 1", b"return 7"), grown(b"c").replace(b"return 1", b"return 8")
    assert why(several.rule(three(BASE, main, change)))


def test_line_ends_are_kept_and_mixed_ones_declined() -> None:
    versions = [text.replace(b"\n", b"\r\n") for text in (BASE, grown(b"b"), grown(b"c"))]
    got = content(several.rule(three(versions[0], versions[1], versions[2])))
    assert got == content(several.rule(three(BASE, grown(b"b"), grown(b"c")))).replace(b"\n", b"\r\n")
    assert "line ends" in why(several.rule(three(BASE, versions[1], grown(b"c"))))


def test_a_missing_last_line_end_stays_missing() -> None:
    base = b"def a():\n    pass"
    got = content(several.rule(three(base, base + b"\n\n\ndef b():\n    pass", base + b"\n\n\ndef c():\n    pass")))
    assert got == base + b"\n\n\ndef b():\n    pass\n\n\ndef c():\n    pass"


@pytest.mark.parametrize("name", RULES)
def test_no_rule_raises_on_any_bytes_and_all_repeat_themselves(name: str) -> None:
    rule = load_rule(name)
    dice = random.Random(name)
    texts = [
        b"", b"\xff\xfe\0", b"\xef\xbb\xbf" + BASE, BASE.replace(b"a", b"\xe9"), BASE, grown(b"b"), grown(b"c"),
        BASE[:97], b"def f(:\n  }{\n", b"\n\n", b"x", b"if a:\n\tpass\n  else:", b"[" * 3000, b"from x import (\n)\n",
    ]  # fmt: skip
    for path in (b"m.py", b"m.tsx", b"a.js", b"AUTHORS", b"no"):
        for _ in range(8):
            base, main, change = (dice.choice(texts) for _ in range(3))
            outcome = rule(three(base, main, change, path))
            assert isinstance(outcome, Resolved | Declined)
            assert outcome == rule(three(base, main, change, path))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_declines_a_missing_version_and_two_new_modes(name: str) -> None:
    rule = load_rule(name)
    collision = three(BASE, grown(b"b"), grown(b"c"))
    for part in ("base", "main", "change"):
        assert isinstance(rule(_with(collision, part, Side(content=None))), Declined)
    other = _with(collision, "main", Side(content=grown(b"b"), mode=0o100755))
    assert isinstance(rule(_with(other, "change", Side(content=b"", mode=0o120000))), Declined)


def _with(collision: Collision, part: str, side: Side) -> Collision:
    sides = {"base": collision.base, "main": collision.main, "change": collision.change, part: side}
    return Collision(path=collision.path, base=sides["base"], main=sides["main"], change=sides["change"])


def test_a_repeated_statement_is_declined_because_its_place_cannot_be_told() -> None:
    base = b"go()\nx = 1\n"
    main, change = base + b"\n\ndef m():\n    pass\n", base + b"go()\n\n\ndef c():\n    pass\n"
    assert "repeats" in why(several.rule(three(base, main, change)))


def test_a_name_that_one_side_defines_and_the_other_imports_is_declined() -> None:
    base = b"import os\n\n\nX = 1\n"
    main = base.replace(b"os\n", b"os\nfrom q import f\n") + b"\n\ndef m():\n    pass\n"
    change = base + b"\n\ndef f():\n    pass\n"
    assert "imports" in why(several.rule(three(base, main, change)))


def test_an_unknown_language_and_a_fault_are_declined() -> None:
    assert "grammar" in why(weave(three(b"a\n", b"b\n", b"c\n", b"a.txt"), several.POLICIES))
    assert "parse" in why(weave(three(b"a(\n", b"b\n", b"c\n"), several.POLICIES))


@pytest.mark.parametrize("count", [12, pytest.param(400, marks=pytest.mark.full)])
def test_cutting_and_joining_gives_every_container_back(count: int) -> None:
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:count]
    seen = 0
    for path in files:
        text = path.read_bytes()
        language = grammar_of(RepoPath(path.name.encode()))
        assert language is not None
        parsed = parse(language, text)
        if b"\r" in text or parsed.has_error or len(text) > 60_000:
            continue
        pending = [parsed.root]
        while pending:
            node = pending.pop()
            pending += node.children
            container = cut(parsed, node)
            if container is None:
                continue
            whole = join(container, container.items)
            assert whole.startswith(container.indent)
            assert whole[len(container.indent) :] == (text if node.parent is None else parsed.text(node))
            seen += 1
    assert seen > 20 * count


@pytest.mark.parametrize("count", [25, pytest.param(600, marks=pytest.mark.full)])
def test_agents_that_grow_one_file_lose_nothing_and_break_nothing(count: int) -> None:
    dice = random.Random(11)
    for _ in range(count):
        text, landed = BASE, []
        for number in range(4):
            name = b"n%d" % (number * 100 + dice.randrange(100))
            change = grown(name)
            if text != BASE:
                collision = three(BASE, text, change)
                text = content(several.rule(collision))
                assert objection(collision, text) == ""
            else:
                text = change
            landed.append(name)
        assert not parse("python", text).has_error
        for name in landed:
            assert text.count(b"def g%s()" % name) == text.count(b'"g%s": 2' % name) == 1
            assert text.count(b"    %s,\n" % name) == text.count(b"X%s = auto()" % name) == 1


def test_agents_that_grow_one_script_lose_nothing() -> None:
    base = b'import { a } from "x";\n\nclass A {\n  a() {\n    return 1;\n  }\n}\n\n'
    base += b'describe("A", () => {\n  it("a", () => {\n    f();\n  });\n});\n'
    text = base
    for name in (b"b", b"c", b"d"):
        change = (
            base.replace(b"a }", b"a, %s }" % name)
            .replace(b"  }\n}\n", b"  }\n\n  %s() {\n    return 2;\n  }\n}\n" % name)
            .replace(b"  });\n});", b'  });\n\n  it("%s", () => {\n    f();\n  });\n});' % name)
        )
        text = content(several.rule(three(base, text, change, b"a.test.js"))) if text != base else change
    assert b"import { a, b, c, d }" in text
    assert [text.count(b'it("%s"' % name) for name in (b"a", b"b", b"c", b"d")] == [1, 1, 1, 1]
    assert not parse("javascript", text).has_error


def test_a_row_of_inserted_items_is_never_mixed() -> None:
    run = [b"".join(b"\n\ndef %s%d():\n    pass\n" % (side, number) for number in range(3)) for side in (b"m", b"c")]
    assert content(several.rule(inserted(b"x = 1\n", b"", run[0], run[1]))) == b"x = 1\n" + run[0] + run[1]


def test_a_file_that_would_take_minutes_is_declined() -> None:
    base = b"x = 1\n" * 60_000
    assert why(weave(three(base, b"y = 1\n" + base, b"z = 1\n" + base), several.POLICIES)).startswith("too large")

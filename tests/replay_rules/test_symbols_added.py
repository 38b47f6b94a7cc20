"""Definitions that both sides added at one place."""

from __future__ import annotations

import random

import pytest

from replay_rules.several import rule as several
from replay_rules.symbols_added import rule
from tests.support.three_ways import content, inserted, three, why

BASE = b"def a():\n    return 1\n"


def function(name: str, body: str = "return 2") -> bytes:
    return f"\n\ndef {name}():\n    {body}\n".encode()


def test_appended_functions_stand_whole_one_behind_the_other() -> None:
    outcome = rule(three(BASE, BASE + function("b"), BASE + b"\n\n# why\n@wraps(a)\ndef c():\n    return 2\n"))
    assert content(outcome) == BASE + function("b") + b"\n\n# why\n@wraps(a)\ndef c():\n    return 2\n"


def test_functions_put_first_keep_blank_lines_between_them() -> None:
    b, c = function("b")[2:], function("c")[2:]
    outcome = rule(three(BASE, b + b"\n\n" + BASE, c + b"\n\n" + BASE))
    assert content(outcome) == b + b"\n\n" + c + b"\n\n" + BASE


def test_methods_are_put_into_the_class() -> None:
    base = b"class A:\n    def a(self):\n        return 1\n\n\nx = A()\n"
    main = base.replace(b"1\n", b"1\n\n    def b(self):\n        return 2\n")
    change = base.replace(b"1\n", b"1\n\n    def c(self):\n        return 3\n")
    assert content(rule(three(base, main, change))) == main.replace(
        b"2\n", b"2\n\n    def c(self):\n        return 3\n"
    )


def test_scripts_functions_methods_and_tests_do_too() -> None:
    base = b'describe("a", () => {\n  it("one", () => {\n    f();\n  });\n});\n'
    tests = [b'\n  it("%s", () => {\n    f();\n  });\n' % name for name in (b"two", b"three")]
    assert (
        content(rule(inserted(base, b"});", tests[0], tests[1], b"a.test.js")))
        == base[:-4] + b"".join(tests) + b"});\n"
    )
    base = b"export function a() {\n  return 1;\n}\n"
    b, c = b"\nexport const b = () => {\n  return 2;\n};\n", b"\nexport class C {\n  d() {\n    return 3;\n  }\n}\n"
    assert content(rule(inserted(base, b"", b, c, b"a.ts"))) == base + b + c


def test_constants_computed_without_calls_may_come_along() -> None:
    b, c = b"\n_B = 2\n" + function("b", "return _B"), function("c")
    assert content(rule(three(BASE, BASE + b, BASE + c))) == BASE + b + c


def test_edits_of_neighbouring_functions_are_both_kept() -> None:
    base = b"def a(): return 1\ndef b(): return 2\n"
    outcome = rule(three(base, base.replace(b"1", b"one"), base.replace(b"2", b"two")))
    assert content(outcome) == b"def a(): return one\ndef b(): return two\n"


@pytest.mark.parametrize(
    ("main", "change"),
    [
        (function("b"), function("b", "return 3")),
        (function("b"), function("c", "return b")),
        (b"\n\nb = start()\n", function("c")),
        (b"\n\na.x = 1\n", function("c")),
        (b"\n\na = 5\n", function("c")),
        (b"\n\n@app.get('/x')\ndef b():\n    pass\n", b"\n\n@app.get('/{y}')\ndef c():\n    pass\n"),
        (b"\n\n@register('x')\ndef b():\n    pass\n", b"\n\n@register('x')\ndef c():\n    pass\n"),
    ],
)
def test_definitions_that_touch_each_other_are_declined(main: bytes, change: bytes) -> None:
    assert why(rule(three(BASE, BASE + main, BASE + change)))


def test_a_method_that_uses_the_other_sides_member_is_declined() -> None:
    base = b"class A:\n    def a(self):\n        return 1\n"
    assert why(
        rule(inserted(base, b"", b"\n    def b(self):\n        pass\n", b"\n    def c(self):\n        self.b = 1\n"))
    )


def test_statements_at_one_place_are_declined() -> None:
    assert why(rule(inserted(b"def f(x):\n    return x\n", b"    return", b"    x += 1\n", b"    x *= 2\n")))


def test_the_same_edit_of_both_sides_is_declined_unless_the_job_says_once() -> None:
    base = b"def a(): return 5\ndef b(): pass\n"
    main, change = base.replace(b"5", b"6"), base.replace(b"5", b"6") + b"def c(): pass\n"
    assert "twice" in why(rule(three(base, main, change)))
    assert content(rule(three(base, main, change, idempotent=True))) == change


def test_a_function_deleted_here_and_edited_there_is_declined() -> None:
    base = BASE + function("b")
    assert why(rule(three(base, BASE, base.replace(b"2", b"3"))))


def test_generated_additions_equal_both_edits_applied() -> None:
    dice = random.Random(2)
    for _ in range(30):
        heads = [function(f"f{number}") for number in range(5)]
        gaps: list[tuple[bytes, bytes]] = []
        for number in range(6):
            sides = [b"", b""]
            for side in (0, 1):
                if dice.random() < 0.5:
                    sides[side] = function(f"new{number}_{side}", f"return {dice.randrange(9)}")
            gaps.append((sides[0], sides[1]))
        bases = [b"import os\n", *heads]
        base, main, change, both = (
            b"".join(part + glue for part, glue in zip(bases, glues, strict=True))
            for glues in (
                [b""] * 6,
                [gap[0] for gap in gaps],
                [gap[1] for gap in gaps],
                [gap[0] + gap[1] for gap in gaps],
            )
        )
        if base not in (main, change):
            assert content(rule(three(base, main, change))) == both


def test_a_helper_that_both_sides_wrote_alike_may_be_used_by_both() -> None:
    half = function("half", "return 1 / 2")
    main, change = BASE + half + function("b", "return half()"), BASE + half + function("c", "return half()")
    assert content(several(three(BASE, main, change))) == main + function("c", "return half()")
    assert "introduces" in why(rule(three(BASE, BASE + half, BASE + function("c", "return half()"))))

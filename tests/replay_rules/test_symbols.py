"""Definitions in twelve languages: names, kinds, spans and what they belong to."""

from __future__ import annotations

import pytest

from replay_rules.grammars import GRAMMARS, language_of
from replay_rules.parsing import parse
from replay_rules.symbols import definitions, doubled_keys

SAMPLES = {
    "a.py": (b"X = 1\nclass A:\n    y: int = 2\n    @p\n    def f(self):\n        z = 1\n", "X A A.y A.f"),
    "a.js": (
        b"export class A { x = 1; f() {} }\nfunction g() { const q = 1; }\nconst h = () => 1;\n"
        b"exports.k = 1;\ntest('t', () => {});\n",
        "A A.x A.f g h exports.k 't'",
    ),
    "a.ts": (
        b"interface I { a: number; g(): void }\nenum E { P, Q = 2 }\ntype T = 1;\n"
        b"abstract class C { abstract m(): void }\n",
        "I I.a I.g E E.P E.Q T C C.m",
    ),
    "a.tsx": (b"export const V = () => <a/>;\nnamespace N { export const k = 1; }\n", "V N N.k"),
    "a.go": (
        b"package a\nconst A = 1\ntype S struct{}\nfunc (s *S) F() {}\nfunc G[T any](a T) {}\nfunc init() {}\n",
        "A S S.F G",
    ),
    "a.rs": (b"struct S;\nimpl T for S { fn f(&self) {} }\nenum E { P }\nmod m { fn g() {} }\n", "S .f E E.P m m.g"),
    "A.java": (b"class A { int x, y; A() {} int f(int a) { int z; } enum E { P } }\n", "A A.x A.y A.A A.f A.E A.E.P"),
    "a.kt": (
        b"class A {\n    fun f(a: Int): Int { return 1 }\n    val x = 1\n}\nobject O {\n    val z = 3\n}\n",
        "A A.f A.x O O.z",
    ),
    "a.cs": (
        b"namespace N { class A { int x; public int Y { get; set; } void F(int a) {} } }\n",
        "N N.A N.A.x N.A.Y N.A.F",
    ),
    "a.swift": (
        b"class A { var x = 1\n func f() {}\n init() {} }\nextension A { func g() {} }\n",
        "A A.x A.f A.init A A.g",
    ),
    "a.c": (b"#define X 1\nstruct s { int a; };\nstatic int *f(int a) { int b; }\nenum e { P };\n", "X s f e e.P"),
    "a.cpp": (b"namespace n { class A { int f() { return 1; } }; int A::g() {} }\n", "n n.A n.A.f n.A::g"),
    "a.rb": (
        b"module M\n  class A\n    X = 1\n    def f; end\n    def self.g; end\n  end\nend\n",
        "M M.A M.A.X M.A.f M.A.self.g",
    ),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_definitions_are_found_with_what_they_belong_to(path: str) -> None:
    content, expected = SAMPLES[path]
    language = language_of(path.encode())
    assert language is not None
    found = [one.qualified.replace("T for S", "") for one in definitions(language, content)]
    assert [name for name in found if name] == expected.split()


def test_every_language_has_a_sample() -> None:
    assert {language_of(path.encode()) for path in SAMPLES} == set(GRAMMARS)


def test_a_definition_spans_its_decorators_and_names_the_comment_directly_above() -> None:
    content = b"import a\n\n# far\n\n# near\n# nearer\n@one\n@two\ndef f():\n    pass\n"
    (found,) = definitions("python", content)
    assert content[found.start : found.end] == b"@one\n@two\ndef f():\n    pass"
    assert content[found.head : found.start] == b"# near\n# nearer\n"


def test_an_exported_constant_spans_its_statement_and_an_attribute_its_item() -> None:
    script = b"export const f = () => 1;\n"
    (found,) = definitions("javascript", script)
    assert script[found.start : found.end] == b"export const f = () => 1;"
    rust = b"#[test]\nfn t() {}\n"
    (item,) = definitions("rust", rust)
    assert (item.start, item.end) == (0, len(rust) - 1)


def test_overloads_differ_by_their_parameters() -> None:
    found = definitions("java", b"class A { void f(int a) {} void f(long a) {} void f(int a) {} }\n")
    keys = [one.key for one in found if one.name == b"f"]
    assert (keys[0] == keys[2], keys[0] == keys[1]) == (True, False)


def test_keys_that_stand_twice_in_one_literal_are_counted_and_equal_keys_of_two_are_not() -> None:
    assert doubled_keys(parse("python", b"x = {'a': 1, 'b': 2, 'a': 3}\n")) == {b"'a'": 1}
    assert doubled_keys(parse("javascript", b"x = [{a: 1}, {a: 2, b: {a: 1}}];\n")) == {}


@pytest.mark.parametrize(
    ("language", "content", "found"),
    [
        ("rust", b"fn f() { match x { 1 => 1, 2 if a => 1, 2 if b => 1, 1 => 2, _ if a => 0, _ => 0 } }", {b"1": 1}),
        ("rust", b"fn f() { match x { 1 => match y { 1 => 0 } } }", {}),
        ("java", b"class A { void f(int a, long a) { switch (x) { case 1: case 2: case 1: } } }", {b"a": 1, b"1": 1}),
        ("java", b"class A { int f() { return switch (x) { case 1 -> 2; case 1, 2 -> 3; }; } }", {b"1": 1}),
        ("kotlin", b"fun f() = when (x) {\n 1, 2 -> 1\n is A -> 2\n 2 -> 3\n else -> 0\n}", {b"2": 1}),
        ("kotlin", b"class A(val a: Int, private val b: a, val c: Int = a, b: String)", {b"b": 1}),
        (
            "c_sharp",
            b"class A { void F(int a, string a) { switch (x) { case 1: break; case 1: break; } } }",
            {b"a": 1, b"1": 1},
        ),
        (
            "swift",
            b"switch x {\ncase 1, 2: a()\ncase 2: b()\ndefault: c()\n}\nlet d = [1: 1, 2: 2, 1: 3]\n",
            {b"1": 1, b"2": 1},
        ),
        ("ruby", b"case x\nwhen 1, A then a\nwhen 1\n b\nelse\n c\nend\n", {b"1": 1}),
    ],
)
def test_cases_and_parameters_that_stand_twice_are_counted(
    language: str, content: bytes, found: dict[bytes, int]
) -> None:
    assert doubled_keys(parse(language, content)) == found


def test_methods_of_literals_in_a_function_are_told_apart_by_their_literal() -> None:
    apart = b"test('t', () => {\n  const a = {m() {}}\n  use({m() {}, n() { class C { m() {} } }})\n})\nb = {m() {}}\n"
    assert [one.qualified for one in definitions("javascript", apart)] == ["'t'", "'t'.C", "'t'.C.m", "m"]
    assert doubled_keys(parse("javascript", apart)) == {}
    assert doubled_keys(parse("javascript", b"f(() => ({m() {}, n: 1, m() {}}))\n")) == {b"m": 1}


@pytest.mark.parametrize("language", GRAMMARS)
def test_no_bytes_make_it_raise(language: str) -> None:
    hostile = [b"", b"\x00\xff\xfe", b"(" * 3000, b"class class class", b"def f(\n  @\n}}}", b"\xe9 = {", b"test(`a`, "]
    for content in [*hostile, *(sample for sample, _ in SAMPLES.values())]:
        assert definitions(language, content) == definitions(language, content)
        doubled_keys(parse(language, content))


def test_a_language_without_a_description_has_no_definitions() -> None:
    assert language_of(b"a.txt") is None
    assert definitions("cobol", b"x") == ()

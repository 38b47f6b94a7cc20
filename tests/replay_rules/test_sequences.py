"""The rules for code in Go, Rust, Java, Kotlin, C, C++, C#, Swift and Ruby."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

import pytest

from qodebase.collision import Collision, Declined
from replay_rules import enum_members, imports, key_sets, several, symbols_added, twin_functions
from replay_rules.grammars import language_of
from replay_rules.parsing import parse
from replay_rules.symbols import definitions
from tests.support.three_ways import content, inserted, three, why


class Tongue(NamedTuple):
    """One language: a file with an import, a definition and an enumeration, and what is put into it."""

    path: bytes
    base: bytes
    imported: tuple[bytes, bytes, bytes]
    defined: tuple[bytes, bytes, bytes]
    members: tuple[bytes, bytes, bytes]


TONGUES = [
    Tongue(
        b"main.go",
        b'package main\n\nimport (\n\t"fmt"\n)\n\nconst (\n\tRed = iota\n\tBlue\n)\n\n'
        b"func one() int {\n\treturn 1\n}\n",
        (b")\n\nconst", b'\t"os"\n', b'\t"strings"\n'),
        (b"", b"\nfunc two() int {\n\treturn 2\n}\n", b"\n// three counts.\nfunc (c *Cart) three() {}\n"),
        (b")\n\nfunc one", b"\tGreen\n", b"\tGrey\n"),
    ),
    Tongue(
        b"lib.rs",
        b"use std::fmt;\n\npub enum Colour {\n    Red,\n    Blue,\n}\n\npub fn one() -> u8 {\n    1\n}\n",
        (b"\npub enum", b"use std::fs;\n", b"use std::{io, path};\n"),
        (b"", b"\n/// Two.\npub fn two() -> u8 {\n    2\n}\n", b"\n#[derive(Debug)]\nstruct Three {\n    a: u8,\n}\n"),
        (b"}\n\npub fn", b"    Green,\n", b"    Grey(u8),\n"),
    ),
    Tongue(
        b"Cart.java",
        b"package shop;\n\nimport java.util.List;\n\nclass Cart {\n    int one() {\n        return 1;\n    }\n}\n\n"
        b"enum Colour {\n    RED,\n    BLUE\n}\n",
        (b"\nclass", b"import java.util.Map;\n", b"import java.util.Set;\n"),
        (
            b"}\n\nenum",
            b"\n    @Override\n    int two(int a) {\n        return a;\n    }\n",
            b"\n    int three() {\n        return 3;\n    }\n",
        ),
        (b"    RED", b"", b""),
    ),
    Tongue(
        b"Cart.kt",
        b"package shop\n\nimport shop.Money\n\nfun one(): Int {\n    return 1\n}\n\n"
        b"enum class Colour {\n    RED,\n    BLUE,\n}\n",
        (b"\nfun one", b"import shop.Price\n", b"import shop.Tax as Duty\n"),
        (b"enum", b"fun two() = 2\n\n", b"class Three(val a: Int)\n\n"),
        (b"}\n", b"    GREEN,\n", b"    GREY,\n"),
    ),
    Tongue(
        b"cart.c",
        b"#include <stdio.h>\n\nenum colour {\n    RED,\n    BLUE,\n};\n\nint one(void)\n{\n    return 1;\n}\n",
        (b"\nenum", b"#include <stdlib.h>\n", b"#include <string.h>\n"),
        (b"", b"\nstatic int two(int a)\n{\n    return a;\n}\n", b"\nstruct three {\n    int a;\n};\n"),
        (b"};\n\nint", b"    GREEN,\n", b"    GREY,\n"),
    ),
    Tongue(
        b"cart.cpp",
        b"#include <vector>\n\nnamespace shop {\n\nint one() { return 1; }\n\n}  // namespace shop\n\n"
        b"enum class Colour {\n    Red,\n    Blue,\n};\n",
        (b"\nnamespace", b"#include <map>\n", b"#include <set>\n"),
        (
            b"\n}  // namespace",
            b"\nint two(int a) { return a; }\n",
            b"\ntemplate <typename T>\nT three(T x) { return x; }\n",
        ),
        (b"};\n", b"    Green,\n", b"    Grey,\n"),
    ),
    Tongue(
        b"Cart.cs",
        b"using System;\n\nnamespace Shop\n{\n    public class Cart\n    {\n        public int One()\n        {\n"
        b"            return 1;\n        }\n    }\n\n"
        b"    public enum Colour\n    {\n        Red,\n        Blue,\n    }\n}\n",
        (b"\nnamespace", b"using System.IO;\n", b"using System.Linq;\n"),
        (
            b"    }\n\n    public enum",
            b"\n        [Obsolete]\n        public int Two(int a)\n        {\n            return a;\n        }\n",
            b"\n        public int Three { get; set; }\n",
        ),
        (b"    }\n}\n", b"        Green,\n", b"        Grey,\n"),
    ),
    Tongue(
        b"Cart.swift",
        b"import Foundation\n\nenum Colour {\n    case red\n    case blue\n}\n\nfunc one() -> Int {\n    return 1\n}\n",
        (b"\nenum", b"import Combine\n", b"import UIKit\n"),
        (b"", b"\nfunc two(_ a: Int) -> Int {\n    return a\n}\n", b"\nextension Cart {\n    func three() {}\n}\n"),
        (b"}\n\nfunc", b"    case green\n", b"    case grey(Int)\n"),
    ),
    Tongue(
        b"cart.rb",
        b"class Cart\n  def one\n    1\n  end\nend\n",
        (b"", b"", b""),
        (b"end\n", b"\n  def two(a)\n    a\n  end\n", b"\n  # Three.\n  def self.three\n    3\n  end\n"),
        (b"", b"", b""),
    ),
]
NAMES = [tongue.path.decode() for tongue in TONGUES]


def put(tongue: Tongue, part: tuple[bytes, bytes, bytes]) -> tuple[Collision, bytes]:
    """Return the collision of two insertions before the last place of a text, and both of them there."""
    before, main, change = part
    at = tongue.base.rindex(before) if before else len(tongue.base)
    sides = [tongue.base[:at] + new + tongue.base[at:] for new in (main, change, main + change)]
    return three(tongue.base, sides[0], sides[1], tongue.path), sides[2]


@pytest.mark.parametrize("tongue", TONGUES, ids=NAMES)
def test_definitions_of_both_sides_stand_one_behind_the_other(tongue: Tongue) -> None:
    collision, wanted = put(tongue, tongue.defined)
    assert content(symbols_added.rule(collision)) == wanted
    assert content(several.rule(collision)) == wanted


@pytest.mark.parametrize("tongue", [one for one in TONGUES if one.imported[1]])
def test_imports_of_both_sides_are_united(tongue: Tongue) -> None:
    collision, wanted = put(tongue, tongue.imported)
    assert content(imports.rule(collision)) == wanted


@pytest.mark.parametrize("tongue", [one for one in TONGUES if one.members[1]])
def test_members_of_both_sides_are_appended_and_not_put_before_others(tongue: Tongue) -> None:
    collision, wanted = put(tongue, tongue.members)
    assert content(enum_members.rule(collision)) == wanted
    first = tongue.base.index(b"Red") if b"Red" in tongue.base else tongue.base.lower().index(b"red")
    line = tongue.base.rindex(b"\n", 0, first) + 1
    if b"iota" not in tongue.base:
        front = [tongue.base[:line] + new + tongue.base[line:] for new in tongue.members[1:]]
        assert "move their values" in why(enum_members.rule(three(tongue.base, *front, tongue.path)))


@pytest.mark.parametrize("tongue", TONGUES, ids=NAMES)
def test_equal_twins_are_kept_once_and_others_declined(tongue: Tongue) -> None:
    before, new, other = tongue.defined
    at = tongue.base.rindex(before) if before else len(tongue.base)
    main, spread = (tongue.base[:at] + text + tongue.base[at:] for text in (new, new.replace(b"(", b"( ", 1)))
    assert content(twin_functions.rule(three(tongue.base, main, spread, tongue.path))) == main
    unlike = (
        tongue.base[:at] + new.replace(b"a\n", b"0\n").replace(b"2", b"5").replace(b" a;", b" 0;") + tongue.base[at:]
    )
    assert unlike != main
    assert "another" in why(twin_functions.rule(three(tongue.base, main, unlike, tongue.path)))
    user = other.replace(b"three", b"four").replace(b"Three", b"Four").replace(b"Cart {", b"Basket {")
    mine, theirs = (tongue.base[:at] + new + text + tongue.base[at:] for text in (other, user))
    both = tongue.base[:at] + new + other + user + tongue.base[at:]
    assert content(several.rule(three(tongue.base, mine, theirs, tongue.path))) == both


@pytest.mark.parametrize(
    ("path", "base", "before", "main", "change", "said"),
    [
        (b"a.go", b"package a\n\nfunc a() {}\n", b"", b"\nfunc b() {}\n", b"\nfunc c() {\n\tb()\n}\n", "introduces"),
        (b"a.go", b"package a\n\nfunc a() {}\n", b"", b"\nfunc (x X) b() {}\n", b"\nfunc (y Y) b() {}\n", "one name"),
        (b"a.go", b'package a\n\nimport (\n\t"a"\n)\n', b")\n", b'\t"b/log"\n', b'\t"c/log"\n', "bind log"),
        (b"a.go", b'package a\n\nimport (\n\t"a"\n)\n', b")\n", b'\t_ "b"\n', b'\t_ "c"\n', "order may matter"),
        (b"a.rs", b"use a::b;\n\nfn f() {}\n", b"\nfn", b"use c::*;\n", b"use d::*;\n", "order may matter"),
        (b"a.rs", b"use a::b;\n\nfn f() {}\n", b"\nfn", b"use c::X;\n", b"use d::{Y, X};\n", "bind X"),
        (b"A.java", b"import a.B;\n\nclass A {}\n", b"\nclass", b"import c.D;\n", b"import e.D;\n", "bind D"),
        (
            b"A.java",
            b"class A {\n    int a() {\n        return 1;\n    }\n}\n",
            b"}\n",
            b"\n    int b(int x) {\n        return 1;\n    }\n",
            b"\n    int b(long x) {\n        return 2;\n    }\n",
            "one name",
        ),
        (
            b"A.java",
            b"class A {\n    int a = 1;\n}\n",
            b"}\n",
            b"    int b = 2;\n",
            b"    int c = 3;\n",
            "order matters",
        ),
        (b"a.kt", b"import a.B\n\nfun f() = 1\n", b"\nfun", b"import c.D\n", b"import e.F as D\n", "bind D"),
        (
            b"a.c",
            b"#include <a.h>\n\nint a;\n",
            b"\nint",
            b'#include "b.h"\n',
            b"#include <stdio.h>\n",
            "order may matter",
        ),
        (b"a.c", b"int a(void);\n", b"", b"#define B 1\n", b"int c(void);\n", "order matters"),
        (b"a.h", b"int a(void);\n", b"", b"int b(int);\n", b"int b(long);\n", "one name"),
        (b"A.cs", b"using A;\n\nclass C {}\n", b"\nclass", b"using X = B;\n", b"using X = D;\n", "bind X"),
        (b"a.swift", b"enum E {\n    case a\n}\n", b"}\n", b"    case b, c\n", b"    case d\n", ""),
        (b"a.rb", b"require 'a'\n\nf\n", b"\nf", b"require 'b'\n", b"require 'c'\n", "order matters"),
        (
            b"a.rb",
            b"class A\n  def a\n  end\nend\n",
            b"end\n",
            b"\n  private\n",
            b"\n  def b\n  end\n",
            "order matters",
        ),
    ],
)
def test_what_may_depend_on_its_place_or_on_the_other_side_is_declined(
    path: bytes, base: bytes, before: bytes, main: bytes, change: bytes, said: str
) -> None:
    for rule in (symbols_added.rule, imports.rule, several.rule, enum_members.rule, key_sets.rule):
        for sides in ((main, change), (change, main)):
            why(rule(inserted(base, before, *sides, path)))
    reasons = why(symbols_added.rule(inserted(base, before, main, change, path)))
    reasons += why(imports.rule(inserted(base, before, main, change, path)))
    assert said in reasons


@pytest.mark.parametrize(
    ("path", "base", "before", "main", "change"),
    [
        (b"a.go", b'package a\n\nvar m = map[string]int{\n\t"a": 1,\n}\n', b"}\n", b'\t"b": 2,\n', b'\t"c": 3,\n'),
        (b"a.rb", b"M = {\n  a: 1,\n}.freeze\n", b"}", b"  b: 2,\n", b"  c: 3,\n"),
        (b"a.rb", b"M = {\n  'a' => 1,\n}\n", b"}", b"  'b' => 2,\n", b"  'c' => 3,\n"),
        (b"a.kt", b'val m = mapOf(\n    "a" to 1,\n)\n', b")", b'    "b" to 2,\n', b'    "c" to 3,\n'),
    ],
)
def test_keys_of_both_sides_are_united_and_one_key_twice_is_declined(
    path: bytes, base: bytes, before: bytes, main: bytes, change: bytes
) -> None:
    at = base.rindex(before)
    assert content(key_sets.rule(inserted(base, before, main, change, path))) == base[:at] + main + change + base[at:]
    clash = main.replace(b"2", b"4")
    assert "added" in why(key_sets.rule(inserted(base, before, main, clash, path)))


def test_lists_and_structures_are_no_sets_of_keys() -> None:
    for kind in (b"[]string{", b"Point{", b"[...]int{"):
        base = b"package a\n\nvar m = " + kind + b"\n\t1,\n}\n"
        why(key_sets.rule(inserted(base, b"}\n", b"\t2,\n", b"\t3,\n", b"a.go")))


def test_names_that_both_sides_add_to_one_use_become_one_statement() -> None:
    base = b"use std::io::{BufRead, Read};\nuse std::fmt;\n\nfn f() {}\n"
    main, change = base.replace(b"Read}", b"Read, Write}"), base.replace(b"Read}", b"Read, Seek}")
    outcome = imports.rule(three(base, main, change, b"a.rs"))
    assert content(outcome) == base.replace(b"Read}", b"Read, Seek, Write}")


def test_a_package_that_both_sides_import_is_imported_once() -> None:
    base = b'package a\n\nimport (\n\t"fmt"\n)\n\nvar a = 1\n'
    main, change = (base.replace(b")\n", b'\t"os"\n' + text + b")\n", 1) for text in (b'\t"path"\n', b'\t"sort"\n'))
    assert content(imports.rule(three(base, main, change, b"a.go"))) == base.replace(
        b")\n", b'\t"os"\n\t"path"\n\t"sort"\n)\n', 1
    )


DEFINED = {
    b"a.go": b"func %s() int {\n\tx := 1\n\treturn x\n}\n",
    b"a.rs": b"#[inline]\npub fn %s() -> u8 {\n    let x = 1;\n    x\n}\n",
    b"a.java": b"/** One. */\nclass %s {\n    int x() {\n        return 1;\n    }\n}\n",
    b"a.kt": b"fun %s(): Int {\n    val x = 1\n    return x\n}\n",
    b"a.c": b"static int %s(void)\n{\n    int x = 1;\n    return x;\n}\n",
    b"a.cpp": b"template <typename T>\nT %s(T x)\n{\n    return x;\n}\n",
    b"a.cs": b"[Serializable]\npublic class %s\n{\n    public int X()\n    {\n        return 1;\n    }\n}\n",
    b"a.swift": b"// One.\nfunc %s() -> Int {\n    let x = 1\n    return x\n}\n",
    b"a.rb": b"def %s\n  x = 1\n  x\nend\n",
}


@pytest.mark.parametrize("count", [12, pytest.param(300, marks=pytest.mark.full)])
@pytest.mark.parametrize("path", DEFINED)
def test_definitions_at_random_places_are_all_there_once(path: bytes, count: int) -> None:
    dice = random.Random(11)
    language = language_of(path) or ""
    resolved = 0
    for _ in range(count):
        names = [[b"F%d" % number for number in range(4)]] * 3
        sides = [list(side) for side in names]
        for which, letter in ((1, b"M"), (2, b"C")):
            for number in range(dice.randrange(1, 4)):
                sides[which].insert(dice.randrange(len(sides[which]) + 1), letter + b"%d" % number)
        texts = [b"\n".join(DEFINED[path] % name for name in side) for side in sides]
        outcome = symbols_added.rule(three(texts[0], texts[1], texts[2], path))
        if isinstance(outcome, Declined):
            continue
        resolved += 1
        found = Counter(one.name for one in definitions(language, outcome.content) if not one.parent)
        assert found == Counter({name: 1 for side in sides for name in side})
        assert not parse(language, outcome.content).has_error
        assert sorted(outcome.content.split(b"\n")) == sorted(
            b"\n".join(DEFINED[path] % name for name in found).split(b"\n")
        )
    assert resolved > count * 0.9

"""The outlines of the languages that declare their names, and what is made of their imports and comments."""

from __future__ import annotations

import pytest
from declared_sources import DECLARED

from fleet.jobs.document.describe import describe
from fleet.jobs.document.languages import language_of
from fleet.jobs.document.languages.outline import Kind, Outline, public_names
from fleet.jobs.document.languages.outline_declared import plain_comment
from fleet.jobs.document.usage import Usage, usage_of

PUBLIC = {
    "queue.go": [
        ("Limit", Kind.CONSTANT, "Limit is the largest queue."),
        ("Queue", Kind.CLASS, "Holds items in order."),
    ],
    "queue.rs": [("Queue", Kind.CLASS, "A queue.")],
    "Queue.java": [("Queue", Kind.CLASS, "A queue of items.")],
    "Queue.kt": [("Queue", Kind.CLASS, "A queue of items."), ("twice", Kind.FUNCTION, "")],
    "queue.c": [
        ("LIMIT", Kind.CONSTANT, "The largest queue that we keep."),
        ("queue_push", Kind.FUNCTION, "Add an item to the end of the queue."),
    ],
    "queue.h": [("queue", Kind.CLASS, ""), ("queue_push", Kind.FUNCTION, "")],
    "queue.cc": [("Queue", Kind.CLASS, "A queue of items."), ("Queue::Push", Kind.FUNCTION, "")],
    "plain.hpp": [("twice", Kind.FUNCTION, "")],
    "Queue.cs": [("Queue", Kind.CLASS, "A queue of `Item` objects.")],
    "Queue.swift": [("Queue", Kind.CLASS, "A queue of items.")],
    "queue.rb": [("Shop::Queue", Kind.CLASS, "A queue of items.")],
}
PUSH = {
    "queue.go": ("Push", "(item string)", "Adds an item to its end."),
    "queue.rs": ("push", "(&mut self, item: T)", "Adds an item to the end."),
    "Queue.java": ("push", "(final String item, int... more)", "Adds an item to the end."),
    "Queue.kt": ("push", "(item: String)", "Adds an item to the end."),
    "queue.cc": ("Push", "(int item)", "Adds an item to the end."),
    "Queue.cs": ("Push", "(T item)", "Adds an item to the end."),
    "Queue.swift": ("push", "(_ item: T, more: Int)", "Adds an item to the end."),
    "queue.rb": ("push", "(item, more = nil)", "Adds an item to the end."),
}


def _outline(name: str, content: bytes | None = None) -> Outline:
    path = name.encode()
    language = language_of(path)
    assert language is not None
    return language.outline(path, DECLARED[name].encode() if content is None else content)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_names_of_a_file_come_with_their_own_first_sentence(name: str) -> None:
    found = public_names(_outline(name))
    assert sorted((one.name, one.kind, one.summary) for one in found) == sorted(PUBLIC[name])


@pytest.mark.parametrize("name", PUSH)
def test_a_class_gives_its_methods(name: str) -> None:
    symbol = next(one for one in _outline(name).symbols if one.name.endswith("Queue"))
    found = [one for one in symbol.members if one.method and one.public]
    assert (found[0].name, found[0].signature, found[0].summary) == PUSH[name]
    assert not any(one.name == "hidden" and one.public for one in symbol.members)


@pytest.mark.parametrize("name", DECLARED)
def test_any_bytes_give_an_outline_and_a_description(name: str) -> None:
    whole = DECLARED[name].encode()
    for content in (b"", b"\xff\xfe\x00", whole[: len(whole) // 2], whole.replace(b"}", b""), whole[::-1]):
        found = _outline(name, content)
        assert describe(name.encode(), found)


def test_bases_are_named_without_their_parameters() -> None:
    bases = {name: next((one.bases for one in _outline(name).symbols if one.bases), ()) for name in PUSH}
    assert bases == {
        "queue.go": (),
        "queue.rs": ("Display",),
        "Queue.java": ("Base", "Runnable"),
        "Queue.kt": ("Base", "Runnable"),
        "queue.cc": ("Base",),
        "Queue.cs": ("Base", "IDisposable"),
        "Queue.swift": ("Base", "Runnable"),
        "queue.rb": ("Base",),
    }


def test_methods_of_a_type_of_another_file_are_told_with_its_name() -> None:
    found = _outline(
        "a.go", b"package a\n\n// Push adds one.\nfunc (q *Queue[T]) Push() {}\n\nfunc (q queue) Pop() {}\n"
    )
    assert [(one.name, one.public, one.summary) for one in found.symbols] == [
        ("Queue.Push", True, "Adds one."),
        ("queue.Pop", False, ""),
    ]


def test_a_macro_before_a_name_does_not_hide_a_class() -> None:
    found = _outline("a.cc", b"SHOP_BEGIN\nnamespace shop {\nclass SHOP_API(1) Till final {\n};\n}\nSHOP_END\n")
    assert [(one.name, one.kind) for one in found.symbols] == [("Till", Kind.CLASS)]


def test_a_type_that_is_taken_for_a_name_is_not_public() -> None:
    found = _outline("a.h", b"SHOP_API void (shop_pay) (int coins);\nint shop_open(void);\n")
    assert [one.name for one in public_names(found)] == ["shop_open"]


def test_a_class_gives_neither_its_constructors_nor_the_macros_behind_its_methods() -> None:
    lines = ("public:", "Till();", "~Till() override;", "int Pay(int coins) const\n    SHOP_LOCKS_REQUIRED(lock_);")
    found = _outline("a.h", "\n".join(["class Till : public Box {", *lines, "};", ""]).encode())
    assert [one.name for one in found.symbols[0].members] == ["Pay"]


def test_names_in_capitals_are_no_macros() -> None:
    source = b"struct SHOP_TILL {\n};\nconst int SHOP_SIZE = 5;\nint SHOP_OPEN(int day);\ntypedef int SHOP_COIN;\n"
    assert [one.name for one in public_names(_outline("a.h", source))] == [
        *("SHOP_TILL", "SHOP_OPEN", "SHOP_COIN", "SHOP_SIZE"),
    ]


def test_names_in_a_namespace_without_a_name_are_not_public() -> None:
    found = _outline("a.cc", b"namespace {\nint hidden() { return 1; }\n}\nint shown() { return 1; }\n")
    assert [(one.name, one.public) for one in found.symbols] == [("hidden", False), ("shown", True)]


def test_a_header_that_holds_cpp_is_read_as_such() -> None:
    found = _outline("a.h", b"namespace shop {\nclass Till {\n public:\n  void Pay();\n};\n}\n")
    assert [(one.name, [member.name for member in one.members]) for one in found.symbols] == [("Till", ["Pay"])]


def test_tests_are_counted() -> None:
    counts = {
        "a_test.go": b"package a\n\nfunc TestOne(t *testing.T) {}\nfunc Testify() {}\n",
        "a.rs": b"#[test]\nfn one() {}\n",
        "A.java": b"class A {\n  @Test public void one() {}\n  @Test void two() {}\n}\n",
        "a.cc": b"TEST(Queue, Holds) {\n}\nTEST_F(Queue, Drops) {\n}\n",
        "a.cs": b"class A {\n  [Fact]\n  public void One() {}\n}\n",
        "a.swift": b"class A: XCTestCase {\n  func testOne() {}\n}\n",
        "a.rb": b"class A < Test\n  def test_one; end\n  test 'two' do\n  end\nend\n",
    }
    found = {name: _outline(name, content).tests for name, content in counts.items()}
    assert found == {"a_test.go": 1, "a.rs": 1, "A.java": 2, "a.cc": 2, "a.cs": 1, "a.swift": 1, "a.rb": 2}


def test_comments_are_read_without_their_marks() -> None:
    assert plain_comment("/**\n * Sells [tea](x) &amp; [`Cake`].\n */") == "Sells tea & `Cake`."
    assert plain_comment("# :stopdoc:\n# Sells tea.") == "Sells tea."


FOR_TOOLS = {
    "a.go": ("//go:noinline", "//nolint:errcheck // it cannot fail", "// +build linux", "//export Pay"),
    "a.rs": ("// rustfmt-skip", "//@ run-pass", "// edition:2021"),
    "A.java": ("// @formatter:off", "//noinspection unchecked", "// CHECKSTYLE:OFF", "// NOPMD this is meant so"),
    "a.kt": ("// @formatter:off", "//noinspection unchecked", "// ktlint-disable no-wildcard-imports"),
    "a.c": ("// clang-format off", "/* -*- mode: c; c-basic-offset: 4 -*- */", "// NOLINTNEXTLINE(misc-unused)"),
    "a.cc": ("// clang-format off", "// cppcheck-suppress unusedFunction", "// GCOV_EXCL_START", "// static"),
    "a.cs": ("// ReSharper disable All", "// ReSharper disable once InconsistentNaming", "// noinspection Naming"),
    "a.swift": ("// swift-tools-version:5.5", "// swiftlint:disable all", "// sourcery: AutoMockable"),
    "a.rb": (
        *("# frozen_string_literal: true", "# encoding: utf-8", "# -*- coding: utf-8 -*-", "# warn_indent: true"),
        *("# shareable_constant_value: literal", "# typed: strict", "#!/usr/bin/env ruby", "# rbs_inline: enabled"),
        *("# rubocop:disable Metrics/ClassLength", "# vim: ts=2"),
    ),
    "a.js": ("// eslint-disable-next-line no-undef", "/* v8 ignore next 3 */", "// biome-ignore lint: it is meant so"),
    "a.ts": ("// @ts-expect-error it is meant so", "// deno-lint-ignore no-explicit-any", "// prettier-ignore"),
}
SELLS = {
    "a.go": ("package a\n\n", "// Sells tea to all.", "func Pay() {}\n"),
    "a.rs": ("", "/// Sells tea to all.", "pub fn pay() {}\n"),
    "A.java": ("", "/** Sells tea to all. */", "public class Pay {}\n"),
    "a.kt": ("", "/** Sells tea to all. */", "class Pay\n"),
    "a.c": ("", "/* Sells tea to all. */", "int pay(void) { return 1; }\n"),
    "a.cc": ("", "// Sells tea to all.", "int pay() { return 1; }\n"),
    "a.cs": ("", "/// Sells tea to all.", "public class Pay {}\n"),
    "a.swift": ("", "/// Sells tea to all.", "public class Pay {}\n"),
    "a.rb": ("", "# Sells tea to all.", "class Pay\nend\n"),
    "a.js": ("", "/** Sells tea to all. */", "export function pay() {}\n"),
    "a.ts": ("", "/** Sells tea to all. */", "export function pay() {}\n"),
}


@pytest.mark.parametrize(("name", "comment"), [(name, one) for name, found in FOR_TOOLS.items() for one in found])
def test_what_a_comment_says_to_a_tool_is_no_documentation(name: str, comment: str) -> None:
    begin, documentation, code = SELLS[name]
    found = []
    for above in (comment, f"{comment}\n{documentation}", f"{documentation}\n{comment}"):
        outline = _outline(name, f"{begin}{above}\n{code}".encode())
        found.append(outline.symbols[0].summary)
        assert outline.leading in ((), ("Sells tea to all.",))
    assert found == ["", "Sells tea to all.", "Sells tea to all."]


def test_the_heading_of_a_section_does_not_join_the_documentation_below_it() -> None:
    for heading in ("// MARK: - The shop and its till", "//region The shop and its till", "// The shop and its till."):
        found = _outline("a.swift", f"{heading}\n/// Sells tea to all.\npublic class Pay {{}}\n".encode())
        assert found.symbols[0].summary == "Sells tea to all."
    found = _outline("a.swift", b"// MARK: - The shop and its till\npublic class Pay {}\n")
    assert found.symbols[0].summary == ""


def test_a_task_is_no_documentation() -> None:
    alone = b"package a\n\n// TODO: sell coffee too.\nfunc Pay() {}\n"
    below = b"package a\n\n// Pay returns it.\n// TODO(me): and all the rest.\nfunc Pay() {}\n"
    assert [_outline("a.go", one).symbols[0].summary for one in (alone, below)] == ["", "Returns it."]
    empty = b"package a\n\n// TODO returns an empty one.\nfunc TODO() {}\n"
    assert _outline("a.go", empty).symbols[0].summary == "Returns an empty one."


def test_what_a_directive_is_continued_by_does_not_join_the_documentation() -> None:
    found = _outline(
        "a.cc", b"// Sells tea to all.\n// REQUIRES: an open shop,\n// and coins.\nint pay() { return 1; }\n"
    )
    assert found.symbols[0].summary == "Sells tea to all."


def test_a_ruby_module_without_methods_gives_its_constants() -> None:
    found = _outline("version.rb", b"# frozen_string_literal: true\nmodule Shop\n  VERSION = '1.2'\n  left = 1\nend\n")
    assert [(one.name, one.value) for one in found.symbols[0].members] == [("VERSION", "'1.2'")]
    assert describe(b"shop/version.rb", found) == "Shop.\n\n- Shop: sets VERSION = '1.2'."


def test_names_that_rust_imports_are_told_as_they_are_declared() -> None:
    found = _outline("a.rs", b"use std::fmt::{self, Display as Shown};\nuse a::b as c;\npub fn pay() {}\n")
    assert [(one.module, one.names) for one in found.imports] == [("std::fmt", ("Display",)), ("a", ("b",))]


@pytest.mark.parametrize(
    ("name", "comment", "summary"),
    [
        ("A.java", "/** Sells {@link Tea#pour(int, Cup...)} to all. */", "Sells Tea.pour(int, Cup...) to all."),
        ("A.java", "/** Sells {@link #pour} and {@link Cup tea cups}. */", "Sells pour and tea cups."),
        ("A.java", "/** Sells {@code a == null ? tea : cup} to all. */", "Sells a == null ? tea : cup to all."),
        ("a.rb", "# Sells {Tea} by {Till#pay!} to all.", "Sells Tea by Till#pay! to all."),
        ("a.kt", "/** Sells tea to all. https://tea.example/ */", "Sells tea to all."),
    ],
)
def test_links_in_documentation_are_told_by_their_names(name: str, comment: str, summary: str) -> None:
    assert _outline(name, f"{comment}\n{SELLS[name][2]}".encode()).symbols[0].summary == summary


def test_the_names_of_people_and_files_say_nothing_of_a_file() -> None:
    for line in ("File: shop.cc", "Contact: shop@tea.example", "shop@tea.example, https://tea.example/"):
        found = _outline("a.cc", f"// {line}\n\n// The shop sells tea to all.\n\nint pay();\n".encode())
        assert found.leading == ("The shop sells tea to all.",)


def _used(files: dict[str, bytes]) -> Usage:
    return usage_of({name.encode(): _outline(name, content) for name, content in files.items()})


def test_imports_that_name_a_path_find_their_file() -> None:
    usage = _used(
        {
            "src/till.c": b'#include "till.h"\n#include "shop/coin.h"\n#include <stdio.h>\n',
            "src/till.h": b"int till;\n",
            "include/shop/coin.h": b"int coin;\n",
            "lib/shop.rb": b"require 'shop/till'\nrequire_relative 'shop/coin'\nrequire 'set'\n",
            "lib/shop/till.rb": b"class Till; end\n",
            "lib/shop/coin.rb": b"require_relative '../shop'\n",
            "a/main/java/shop/Till.java": b"import shop.coins.Coin;\nimport java.util.*;\nclass Till {}\n",
            "b/main/kotlin/shop/coins/Coin.kt": b"package shop.coins\nclass Coin\n",
            "src/lib.rs": b"use crate::money::coin::Coin;\nuse std::fmt;\n",
            "src/money/coin.rs": b"pub struct Coin;\n",
        }
    )
    assert usage.used_by(b"src/till.h") == (b"src/till.c",)
    assert usage.used_by(b"include/shop/coin.h") == (b"src/till.c",)
    assert usage.used_by(b"lib/shop/till.rb") == (b"lib/shop.rb",)
    assert usage.used_by(b"lib/shop/coin.rb") == (b"lib/shop.rb",)
    assert usage.used_by(b"lib/shop.rb") == (b"lib/shop/coin.rb",)
    assert usage.used_by(b"b/main/kotlin/shop/coins/Coin.kt") == (b"a/main/java/shop/Till.java",)
    assert usage.used_by(b"src/money/coin.rs") == (b"src/lib.rs",)


def test_of_two_files_that_an_import_may_name_the_nearer_is_meant() -> None:
    files = {f"{place}/shop/coin.h": b"int coin;\n" for place in ("a", "b")}
    usage = _used({**files, "b/src/till.c": b'#include "shop/coin.h"\n'})
    assert usage.used_by(b"b/shop/coin.h") == (b"b/src/till.c",)
    assert usage.used_by(b"a/shop/coin.h") == ()

"""Text rules: what is live is written harmlessly and named, and what is plain stays as it is."""

from __future__ import annotations

import pytest

from fleet.jobs.document.encoding import fitted, read_run, run_encoding
from fleet.jobs.document.language import Place
from fleet.jobs.document.languages import languages
from fleet.jobs.document.layout import laid_out
from fleet.jobs.document.text_rules import broken_rules, sanitise

PYTHON = languages()["python"].rules
SCRIPT = languages()["javascript"].rules


@pytest.mark.parametrize(
    ("text", "harmless", "name"),
    [
        ('Holds """ inside.', "Holds ''' inside.", "closing quotes"),
        ("Ends with \\", "Ends with", "trailing backslash"),
        (">>> import os", ">> import os", "doctest prompt"),
        ("Has a coding: line", "Has a coding line", "encoding line"),
        ("Has # type: ignore", "Has # type ignore", "type comment"),
        ("Has type:\nignore", "Has type ignore", "type comment"),
        ("Has # mypy: strict", "Has mypy strict", "directive"),
        ("Has isort:skip_file", "Has isort skip_file", "directive"),
        ("Has noqa in it", "Has no-qa in it", "suppression"),
        ("# /// script", "# // script", "directive"),
        ("Made by $Id$", "Made by Id$", "expanded keyword"),
        ("Is @generated", "Is generated", "generated marker"),
        ("DO NOT EDIT it", "leave unedited it", "generated marker"),
        ("Has vim: ts=4", "Has vim ts=4", "editor mode line"),
        ("<<<<<<< ours", "<<< ours", "conflict marker"),
        ("a\u202eb\u200bc\x00d", "abcd", "control character"),
    ],
)
def test_live_text_in_python_is_written_harmlessly_and_named(text: str, harmless: str, name: str) -> None:
    assert sanitise(text, PYTHON) == (harmless, (name,))
    assert broken_rules(text, PYTHON)[0] == name
    assert broken_rules(harmless, PYTHON) == ()


@pytest.mark.parametrize(
    ("text", "harmless", "name"),
    [
        ("Closes */ here", "Closes * / here", "closing mark"),
        ("Takes src/* only", "Takes src/ * only", "nested comment"),
        ("Is @ts-nocheck too", "Is ts-nocheck too", "live tag"),
        ("Is @internal too", "Is internal too", "live tag"),
        ("Wraps @angular/core.", "Wraps `@angular/core`.", "tag"),
        ("@param is a tag", "`@param` is a tag", "tag"),
        ("See {@link Foo} there", "See Foo there", "inline tag"),
        ("Has eslint-disable on", "Has eslint disable on", "directive"),
        ("Has //# sourceMappingURL=x", "Has //# source Mapping x", "source map"),
        ("Writes </script> out", "Writes < /script> out", "page markup"),
        ("Is #__PURE__ code", "Is PURE code", "pure mark"),
    ],
)
def test_live_text_in_javascript_is_written_harmlessly_and_named(text: str, harmless: str, name: str) -> None:
    assert sanitise(text, SCRIPT) == (harmless, (name,))
    assert name in broken_rules(text, SCRIPT)
    assert broken_rules(harmless, SCRIPT) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Parse the ESLint configuration and tell which rules a file breaks.",
        "Send mail to someone@example.org, at 5 < 6 and 7 > 3.",
        "Says \"this\" and 'that', costs $5 and is 100% type safe.",
        "Types: a list.\n\n- one: first\n- two: second",
        "Read the file's version, its author and the licence that it names.",
        "Handle na\u00efve text, \u65e5\u672c\u8a9e and \U0001f600 alike.",
    ],
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    for rules in (PYTHON, SCRIPT):
        assert sanitise(text, rules) == (text, ())
        assert broken_rules(text, rules) == ()


def test_globs_in_a_comment_neither_close_nor_nest() -> None:
    clean, _ = sanitise("Takes **/*.ts and src/*/index.js files.", SCRIPT)
    assert "*/" not in clean
    assert "/*" not in clean


@pytest.mark.parametrize(
    "wrapped",
    [
        '"""Describe it.\n\nIn full.\n"""',
        "```text\nDescribe it.\n\nIn full.\n```",
        "/**\n * Describe it.\n *\n * In full.\n */",
        '```python\n"""Describe it.\n\nIn full.\n"""\n```',
        "Describe it.  \r\n\r\n\r\n\r\nIn full.\r\n\r\n",
    ],
)
def test_what_a_model_wraps_around_the_whole_text_is_taken_off(wrapped: str) -> None:
    assert sanitise(wrapped, PYTHON)[0] == "Describe it.\n\nIn full."


def test_lines_are_wrapped_at_word_ends_and_items_hang() -> None:
    text = "one two three four five\nsix\n\n- seven eight nine ten\n- eleven\n1. twelve\n\n    kept  as it is here"
    assert laid_out(text, 16, first=4) == [
        "one two",
        "three four five",
        "six",
        "",
        "- seven eight",
        "  nine ten",
        "- eleven",
        "1. twelve",
        "",
        "    kept  as it is here",
    ]


def test_a_word_longer_than_the_line_is_not_cut() -> None:
    assert laid_out("a " + "b" * 30 + " c", 10) == ["a", "b" * 30, "c"]


@pytest.mark.parametrize(
    ("codec", "encoding"),
    [
        ("utf-8", "utf-8"),
        ("latin-1", "iso8859-1"),
        ("cp1252", "cp1252"),
        ("ascii", "ascii"),
        ("shift_jis", "ascii"),
        ("gbk", "ascii"),
        ("utf-7", None),
        ("utf-16", None),
        ("iso2022_jp", None),
        ("unicode_escape", None),
        ("rot13", None),
        ("no-such-codec", None),
    ],
)
def test_a_run_is_written_only_where_ascii_means_itself(codec: str, encoding: str | None) -> None:
    assert run_encoding(codec) == encoding


def test_text_is_written_plainly_where_the_file_cannot_hold_it() -> None:
    assert fitted("\u201cna\u00efve\u201d \u2014 \u2192", "ascii") == '"naive" - ->'
    assert fitted("na\u00efve \u2014", "iso8859-1") == "na\u00efve -"
    assert fitted("\u65e5\u672c", "ascii") is None
    assert fitted("\u65e5\u672c", "utf-8") == "\u65e5\u672c"


def test_a_run_is_read_only_with_the_line_ends_and_the_encoding_of_its_file() -> None:
    assert read_run(b"a\r\nb\r\n", "ascii", "\r\n") == "a\nb\n"
    assert read_run(b"a\r\nb\n", "ascii", "\r\n") is None
    assert read_run(b"a\r\nb\n", "ascii", "\n") is None
    assert read_run(b"a\0\r\n", "ascii", "\r\n") == "a\0\n"
    assert read_run(b"\xe4", "ascii", "\n") is None
    assert read_run(b"\xe4", "iso8859-1", "\n") == "\u00e4"
    assert read_run(b"\xc3\xa4", "iso8859-1", "\n") is None


@pytest.mark.parametrize(
    ("language", "text", "harmless", "name"),
    [
        ("go", "Needs +build linux", "Needs build linux", "build constraint"),
        ("go", "Has //go:embed in it", "Has //go embed in it", "directive"),
        ("rust", "```\nlet x = 1;\n``` it", "'''\nlet x = 1;\n''' it", "code block"),
        ("rust", "Runs\n\n    code();", "Runs\n\n   code();", "code block"),
        ("rust", "Takes a [Queue] in", "Takes a (Queue) in", "link"),
        ("rust", "Takes a [`Queue`] in", "Takes a `Queue` in", "link"),
        ("rust", "Takes a Vec<Vec<u8>> in `f(a: Vec<u8>)`", "Takes a `Vec<Vec<u8>>` in `f(a: Vec<u8>)`", "markup"),
        ("java", "Ends \\u002a\\u002f here", "Ends /u002a/u002f here", "unicode escape"),
        ("java", "Ends \\\\\\uu002a here", "Ends /uu002a here", "unicode escape"),
        ("java", "Closes */ here", "Closes * / here", "closing mark"),
        ("kotlin", "Takes src/* only", "Takes src/ * only", "nested comment"),
        ("kotlin", "Has ktlint-disable on", "Has ktlint disable on", "directive"),
        ("c", "Takes src/* only", "Takes src/ * only", "nested comment"),
        ("c", "Is @file queue.c", "Is file queue.c", "file command"),
        ("cpp", "Lies in C:\\ or", "Lies in C: or", "spliced line"),
        ("cpp", "Lies in C:\\\nor", "Lies in C:\nor", "spliced line"),
        ("cpp", "What??/ no", "What?/ no", "trigraph"),
        ("cpp", "Has LCOV_EXCL_START on", "Has LCOV EXCL START on", "coverage mark"),
        ("csharp", "Has ReSharper disable on", "Has ReSharper, disable on", "suppression"),
        ("swift", "Has swift-tools-version:5", "Has swift tools version:5", "tools version"),
        ("swift", "Has swiftlint:disable all", "Has swiftlint disable all", "directive"),
        ("swift", "Has MARK: - Queue", "Has MARK - Queue", "section mark"),
        ("ruby", "Has frozen_string_literal: true", "Has frozen_string_literal true", "magic comment"),
        ("ruby", "Has encoding: utf-7", "Has encoding utf-7", "encoding line"),
        ("ruby", "Is typed: strict", "Is typed strict", "magic comment"),
        ("ruby", "Has rubocop:disable all", "Has rubocop disable all", "directive"),
        ("ruby", "Has :nodoc: on", "Has nodoc on", "documentation switch"),
    ],
)
def test_live_text_in_each_language_is_written_harmlessly_and_named(
    language: str, text: str, harmless: str, name: str
) -> None:
    rules = languages()[language].rules
    found, names = sanitise(text, rules)
    assert found == harmless
    assert name in names
    assert name in broken_rules(text, rules)
    assert broken_rules(harmless, rules) == ()


def test_a_long_list_number_begins_no_code_block_in_rust() -> None:
    rust = languages()["rust"]
    place = rust.find_place(b"fn main() {}\n")
    assert isinstance(place, Place)
    run = rust.render("100. Sell the tea, " + "and the cake, " * 12 + "too.", place)
    assert b"\n//!    and" in run or b"\n//!    cake" in run or b"\n//!    the" in run
    assert b"//!     " not in run
    body = rust.body_of(run, place)
    assert body is not None
    assert broken_rules(body, rust.rules) == ()

"""The door to tree-sitter: trees, comments and leaves of any bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from replay_rules.parsing import Leaf, NoGrammar, Parsed, parse

SCRIPT = b"#!/usr/bin/env node\n/* one */ foo('// no'); // two\n"


def _texts(parsed: Parsed) -> list[bytes]:
    return [parsed.text(node) for node in parsed.comments()]


def test_comments_are_found_in_order_and_strings_hold_none() -> None:
    assert _texts(parse("javascript", SCRIPT)) == [b"/* one */", b"// two"]
    assert _texts(parse("python", b"# a\nx = '# no'  # b\n")) == [b"# a", b"# b"]


def test_comments_inside_of_a_broken_part_are_found() -> None:
    parsed = parse("javascript", b"function ( { /* one */ ]]\n// two\n")
    assert parsed.has_error
    assert _texts(parsed) == [b"/* one */", b"// two"]


def test_html_like_comments_are_comments() -> None:
    assert _texts(parse("javascript", b"<!-- one\nfoo()\n--> two\n")) == [b"<!-- one", b"--> two"]


def test_leaves_are_every_token_with_its_bytes() -> None:
    assert list(parse("python", b"x = 1 # a\n").leaves()) == [
        Leaf("identifier", 0, 1),
        Leaf("=", 2, 3),
        Leaf("integer", 4, 5),
        Leaf("comment", 6, 9),
    ]


def test_an_empty_file_has_no_error() -> None:
    parsed = parse("python", b"")
    assert not parsed.has_error
    assert parsed.comments() == []


def test_nodes_of_a_kind_come_in_order_and_unknown_kinds_are_skipped() -> None:
    parsed = parse("python", b"def f():\n    def g(): pass\nclass A: pass\n")
    found = parsed.nodes("function_definition", "class_definition", "no_such_kind")
    assert [node.type for node in found] == ["function_definition", "function_definition", "class_definition"]
    assert [node.start_byte for node in found] == sorted(node.start_byte for node in found)
    assert parsed.nodes("no_such_kind") == []


def test_every_grammar_of_a_wheel_has_its_name() -> None:
    markup = b"const a = <p>x</p>;\n"
    assert not parse("typescript.tsx", markup).has_error
    assert parse("typescript", markup).has_error
    assert not parse("typescript", b"const a = <string>x;\n").has_error


def test_a_grammar_that_is_not_installed_is_named_with_what_to_install() -> None:
    with pytest.raises(NoGrammar, match="no grammar for no_such") as raised:
        parse("no_such", b"")
    assert raised.value.hint == "Install the wheel tree-sitter-no-such."
    for missing in ("typescript.flow", "python.two"):
        with pytest.raises(NoGrammar):
            parse(missing, b"")


@pytest.mark.parametrize("language", ["python", "javascript", "typescript", "typescript.tsx"])
def test_any_bytes_give_a_tree_whose_leaves_stay_inside(language: str) -> None:
    for content in (b"\0\xff\xfe", b"\xe4" * 100, b"'''", b"/*", b"(" * 5000, b"\r\r\n\f", bytes(range(256)) * 3):
        leaves = list(parse(language, content).leaves())
        assert all(0 <= leaf.start <= leaf.end <= len(content) for leaf in leaves)


def test_deep_nesting_ends_nothing() -> None:
    parsed = parse("python", b"(" * 40_000 + b"1" + b")" * 40_000 + b"  # end\n")
    assert _texts(parsed) == [b"# end"]


def test_threads_parse_at_the_same_time() -> None:
    contents = [b"x = %d  # %d\n" % (number, number) for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda content: _texts(parse("python", content)), contents))
    assert found == [[b"# %d" % number] for number in range(40)]

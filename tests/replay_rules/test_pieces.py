"""Pieces of a file: what is found in them is what is found in the whole, whatever stands at a cut."""

from __future__ import annotations

import argparse
import ast
import random
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_rules.parsing import Parsed, parse
from replay_rules.pieces import asked
from replay_rules.symbols import definitions, definitions_in

PARTS = (
    b"import a\nfrom b import c as d\n",
    b"x = 1; y = {'k': 1, 'k': 2}\n",
    b"if x:\n",
    b"try:\n    a\nexcept B:\n    c\n",
    b"try:\n    a\n",
    b"else:\n    z\n",
    b"class A(B):\n    '''doc'''\n    x = 1\n\n    def f(self, a, a=1): pass\n    # inside\n",
    b"def f():\n    return g(k=1, k=2)\n        # deep\n",
    b"@d(a)\ndef f():\n\treturn 1\n",
    b"# at the margin\n",
    b"    # indented\n",
    b'"""doc\n\ndef x():\n    pass\n"""\n',
    b'"""\n',
    b"x = (1,\n",
    b")\n",
    b"x = 1 + \\\n",
    b"    \\\n",
    b"print x\n",
    b"match x:\n    case 1:\n        pass\n",
    b"\xef\xbb\xbf",
    b"# \xff\n",
    b'f"{\n',
    b"\r\n",
    b"\x0c\n",
    b"    \n",
    b"\0",
)
CUTS = (
    b"def f(a):\n    return 1\n",
    b"def g(): pass\n",
    b"class B:\n    x = 1\n\n    def m(self): pass\n",
    b"@d\n",
    b"@d\n\n",
    b"@d\n# c\ndef h(): pass\n",
    b"async def k():\n    await x\n",
    b"# c\n# d\n@d\nclass C: pass\n",
    b"# c\nx = 1\n",
    b"def f(",
    b"def f():\n",
)


def nodes(parsed: Parsed) -> list[tuple[str, int, int]]:
    """Return every node below the root with its place."""
    cursor = parsed.tree.walk()
    found = []
    while True:
        if (node := cursor.node) is not None and node.parent is not None:
            found.append((node.type, node.start_byte, node.end_byte))
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found


def composed(seed: int, count: int) -> Iterator[bytes]:
    """Yield contents of parts that go together or do not, with what may stand at a cut between them."""
    dice = random.Random(seed)
    for _ in range(count):
        out = []
        for _ in range(dice.randrange(1, 5)):
            out += dice.choices(PARTS, k=dice.randrange(4))
            out += [dice.choice((b"", b"\n", b"\n\n", b"\n\n", b"\n\n\n", b"\\\n\n\n", b"\n \n\n"))]
            out += [dice.choice(CUTS)] if dice.random() < 0.85 else []
        yield b"".join(out)


def real(seed: int) -> Iterator[bytes]:
    """Yield modules of Python's own library, whole and with some lines gone or moved."""
    dice = random.Random(seed)
    for module in (argparse, ast, textwrap):
        content = Path(module.__file__ or "").read_bytes()
        yield content
        lines = content.splitlines(keepends=True)
        for _ in range(2):
            at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
            left = [*lines[:at], *lines[at + dice.randrange(1, 4) :]]
            yield b"".join([*left[:to], lines[at], *left[to:]])


def count_of_pieces(content: bytes, language: str = "python") -> int:
    return sum(1 for _ in asked(language, content, nodes))


@pytest.mark.parametrize("contents", [composed(1, 1200), real(1)], ids=["composed", "real"])
def test_the_pieces_have_the_nodes_and_the_definitions_of_the_whole(contents: Iterator[bytes]) -> None:
    several = 0
    for content in contents:
        whole = parse("python", content)
        found = list(asked("python", content, nodes))
        assert [(kind, by + start, by + end) for by, some in found for kind, start, end in some] == nodes(whole), (
            content
        )
        assert definitions("python", content) == definitions_in(whole), content
        several += len(found) > 1
    assert several >= 3


@pytest.mark.parametrize(
    "content",
    [
        b'x = """\n\ndef f():\n    pass\n"""\n\ndef g():\n    pass\n',
        b"x = (1,\n\ndef f():\n    pass\n)\n",
        b"@decorated\n\ndef f():\n    pass\n",
        b"x = f'{y\n\ndef f():\n    pass\n",
        b"x = [\n\n\ndef f():\n    pass\n\n\ndef g():\n    pass\n",
    ],
)
def test_what_goes_on_behind_a_cut_is_read_as_a_whole(content: bytes) -> None:
    assert count_of_pieces(content) == 1


def test_functions_and_classes_behind_a_blank_line_are_pieces_with_the_comments_above_them() -> None:
    content = b"import a\n\n\ndef f():\n    pass\n\n# about\n@d\nclass A:\n\n    def m(self):\n        pass\n"
    assert [by for by, _ in asked("python", content, nodes)] == [0, 11, 30]
    assert definitions("python", content)[1].head == 30


def test_other_languages_are_one_piece() -> None:
    assert count_of_pieces(b"function f() {}\n\nclass A {}\n\nfunction g() {}\n", "javascript") == 1


def test_a_question_is_asked_only_of_pieces_that_are_new() -> None:
    seen = []

    def text(parsed: Parsed) -> bytes:
        seen.append(parsed.content)
        return parsed.content

    functions = [b"def one_%d():\n    return %d\n\n" % (number, number) for number in range(5)]
    edited = [*functions[:2], functions[2].replace(b"return 2", b"return 3"), *functions[3:]]
    for version in (functions, edited, functions):
        assert [piece for _, piece in asked("python", b"".join(version), text)] == version
    assert seen == [*functions, edited[2]]

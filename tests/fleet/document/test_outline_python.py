from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from fleet.jobs.document.languages.outline import Item, Kind, Outline, PublicName, public_names
from fleet.jobs.document.languages.outline_python import outline

SHOP = b'''#!/usr/bin/env python3
# Copyright 2020 The Shop. All rights reserved.
#
# Keep the books of a small shop.

import os
from decimal import Decimal as D
from .stock import Shelf, count

__all__ = ["Shop", "total", "Shelf"]

# The tax on everything that is sold.
TAX = 19
TABLE = {"a": [1, 2], "b": 3}


class Shop(Shelf, metaclass=type):
    """A shop. It has more to say here.

    Nobody quotes this.
    """

    name = "corner"

    def sell(self, thing, *, price: int = 3):
        """Sell one thing.
        """
        if price < 0:
            raise ValueError("price")

    def _count(self):
        pass


@cache
async def total(shop: Shop, /, *things) -> D:
    "Return the total"
    text = """
import nothing
"""


def _hidden(): raise KeyError


if __name__ == "__main__":
    sys.exit(main())
'''


def by_name(found: Outline) -> dict[str, object]:
    return {symbol.name: symbol for symbol in found.symbols}


def test_a_module_gives_its_symbols_with_kinds_lines_and_first_sentences() -> None:
    found = outline(SHOP)
    assert [(s.name, s.kind, s.line, s.public, s.exported, s.summary) for s in found.symbols] == [
        ("TAX", Kind.CONSTANT, 13, False, False, "The tax on everything that is sold."),
        ("TABLE", Kind.CONSTANT, 14, False, False, ""),
        ("Shop", Kind.CLASS, 17, True, True, "A shop."),
        ("total", Kind.FUNCTION, 35, True, True, "Return the total."),
        ("_hidden", Kind.FUNCTION, 43, False, False, ""),
    ]


def test_a_class_gives_its_bases_members_and_errors() -> None:
    shop = next(s for s in outline(SHOP).symbols if s.name == "Shop")
    assert shop.bases == ("Shelf",)
    assert shop.raises == ("ValueError",)
    assert [(m.name, m.method, m.signature, m.summary, m.public) for m in shop.members] == [
        ("name", False, "", "", True),
        ("sell", True, "(thing, *, price=3)", "Sell one thing.", True),
        ("_count", True, "()", "", False),
    ]


def test_a_function_gives_its_signature_decorators_and_that_it_waits() -> None:
    total = next(s for s in outline(SHOP).symbols if s.name == "total")
    assert (total.signature, total.returns, total.decorators) == ("(shop, /, *things)", "D", ("cache",))
    assert total.asynchronous


def test_imports_come_from_statements_and_not_from_strings() -> None:
    found = outline(SHOP)
    assert [(one.module, one.names) for one in found.imports] == [
        ("os", ()),
        ("decimal", ("Decimal",)),
        (".stock", ("Shelf", "count")),
    ]
    assert [(one.module, one.names) for one in found.reexports] == [(".stock", ("Shelf",))]


def test_the_head_and_the_foot_of_a_script_are_seen() -> None:
    found = outline(SHOP)
    assert found.shebang
    assert found.main
    assert found.main_calls == ("main",)
    assert found.leading == ("Keep the books of a small shop.",)


def test_a_dictionary_keeps_its_keys_and_sizes() -> None:
    table = next(s for s in outline(SHOP).symbols if s.name == "TABLE")
    assert table.size == 2
    assert table.items == (
        Item(name="a", value="[1, 2]", children=("1", "2"), size=2),
        Item(name="b", value="3"),
    )


def test_all_decides_what_is_public_where_it_is_a_literal() -> None:
    assert public_names(outline(SHOP)) == (
        PublicName(name="Shop", kind=Kind.CLASS, summary="A shop."),
        PublicName(name="total", kind=Kind.FUNCTION, summary="Return the total."),
    )


def test_without_all_names_with_an_underscore_and_imports_are_not_public() -> None:
    found = outline(b"from a import b\ndef _c(): pass\nd = 1\ndef e(): pass\n")
    assert [one.name for one in public_names(found)] == ["e", "d"]


def test_a_computed_all_is_no_literal() -> None:
    found = outline(b"__all__ = list(x)\ndef e(): pass\n")
    assert found.exports is None
    assert [one.name for one in public_names(found)] == ["e"]


def test_overloads_and_redefinitions_are_public_once() -> None:
    source = b"""
@overload
def f(a: int) -> int: ...
@overload
def f(a: str) -> str: ...
def f(a):
    'Return a.'
try:
    def g(): pass
except ImportError:
    def g(): pass
"""
    assert [(one.name, one.summary) for one in public_names(outline(source))] == [("f", "Return a."), ("g", "")]


def test_documented_names_come_first_then_code_then_constants() -> None:
    source = b"X = 1\ndef a(): pass\nclass B:\n  'A thing of note.'\n# The number of something rare.\nY = 2\n"
    assert [one.name for one in public_names(outline(source))] == ["B", "Y", "a", "X"]


@pytest.mark.parametrize(
    ("comment", "summary"),
    [
        ("# Count what is left over.", "Count what is left over."),
        ("# TODO: count what is left over", ""),
        ("# ---- helpers for all of the above ----", ""),
        ("# x = compute(y)", ""),
        ("# Helpers", ""),
        ("# type: ignore everything that is below", ""),
        ("# Sell tea to everybody.\n# pylint: disable=invalid-name", "Sell tea to everybody."),
        ("# noinspection PyPep8Naming\n# Sell tea to everybody.", "Sell tea to everybody."),
    ],
)
def test_a_comment_above_counts_only_where_it_is_about_the_symbol(comment: str, summary: str) -> None:
    assert outline(f"import a\n\n{comment}\ndef f(): pass\n".encode()).symbols[0].summary == summary


def test_a_sentence_that_could_mean_something_to_a_tool_is_not_quoted() -> None:
    for text in ("Strip \\\\r from it.", "See */ there.", "Silence it with noqa: E501.", "Try >>> f()."):
        assert outline(f"def f():\n    '''{text}'''\n".encode()).symbols[0].summary == ""


def test_a_latin_1_file_is_read_by_its_coding_line() -> None:
    source = "# -*- coding: latin-1 -*-\ndef f():\n    'Grüße an alle.'\n".encode("latin-1")
    assert outline(source).symbols[0].summary == "Grüße an alle."


def test_options_of_a_parser_are_kept() -> None:
    source = b"p.add_argument('-v', '--verbose')\nif 1:\n    p.add_argument('path')\n"
    assert outline(source).options == ("--verbose", "path")


def test_tests_are_counted() -> None:
    assert outline(b"class T:\n  def test_a(self): pass\n  def b(self): pass\ndef test_c(): pass\n").tests == 2


HOSTILE = [
    b"",
    b"\x00",
    b"\xff\xfe" + "def f(): pass\n".encode("utf-16-le"),
    bytes(range(256)) * 20,
    b"(" * 100_000,
    b"class A:\n" + b"".join(b" " * n + b"class A:\n" for n in range(1, 400)),
    b"if a:\n" + b"".join(b" " * n + b"if a:\n" for n in range(1, 3000)),
    b"x = " + b"[" * 50_000 + b"]" * 50_000,
    b"a = b = " * 20_000,
    b"# coding: nothing-like-this\n\xe9 = 1\n",
    b"# coding: utf-16\n\xe9 = 1\n",
    b"def f(" + b"a," * 20_000 + b"): pass",
    b"__all__ += 3\n__all__ = []\ndef (:\nimport\nfrom . import\nfrom import x\nclass\n@\n",
    b"\r\r\r'''" * 300,
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_no_bytes_make_it_raise(content: bytes) -> None:
    public_names(outline(content))


def test_damaged_real_files_never_make_it_raise() -> None:
    stdlib = Path(sysconfig.get_path("stdlib"))
    draw = random.Random(7)
    for name in ("enum.py", "typing.py", "asyncio/tasks.py", "cgi.py", "tkinter/ttk.py"):
        content = (stdlib / name).read_bytes() if (stdlib / name).exists() else SHOP
        content = content[:20_000]
        for _ in range(6):
            damaged = bytearray(content)
            for _ in range(30):
                at = draw.randrange(len(damaged))
                damaged[at : at + draw.randrange(4)] = draw.randbytes(draw.randrange(4))
            assert outline(bytes(damaged)) == outline(bytes(damaged))

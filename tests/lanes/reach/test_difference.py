from __future__ import annotations

import sys

import pytest

from lanes.reach.difference import names_changed

MODULE = '''"""What this is about."""

from __future__ import annotations

import json
from os import path as way

ROWS = [("a", 1), ("b", -2)]
LIMIT: int = 3


def one(amount, count=0, *, kind: str = "x") -> int:
    """Say one."""
    return amount + LIMIT


class Plain:
    """A plain class."""

    size = 1

    def grow(self):
        return self.size


def two(amount=LIMIT):
    # a remark
    return one(amount)


@json.loads
def marked():
    return 1


START = one(1)
'''


def changed(*swaps: str) -> frozenset[str] | None:
    after = MODULE
    for old, new in zip(swaps[::2], swaps[1::2], strict=True):
        assert after.count(old) == 1, old
        after = after.replace(old, new)
    return names_changed(MODULE.encode(), after.encode())


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return amount + LIMIT", "return amount", "one"),
        ("amount, count=0", "amount, count=0, more=()", "one"),
        ('"""Say one."""', '"""Say more."""', "one"),
        ('("a", 1)', '("a", 9)', "ROWS"),
        ("LIMIT: int = 3", "LIMIT: int = 4", "LIMIT"),
        ("return self.size", "return 2", "Plain"),
        ("    # a remark\n", "", "two"),
        ("def two(", "def new():\n    return 1\n\n\ndef two(", "new"),
        ("START = one(1)\n", "START = one(1)\n\nEND = {'a': [None]}\n", "END"),
        ("class Plain", "class Other:\n    pass\n\n\nclass Plain", "Other"),
        ("\n\nclass Plain", "\n\n\n\n\nclass Plain", ""),
    ],
)
def test_what_only_binds_a_name_changes_that_name(old: str, new: str, names: str) -> None:
    assert changed(old, new) == frozenset(names.split())


def test_nothing_changes_in_what_is_the_same() -> None:
    assert names_changed(b"not Python(", b"not Python(") == frozenset()


def test_several_names_change_at_a_time() -> None:
    assert changed("return amount + LIMIT", "return 0", "return self.size", "return 0") == frozenset({"one", "Plain"})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""What this is about."""', '"""Something else."""'),
        ("import json\n", "import json\nimport re\n"),
        ("import json\n", ""),
        ("path as way", "sep as way"),
        ("START = one(1)", "START = one(2)"),
        ("START = one(1)\n", ""),
        ("def two(amount=LIMIT):", "def two(amount=one(2)):"),
        ("def two(amount=LIMIT):", "def two(amount=1):"),
        ("def two(amount=LIMIT):", "def other(amount=LIMIT):"),
        ("    return 1\n", "    return 2\n"),
        ("class Plain:", "class Plain(dict):"),
        ("    size = 1\n", "    size = len('a')\n"),
        ("    def grow(self):", "    def grow(self, by=LIMIT):"),
        ("    def grow(self):", "    @json.loads\n    def grow(self):"),
        ("    def grow(self):", "    def __init_subclass__(cls):"),
        ("def two(amount", "def one(amount"),
        ("def two(amount", "async def int(amount"),
        ("ROWS = [(", "hash = 1\nROWS = [("),
        ("ROWS = [(", "ROWS = LIST = [("),
        ("ROWS = [(", "ROWS = sorted([("),
        ("LIMIT: int = 3", "LIMIT: int = input()"),
        ("    return one(amount)\n", "    return one(amount\n"),
        ("    return one(amount)\n", "    nonlocal amount\n"),
        ("import json\n", "import json\nfor number in (1, 2):\n    pass\n"),
        ("LIMIT: int = 3\n", "LIMIT: int = 3\nprint(1)\n"),
        ("from __future__ import annotations\n\nimport json\n", "import json\n\nfrom __future__ import annotations\n"),
        ("\n\nclass Plain", "\r\n\nclass Plain"),
    ],
)
def test_what_does_more_than_to_bind_a_name_is_told_apart(old: str, new: str) -> None:
    if new.startswith("ROWS = sorted("):
        assert changed(old, new, '("b", -2)]', '("b", -2)])') is None
    else:
        assert changed(old, new) is None


def test_names_may_not_change_their_order_among_what_runs() -> None:
    one, run = b"def f():\n    return 1\n", b"X = f()\n"
    assert names_changed(one + run, run + one) is None
    assert names_changed(b"def g(): pass\n" + one, one + b"def g(): pass\n") is None
    assert names_changed(one + run, b"A = 1\n" + one + b"B = 1\n" + run) == frozenset({"A", "B"})


def test_a_text_over_many_lines_that_look_like_statements_is_one_statement() -> None:
    long = b'TEXT = """\nimport os\ndef f(): pass\n"""\n\n\ndef g():\n    return TEXT\n'
    assert names_changed(long, long.replace(b"import os", b"import re")) == frozenset({"TEXT"})
    assert names_changed(long, long.replace(b"return TEXT", b"return 1")) == frozenset({"g"})
    assert names_changed(long + b"if g():\n    pass\n", long + b"if g():\n    pass\nelse:\n    A = 1\n") is None
    assert names_changed(b"f(\n1,\n)\n", b"f(\n2,\n)\n") is None


def test_what_python_does_not_read_is_told_apart() -> None:
    assert names_changed(b"def f(: pass\n", b"def f(): pass\n") is None
    assert names_changed(b"A = '\xff'\n", b"A = 1\n") is None
    assert names_changed(b"A = 1\n" * 2, b"A = 1\n") is None
    assert names_changed(b"A = 1\0\n", b"A = 1\n") is None
    assert names_changed(b"", b"A = 1\n") == frozenset({"A"})


@pytest.mark.parametrize("name", ["setup_module", "teardown_function", "setUpModule", "pytest_generate_tests", "setup"])
def test_what_pytest_looks_for_is_no_name_of_anybody(name: str) -> None:
    assert changed("def two(", f"def {name}():\n    return 1\n\n\ndef two(") is None


def test_what_a_statement_binds_beside_a_definition_is_no_second_one() -> None:
    tries = b"try:\n    import tomllib\nexcept ImportError as error:\n    tomllib = None\n"
    again = b"try:\n    X = [one for one in ()]\nexcept ImportError as error:\n    Y = [one for one in ()]\n"
    assert names_changed(tries + again + b"def f(): pass\n", tries + again + b"def f(): return 1\n") == {"f"}
    assert names_changed(b"X = 1\nX = 2\n", b"X = 1\nX = 3\n") is None
    assert names_changed(b"import X\nX = 2\n", b"import X\nX = 3\n") is None


def test_statements_of_one_line_change_together() -> None:
    assert names_changed(b"a = 1; b = 2\nc = 3\n", b"a = 1; b = 4\nc = 3\n") == {"a", "b"}
    assert names_changed(b"a = 1; print(a)\n", b"a = 2; print(a)\n") is None


def test_a_function_may_keep_what_is_evaluated_with_it() -> None:
    assert changed("    return one(amount)\n", "    return 1\n") == {"two"}


def test_a_mark_of_bytes_and_a_usual_coding_say_nothing() -> None:
    head = b"\xef\xbb\xbf# -*- coding: UTF-8 -*-\n"
    assert names_changed(head + b"A = 1\n", head + b"A = 2\n") == {"A"}
    assert names_changed(b"# coding=utf-8\nA = 1\n", b"A = 2\n") == {"A"}
    for other in (b"# coding: latin-1", b"# vim: set fileencoding=cp1252 :", b"# coding: utf-7", b"\n# coding: gbk"):
        assert names_changed(other + b"\nA = 1\n", other + b"\nA = 2\n") is None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no parameters of classes")
def test_a_class_with_parameters_is_more_than_a_name() -> None:
    assert names_changed(b"class A:\n    a = 1\n", b"class A:\n    a = 2\n") == {"A"}
    assert names_changed(b"class A[T]:\n    a = 1\n", b"class A[T]:\n    a = 2\n") is None
    assert names_changed(b"def one[T](a):\n    return 1\n", b"def one[T](a):\n    return 2\n") == {"one"}

"""What is read of a module piece by piece is what Python reads in the whole, in a time that hangs on its length."""

from __future__ import annotations

import ast
import random
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from lanes.reach.outline import outline_of

MODULES = [Path(ast.__file__).parent / f"{name}.py" for name in ("dis", "glob", "enum", "textwrap", "types", "quopri")]
LINES = [
    *(b"'''", b'"""', b"(", b")", b"else:", b"@a", b"\\", b"    ", b"\t", b"# coding: latin-1", b"global X", b"x = 1;"),
    *(b"from __future__ import annotations", b"import __future__", b"async def f(): pass", b"match x:", b"\xc2\xa0"),
    *(b"    case 1: pass", b"class A: pass; y = 1", b"\xff", b"# \xff", b"\xef\xbb\xbf", b"except* E:", b"return"),
    *(b"X: int = 1", b"if 1: pass", b"x = 1 \\", b"type X = int", b"\x1a", b"await x", b"yield", b"X = '\\d'"),
]


def garbled(chance: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    match chance.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, chance.choice(lines))
        case 2:
            lines[at : at + 2] = [chance.choice([b"", b" ", b";", b"\\"]).join(lines[at : at + 2])]
        case 3:
            lines[at] = b" " * chance.randrange(5) + lines[at].lstrip()
        case 4:
            lines.insert(at, chance.choice(LINES))
        case 5:
            lines[at] = lines[at][: len(lines[at]) // 2]
        case 6:
            lines[at] += chance.choice([b"(", b")", b"'", b"#", b"\\", b":", b";", b"'''"])
    return b"\n".join(lines)


def whole(content: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(content, "whole", "exec", dont_inherit=True)
            return ast.parse(content)
        except (SyntaxError, ValueError):
            return None


def is_the_same(content: bytes) -> bool:
    """Return whether there is an outline; it must be that of the whole."""
    outline = outline_of(content)
    if outline is None:
        return False
    tree = whole(content)
    assert tree is not None
    assert len(tree.body) == len(outline.statements)
    for node, one in zip(tree.body, outline.statements, strict=True):
        assert ast.dump(node) in map(ast.dump, ast.parse(one.text + b"\n\n").body)
        named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        named |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        assert one.prose or named <= one.words
    return True


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_module_is_cut_where_its_statements_end(module: Path) -> None:
    content = module.read_bytes()
    assert whole(content) is not None
    is_the_same(content)
    chance = random.Random(module.stem)
    for _ in range(25):
        now = content[: 4000 + chance.randrange(2000)]
        for _ in range(chance.randrange(1, 3)):
            now = garbled(chance, now)
        is_the_same(now)


def test_most_of_what_is_cut_is_told() -> None:
    assert sum(is_the_same(module.read_bytes()) for module in MODULES) >= 4


DEEP = {
    "a sum": "Y = " + "+".join("1" * 989),
    "signs": "Y = " + "-" * 20000 + "1",
    "calls": "def f(a): return a" + "()" * 989,
    "names of names": "Y = a" + ".b" * 989,
    "a default": "def f(a=a" + "()" * 600 + "): pass",
    "functions": "Y = " + "lambda: " * 5000 + "1",
    "branches": "if a: pass\n" + "".join(f"elif a == {number}: pass\n" for number in range(989)),
    "brackets": "Y = " + "[" * 1000 + "]" * 1000,
}


@pytest.mark.parametrize("deep", DEEP)
def test_what_is_nested_too_deep_is_not_read_and_breaks_nothing(deep: str) -> None:
    outline_of(DEEP[deep].encode() + b"\n")


LONG = {
    "rows at the start of a line": b"X = [\n" + (b"(" + b"1," * 2000 + b"),\n") * 63 + b"]\n",
    "decorators": (b"@a(" + b"1," * 2000 + b")\n") * 64 + b"def f(): pass\n",
    "statements on a line": (b";".join(b"a = 1" for _ in range(500)) + b"\n") * 80,
    "marks": "X = '{}'\n".format("a" + "\u0301\u0323" * 70_000).encode(),
    "long sums": (b"x = " + b"+".join([b"a"] * 900) + b"\n") * 160,
    "one text": b"X = '''\n" + b"x\n" * 140_000 + b"'''\n",
    "one function": b"def f(a):\n" + b"    a.b.c(1, d, 'x')\n" * 14_000,
}


@pytest.mark.parametrize("kind", LONG)
def test_a_long_module_is_read_in_no_more_than_a_moment(kind: str) -> None:
    begun = time.thread_time()
    outline_of(LONG[kind])
    outline_of(LONG[kind][:90_000])
    assert time.thread_time() - begun < 3


def test_threads_that_read_modules_leave_the_filters_for_warnings_as_they_are() -> None:
    before = list(warnings.filters)
    every_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def read(number: int) -> None:
        for turn in range(200):
            outline_of(f"def f{number}_{turn}(): return '\\d'\n".encode())

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(every_s)
    assert list(warnings.filters) == before

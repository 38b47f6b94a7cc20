"""The process that runs tests: modules in pieces, imports out of a tree, and tests that do what they must not."""

from __future__ import annotations

import json
import random
import sys
from types import CodeType

import pytest

from results.scoring.worker import Compiler, InTree, run


def compiled(source: str) -> list[CodeType]:
    code = Compiler().compile(source.encode(), "made.py")
    assert isinstance(code, list)
    return code


def names_of(code: list[CodeType]) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "made"}
    run(code, names)
    return names


SOURCES = [
    "",
    "x = 1\n",
    '"""Doc."""\nfrom __future__ import annotations\n\n\ndef f(a: Missing) -> None:\n    return a\n\n\n'
    "class C:\n    y: Missing = 2\n",
    "import functools\n\n\n@functools.cache\n@functools.cache\ndef f():\n    return 3\n\n\n"
    "class D:\n    def g(self):\n        return f()\n",
    'TEXT = """\ndef not_one():\n@neither\n"""\n\n\ndef f():\n    return TEXT\n',
    "TABLE = [\n1,\n]\nif TABLE:\n    a = 1\nelse:\n    a = 2\n\n\ndef f():\n    global a\n    a += 1\n    return a\n",
    "try:\n    import nothing_like_it\nexcept ImportError:\n    x = 5\n\n\nasync def f():\n    return x\n",
    "x: int = 4\n\n\ndef f():\n    pass\n\n\ny: str = ''\n",
    "def f():\r\n    return 1\r\n\r\n\r\ndef g():\r\n    return 2\r\n",
]


@pytest.mark.parametrize("source", SOURCES)
def test_a_module_in_pieces_is_the_module(source: str) -> None:
    whole: dict[str, object] = {"__name__": "made"}
    exec(compile(source, "made.py", "exec", dont_inherit=True), whole)
    pieces = names_of(compiled(source))
    assert pieces.keys() == whole.keys()
    plain = (int, str, list, dict)
    assert {name: value for name, value in pieces.items() if isinstance(value, plain)} == {
        name: value for name, value in whole.items() if isinstance(value, plain)
    } | {"__builtins__": pieces["__builtins__"]}


def test_two_versions_of_a_module_share_the_pieces_that_are_alike() -> None:
    compiler = Compiler()
    source = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(20))
    first = compiler.compile(source.encode(), "made.py")
    second = compiler.compile(source.replace("return 7\n", "return 70\n").encode(), "made.py")
    same = [one is other for one, other in zip(first, second, strict=True)]
    assert len(same) == 21
    assert same.count(False) == 1


@pytest.mark.parametrize(
    "source", ["def f(:\n", "def f():\nreturn 1\n", "x = (\n\n\ndef f():\n    pass\n", "x = '''\ndef f():\n", "\0"]
)
def test_a_module_that_does_not_compile_says_why(source: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        compile(source, "made.py", "exec", dont_inherit=True)
    why = Compiler().compile(source.encode(), "made.py")
    assert isinstance(why, str)
    assert "Error: " in why


def test_what_holds_for_all_of_a_module_may_not_stand_behind_its_first_piece() -> None:
    why = Compiler().compile(
        b"def f():\n    pass\n\n\ndef g():\n    pass\n\n\nfrom __future__ import annotations\n", "made.py"
    )
    assert isinstance(why, str)
    assert "from __future__ imports must occur at the beginning" in why


def test_an_encoding_that_is_declared_is_kept() -> None:
    source = "# coding: latin-1\nX = 'é'\n\n\ndef f():\n    return 'ü'\n".encode("latin-1")
    code = Compiler().compile(source, "made.py")
    assert isinstance(code, list)
    names = names_of(code)
    assert names["X"] == "é"
    assert names["f"]() == "ü"  # type: ignore[operator]


def test_random_modules_in_pieces_behave_like_the_modules() -> None:
    draw = random.Random(7)
    parts = [
        "X{n} = {n}\n",
        "def f{n}(a={n}):\n    return a + {n}\n",
        "@deco\ndef g{n}():\n    return {n}\n",
        "class C{n}:\n    def m(self):\n        return {n}\n",
        "T{n} = '''\ndef no{n}():\n'''\n",
        "if X:\n    Y{n} = {n}\n",
        "L{n} = [\n{n},\n]\n",
        "# class of its own\n",
        "T{n} = (\n    '@', '''\nclass not_{n}:\n''',\n)\n",
    ]
    for _ in range(200):
        body = "".join(draw.choice(parts).replace("{n}", str(number)) for number in range(draw.randrange(12)))
        source = "X = 1\n\n\ndef deco(f):\n    return f()\n\n\n" + body
        whole: dict[str, object] = {"__name__": "made"}
        exec(compile(source, "made.py", "exec", dont_inherit=True), whole)
        pieces = names_of(compiled(source))
        assert list(pieces)[2:] == list(whole)[2:]
        assert {k: v for k, v in pieces.items() if isinstance(v, int | str | list | tuple)} == {
            k: v for k, v in whole.items() if isinstance(v, int | str | list | tuple)
        }


def test_modules_packages_and_folders_without_one_are_found_in_the_tree_and_nowhere_else() -> None:
    tree = {b"shop_of_ours/a.py": "1", b"shop_of_ours/deep/__init__.py": "2", b"lone_module.py": "3"}
    finder = InTree(tree, {})
    found = {
        name: finder.find_spec(name, None)
        for name in ("shop_of_ours", "shop_of_ours.a", "shop_of_ours.deep", "lone_module")
    }
    assert {name: spec is not None and spec.submodule_search_locations is not None for name, spec in found.items()} == {
        "shop_of_ours": True,
        "shop_of_ours.a": False,
        "shop_of_ours.deep": True,
        "lone_module": False,
    }
    assert finder.find_spec("json", None) is None
    assert finder.find_spec("shop_of_ours.b", None) is None


def test_the_worker_needs_nothing_of_ours() -> None:
    import results.scoring.worker as worker

    assert worker.__file__ is not None
    with open(worker.__file__) as file:
        text = file.read()
    imported = {
        line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names
    assert json.loads(json.dumps(sorted(imported)))

"""Definitions are found piece by piece as they are in the whole, and what compiles by pieces compiles."""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import ModuleType

import pytest

from fleet.jobs.tasks import definitions, operations
from fleet.jobs.tasks.definitions import NoPython, fault_of, outline_of, pieces_of

TRAPS = {
    "a text with blank lines": 'A = """one\n\ndef no():\n    pass\n\nend"""\n\nB = 2\n',
    "a decorator apart from its function": "@len\n\ndef f():\n    return 1\n",
    "an else apart from its if": "if A:\n    B = 1\n\nelse:\n    C = 1\n",
    "a call over blank lines": "A = dict(\n\n    x=1,\n\n)\n\nB = 1\n",
    "an import that is not first": "A = 1\n\nfrom __future__ import annotations\n",
    "two statements on a line": "A = 1; B = 2\n\nC = 3\n",
    "comments above": "# one\n\n# two\n# three\ndef f():\n    return 1\n",
    "no newline at the end": "A = 1\n\nB = 2",
    "nothing": "",
}


def whole(source: str) -> list[tuple[str, int]]:
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append((node.name, node.end_lineno or 0))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.append((node.targets[0].id, node.end_lineno or 0))
    return found


@pytest.mark.parametrize("source", TRAPS.values(), ids=TRAPS)
def test_pieces_define_what_the_whole_defines(source: str) -> None:
    assert "".join(pieces_of(source)) == source
    outline = outline_of(source)
    named = [(one.name, one.end) for one in outline.definitions if one.name]
    expected = [one for one in whole(source) if one != ("B", 1)]
    assert named == expected
    assert "".join(outline.lines) == source


@pytest.mark.parametrize("module", [definitions, operations, textwrap, inspect, ast])
def test_real_modules_are_outlined_as_a_whole_parse_has_them(module: ModuleType) -> None:
    source = inspect.getsource(module)
    named = [(one.name, one.end) for one in outline_of(source).definitions if one.name and one.kind != "constant"]
    kinds = ast.FunctionDef | ast.ClassDef
    assert named == [(n.name, n.end_lineno) for n in ast.parse(source).body if isinstance(n, kinds)]
    assert fault_of(source) == ""


@pytest.mark.parametrize(
    "source",
    [
        "def f(:\n",
        "A = 1\n\nreturn 3\n",
        "A = 1\n\nfrom __future__ import annotations\n",
        "A = 1\n\nB = (\n",
        "A = 1\n\nglobal A\n",
    ],
)
def test_what_does_not_compile_as_a_whole_does_not_by_pieces(source: str) -> None:
    with pytest.raises(SyntaxError):
        compile(source, "m", "exec")
    assert fault_of(source)


def test_a_source_that_does_not_parse_has_no_outline_and_says_where() -> None:
    with pytest.raises(NoPython, match="line 3"):
        outline_of("A = 1\n\nB = (\n")


def test_comments_and_decorators_belong_to_a_definition() -> None:
    outline = outline_of("A = 1\n# about f\n@staticmethod\ndef f():\n    return 1\n")
    found = outline.find("f")
    assert found is not None
    assert outline.text(found).startswith("# about f\n@staticmethod\n")

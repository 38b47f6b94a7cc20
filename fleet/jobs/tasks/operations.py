"""What recipes do: each operation edits the definitions that it is shown, by their structure, and keeps their form.

An operation is a function ``(sources, recipe, words) -> sections``: sources by path, the recipe, its words for this
answer. A place is found in what is shown, so the same recipe does its work on newer code too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from fleet.jobs.tasks.answers import Section
from fleet.jobs.tasks.definitions import Definition, Outline, outline_of, split_lines
from fleet.jobs.tasks.task import Recipe
from qodebase.paths import RepoPath

Sources = Mapping[RepoPath, str]
Words = Mapping[str, str]


class Gone(Exception):
    """What a recipe is about is not in the source that is shown; the message names it."""


def perform(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    """Do a recipe.

    Raises:
        Gone: the target is not there.
    """
    return _OPERATIONS[recipe.operation](sources, recipe, words)


def break_function(source: str, name: str, section: Section) -> None:
    """Put a function into a section whose last result is not what it was.

    Raises:
        Gone: it is not there.
    """
    outline, found = _find(source, (name,))
    function = _Function(outline.text(found))
    value = _last_return(function).value
    assert value is not None
    function.put(value.end_lineno, value.end_col_offset, ' + "."' if isinstance(value, ast.JoinedStr) else " + 1")
    section.code = f"{function.text()}\n\n{section.code}"


def _find(source: str, names: tuple[str, ...]) -> tuple[Outline, Definition]:
    outline = outline_of(source)
    for name in names:
        if found := outline.find(name):
            return outline, found
    raise Gone(f"{names[0]} is gone")


class _Function:
    """One function's text with its tree, and edits to be laid on it."""

    def __init__(self, text: str) -> None:
        self._lines = split_lines(text)
        node = ast.parse(text).body[0]
        if not isinstance(node, ast.FunctionDef):
            raise Gone("the target is no function any more")
        self.node = node
        self._edits: list[tuple[int, int, int, int, str]] = []

    @property
    def body(self) -> list[ast.stmt]:
        """Return the statements below the docstring."""
        documented = ast.get_docstring(self.node, clean=False) is not None
        return self.node.body[1:] if documented else self.node.body

    def above(self, statement: ast.stmt, text: str) -> None:
        """Put lines above a statement, indented as the body is."""
        lines = "".join(f"    {line}\n" for line in text.splitlines())
        self._edits.append((statement.lineno, 0, statement.lineno, 0, lines))

    def put(self, line: int | None, column: int | None, text: str) -> None:
        """Put a text at a place."""
        assert line is not None
        assert column is not None
        self._edits.append((line, column, line, column, text))

    def replace(self, node: ast.expr, text: str) -> None:
        """Replace an expression."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        self._edits.append((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, text))

    def text(self) -> str:
        """Return the text with all edits; columns count bytes, as `ast` has them."""
        lines = [line.encode() for line in self._lines]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        whole = b"".join(lines)
        for first, column, last, end, text in sorted(self._edits, reverse=True):
            whole = whole[: starts[first - 1] + column] + text.encode() + whole[starts[last - 1] + end :]
        return whole.decode()


def _function(sources: Sources, recipe: Recipe) -> _Function:
    outline, found = _find(sources[recipe.path], recipe.names)
    return _Function(outline.text(found))


def _changed(recipe: Recipe, function: _Function) -> dict[RepoPath, Section]:
    return {recipe.path: Section(code=function.text())}


def _last_return(function: _Function) -> ast.Return:
    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        raise Gone(f"{function.node.name} ends with no result any more")
    return last


def _is_clause(statement: ast.stmt, key: str = "") -> bool:
    """Return whether a statement is ``if subject == "text":``, with this text where one is given."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    other = statement.test.comparators[0]
    is_text = isinstance(other, ast.Constant) and isinstance(other.value, str)
    return is_text and (not key or other.value == key)  # type: ignore[attr-defined]


def _guard(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    function = _function(sources, recipe)
    first = next(one for one in function.body if not isinstance(one, ast.If) or _is_clause(one))
    function.above(first, words["lines"])
    return _changed(recipe, function)


def _clause(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    function = _function(sources, recipe)
    clauses = [number for number, one in enumerate(function.body) if _is_clause(one)]
    if not clauses:
        raise Gone(f"{function.node.name} has no clauses any more")
    function.above(function.body[clauses[-1] + 1], words["lines"])
    return _changed(recipe, function)


def _result(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    function = _function(sources, recipe)
    for statement in ast.walk(function.node):
        if isinstance(statement, ast.If) and _is_clause(statement, words["key"]):
            last = statement.body[-1]
            if isinstance(last, ast.Return) and last.value is not None:
                function.replace(last.value, words["result"])
                return _changed(recipe, function)
    raise Gone(f"{function.node.name} has no clause for {words['key']} any more")


def _tail(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    function = _function(sources, recipe)
    value = _last_return(function).value
    assert value is not None
    function.put(value.end_lineno, value.end_col_offset, words["tail"])
    return _changed(recipe, function)


def _parameter(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    function = _function(sources, recipe)
    arguments = function.node.args
    behind: ast.arg | ast.expr = arguments.defaults[-1] if arguments.defaults else arguments.args[-1]
    function.put(behind.end_lineno, behind.end_col_offset, f", {words['name']}=0")
    ending = _last_return(function)
    names = [node for node in ast.walk(ending) if isinstance(node, ast.Name)]
    total = min(names, key=lambda node: (node.lineno, node.col_offset)).id
    function.above(function.body[-2], f"{total} += {words['added']}")
    return _changed(recipe, function)


def _loop(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    function = _function(sources, recipe)
    for statement in function.body:
        if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Call) and len(statement.iter.args) == 2:
            function.replace(statement.iter.args[1], words["stop"])
            return _changed(recipe, function)
    raise Gone(f"{function.node.name} has no loop any more")


def _local(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    function = _function(sources, recipe)
    uses = [node for node in ast.walk(function.node) if isinstance(node, ast.Name) and node.id == words["old"]]
    if not uses:
        raise Gone(f"{function.node.name} has no local {words['old']} any more")
    for node in uses:
        function.replace(node, words["new"])
    if kept := words.get("kept"):
        function.above(function.body[-1], f"{kept} = 0")
    return _changed(recipe, function)


def _rows(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    """Add rows: to a list in its order, to a dictionary at its end."""
    outline, found = _find(sources[recipe.path], recipe.names)
    lines = split_lines(outline.text(found))
    added = words["rows"].splitlines()
    if lines[0].rstrip().endswith("["):
        rows = sorted([*lines[1:-1], *(f"{row}\n" for row in added)], key=lambda row: row.strip())
        lines = [lines[0], *rows, lines[-1]]
    else:
        lines[-1:] = [*(f"{row}\n" for row in added), lines[-1]]
    return {recipe.path: Section(code="".join(lines))}


def _after(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    """Put a new function behind another one; it may call the one of several names that is there."""
    outline, found = _find(sources[recipe.path], recipe.names)
    new = words["function"]
    if "calls" in words:
        called = next((name for name in words["calls"].split() if outline.find(name)), None)
        if called is None:
            raise Gone(f"{words['calls'].split()[0]} is gone")
        new = new.replace("{called}", called)
    return {recipe.path: Section(code=f"{outline.text(found)}\n\n{new}")}


def _rename(sources: Sources, recipe: Recipe, words: Words) -> dict[RepoPath, Section]:
    """Rename a function and its uses in all sources; elsewhere it is an attribute of its module."""
    old, new = recipe.names[0], words["new"]
    module = recipe.path.rpartition(b"/")[2].removesuffix(b".py").decode()
    _find(sources[recipe.path], (old,))
    sections = {}
    for path, source in sources.items():
        own = path == recipe.path
        use = re.compile(rf"(?<![\w.]){old}\b" if own else rf"(?<![\w.]){module}\.{old}\b")
        outline = outline_of(source)
        texts = [outline.text(one) for one in outline.definitions if one.name]
        changed = [use.sub(new if own else f"{module}.{new}", text) for text in texts if use.search(text)]
        if changed:
            sections[path] = Section(code="\n\n".join(changed), renames={old: new} if own else {})
    if alias := words.get("alias"):
        sections[recipe.path].code += f"\n\n{alias}\n"
    return sections


_OPERATIONS: Mapping[str, Callable[[Sources, Recipe, Words], dict[RepoPath, Section]]] = {
    "guard": _guard,
    "clause": _clause,
    "result": _result,
    "tail": _tail,
    "parameter": _parameter,
    "loop": _loop,
    "local": _local,
    "rows": _rows,
    "after": _after,
    "rename": _rename,
}

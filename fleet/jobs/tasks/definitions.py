"""The top-level definitions of a Python source, as ranges of its lines, and whether it compiles.

A source is cut before lines in the first column that follow a blank one. A piece that parses by itself is made of whole
statements, so where all pieces do, they say together what the whole says. Pieces are remembered: of a module of which
one function is new only that function is parsed. Where a piece does not parse (a blank line in a text, say), the whole
source is.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

IMPORT = "import"

_CUT = re.compile(r"\n\n(?=[^\s)\]}])")
_WHOLE = re.compile(r"^(?:from\s+__future__|global\b)", re.MULTILINE)
"""Statements that say something about the whole module, whatever piece they stand in."""


class NoPython(ValueError):
    """A text that does not parse, or not compile."""


class Definition(NamedTuple):
    """A function, class or constant, or an import (its name is then empty).

    ``start`` and ``end`` count lines from 0, ``end`` not among them; decorators, and comments right above, belong to
    it.
    """

    name: str
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A source's lines with their ends, what is defined in it, and lines (from 0) of other statements."""

    lines: tuple[str, ...]
    definitions: tuple[Definition, ...]
    others: tuple[int, ...]

    def find(self, name: str) -> Definition | None:
        """Return the last definition of a name, which is the one that counts."""
        return next((one for one in reversed(self.definitions) if one.name == name), None)

    def text(self, definition: Definition) -> str:
        """Return a definition's own text."""
        return "".join(self.lines[definition.start : definition.end])


@lru_cache(maxsize=256)
def outline_of(source: str) -> Outline:
    """Return what a source defines.

    Raises:
        NoPython: it does not parse; the message says where.
    """
    pieces = pieces_of(source)
    read = [_read(piece) for piece in pieces]
    if any(isinstance(one, str) for one in read):
        pieces, read = [source], [_read(source)]
    lines: list[str] = []
    definitions: list[Definition] = []
    others: list[int] = []
    for piece, found in zip(pieces, read, strict=True):
        if isinstance(found, str):
            raise NoPython(found)
        at = len(lines)
        definitions += [Definition(one.name, one.start + at, one.end + at, one.kind) for one in found.definitions]
        others += [line + at for line in found.others]
        lines += split_lines(piece)
    return Outline(lines=tuple(lines), definitions=tuple(definitions), others=tuple(others))


def fault_of(source: str) -> str:
    """Return why a source does not compile, or the empty text."""
    pieces = pieces_of(source)
    head = next((number for number, piece in enumerate(pieces) if not _is_head(piece)), len(pieces))
    apart = _WHOLE.search(source, sum(len(piece) for piece in pieces[:head])) is None
    if apart and not any(_compiled(piece) for piece in pieces):
        return ""
    return _compiled(source)


def split_lines(text: str) -> list[str]:
    r"""Return lines with their ends, cut at line feeds alone.

    >>> split_lines("a\r\nb")
    ['a\r\n', 'b']
    """
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def pieces_of(source: str) -> list[str]:
    """Return the pieces that a source is cut into; see above."""
    cuts = [0, *(found.end() for found in _CUT.finditer(source)), len(source)]
    return [source[start:end] for start, end in pairwise(cuts)]


def _is_head(piece: str) -> bool:
    """Return whether a piece may stand before an import from the future, or is one."""
    return piece.lstrip("rR").startswith(('"', "'", "#", "from __future__")) or not piece.strip()


class _Read(NamedTuple):
    """What one piece defines; lines count from its own first."""

    definitions: tuple[Definition, ...]
    others: tuple[int, ...]


@lru_cache(maxsize=1 << 15)
def _read(text: str) -> _Read | str:
    """Return what a text defines, or why it does not parse."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError) as error:
        return _told(error)
    lines = split_lines(text)
    found = []
    others = []
    before = 0
    for statement in body:
        kind, name = _what(statement)
        end = statement.end_lineno or statement.lineno
        if not kind:
            others.append(statement.lineno - 1)
        elif statement.lineno > before:
            first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))]) - 1
            while first > before and lines[first - 1].startswith("#"):
                first -= 1
            found.append(Definition(name, first, end, kind))
        before = end
    return _Read(tuple(found), tuple(others))


@lru_cache(maxsize=1 << 15)
def _compiled(text: str) -> str:
    """Return why a text does not compile, or the empty text."""
    try:
        compile(text, "module", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        return _told(error)
    return ""


def _told(error: Exception) -> str:
    line = getattr(error, "lineno", None)
    return f"{getattr(error, 'msg', error)}{f' in line {line}' if line else ''}"


def _what(statement: ast.stmt) -> tuple[str, str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return "function", name
        case ast.ClassDef(name=name):
            return "class", name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return "constant", name
        case ast.Import() | ast.ImportFrom():
            return IMPORT, ""
    return "", ""

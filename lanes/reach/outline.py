"""A Python module as its top-level statements: which of them only bind a name, and which words each of them holds."""

from __future__ import annotations
import __future__

import ast
import re
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile

from lanes.reach.statement import Statement, statements_of
from replay_rules.kept import kept

_MOST_BYTES = 100_000
_MOST_JOINED = 64
_MOST_IN_VAIN = 100_000
_KEPT_BYTES = 8 << 20
_START = re.compile(rb"^(?=[^\s#)\]}])(?!(?:else|elif|except|finally)\b)", re.MULTILINE)
_MARK = b"\xef\xbb\xbf"
_CODING = re.compile(rb"[ \t]*#.*coding[:=](?![ \t]*utf-?8(?![-\w.]))", re.IGNORECASE)
# Long rows of marks take Python far longer than their length.
_LONG_FOREIGN = re.compile(rb"[\x80-\xff]{2048}")
_DEFINES = re.compile(rb"\b(?:class|def)\b")
_PIECE = "<piece of a module>"
_WARNING = threading.Lock()


@dataclass(frozen=True)
class Outline:
    """The statements of a module, in their order."""

    statements: tuple[Statement, ...]

    @cached_property
    def doc(self) -> bytes:
        """Return the text that the module has about itself, if it may have one."""
        return self.statements[0].text if self.statements and self.statements[0].prose else b""

    @cached_property
    def bound(self) -> frozenset[str]:
        """Return all names that the statements may bind."""
        return frozenset[str]().union(*(one.binds for one in self.statements))

    @cached_property
    def by_name(self) -> dict[str, Statement]:
        """Return the statements that matter only to those who mention a name: by each name that they bind."""
        return {name: one for one in self.statements if one.name or one.imported for name in one.binds}

    @cached_property
    def always(self) -> tuple[Statement, ...]:
        """Return the statements that matter to everybody who imports the module, and what of others is evaluated."""
        more = (one for one in self.statements if not one.name and not one.imported)
        return (*more, *(one.early for one in self.statements if one.early is not None))


@kept(_KEPT_BYTES)
def outline_of(content: bytes) -> Outline | None:
    """Return the outline of a module; None where Python does not read it, or where names are bound more than once."""
    if not _is_readable(content):
        return None
    statements: list[Statement] = []
    for piece in _pieces(content):
        if piece is None:
            return None
        statements += piece
    bound = [name for one in statements if one.name or one.imported for name in one.binds]
    if len(bound) != len(set(bound)) or any(one.shadows for one in statements):
        return None
    return Outline(tuple(statements)) if _may_have_futures(statements) else None


def _is_readable(content: bytes) -> bool:
    """Return whether a module is UTF-8 of a usual form, so that a part of it is read as it is read in the whole."""
    if len(content) > _MOST_BYTES or b"\r" in content or b"\0" in content or b"\f" in content:
        return False
    if any(map(_CODING.match, content.removeprefix(_MARK).split(b"\n", 2)[:2])):
        return False
    return content.isascii() or _is_readable_text(content)


def _is_readable_text(content: bytes) -> bool:
    if content.find(_MARK, 1) >= 0 or _LONG_FOREIGN.search(content):
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _may_have_futures(statements: list[Statement]) -> bool:
    """Return whether imports from the future stand before all others, which a piece does not tell."""
    first = 1 if statements and statements[0].prose else 0
    return not any(one.future for one in dropwhile(lambda one: one.future, statements[first:]))


def _pieces(content: bytes) -> Iterator[tuple[Statement, ...] | None]:
    """Yield the statements of one piece after the other; None at the end where the last does not parse.

    A piece begins where a line can begin a statement, and is as short as Python takes it for whole: an open bracket, an
    open text, a decorator or a body that is to come ends none.
    """
    starts = [0, *(found.start() for found in _START.finditer(content) if found.start()), len(content)]
    first = 0
    in_vain = 0
    while first < len(starts) - 1:
        piece = None
        last = first
        while piece is None and last < min(first + _MOST_JOINED, len(starts) - 1) and in_vain < _MOST_IN_VAIN:
            last += 1
            if last < len(starts) - 1 and content.startswith(b"@", starts[last - 1]):
                continue
            text = content[starts[first] : starts[last]]
            piece = _read(text)
            in_vain += len(text) if piece is None else 0
        yield piece
        first = last


@kept(_KEPT_BYTES)
def _read(piece: bytes) -> tuple[Statement, ...] | None:
    """Return the statements of a piece of a module; None where Python does not take it, or not without a warning.

    A warning is an error where somebody says so; then the module cannot be imported.
    """
    try:
        # The filters of warnings are those of all threads.
        with _WARNING, warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tree = ast.parse(piece, _PIECE)
            # Some annotations it takes only where they are kept as texts; others, if they lie within, only elsewhere.
            compile(tree, _PIECE, "exec", __future__.annotations.compiler_flag, dont_inherit=True)
            if len(_DEFINES.findall(piece)) > 1:
                compile(tree, _PIECE, "exec", dont_inherit=True)
        if any(one.filename == _PIECE for one in told):
            return None
        return statements_of(tree, piece.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

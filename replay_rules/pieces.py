"""A Python file as pieces that are read one by one: what is found in a piece is kept with its text.

Versions of a file differ in a few functions. So a file is cut before the functions and classes at its top that stand
behind a blank line, and a question about the tree is asked only of pieces that were not there before.

What is found is the same as in the whole. Text is read from left to right, so up to a cut the whole reads as the piece
does. If that piece has no error then no string, bracket or statement goes on behind the cut: it would lack its end
within the piece. What follows are blank lines and a token at the margin that begins a statement; the end of a file ends
a block in the same way. And no comment belongs to what stands below a blank line. Where one piece has an error, the
file is read as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar, cast

from replay_rules.kept import kept
from replay_rules.parsing import Parsed, parsed_once

R = TypeVar("R")

_KEPT_BYTES = 4 << 20
_CUTS: Mapping[str, re.Pattern[bytes]] = {
    "python": re.compile(rb"\n\n(?=(?:#[^\n]*\n)*(?:@|def |class |async def ))"),
}


class Piece:
    """A part of a file that is a file itself, and what was found in it."""

    __slots__ = ("_found", "_language", "has_error", "text")

    def __init__(self, language: str, text: bytes) -> None:
        self.text = text
        self.has_error = parsed_once(language, text).has_error
        self._language = language
        self._found: dict[object, object] = {}

    def ask(self, question: Callable[[Parsed], R]) -> R:
        """Return what a pure function finds in the tree of the piece."""
        if question not in self._found:
            self._found[question] = question(parsed_once(self._language, self.text))
        return cast("R", self._found[question])


def asked(language: str, content: bytes, question: Callable[[Parsed], R]) -> Iterator[tuple[int, R]]:
    """Yield what a question finds in each piece of a content, with where the piece begins.

    Args:
        language: see `replay_rules.parsing.parse`.
        content: any bytes.
        question: a pure function that lives as long as the program. It must find the same in pieces as in the whole:
            what it finds at a node may depend on what stands in it and around it, and on comments directly above.

    Raises:
        NoGrammar: no installed wheel carries the grammar.
    """
    at = 0
    for piece in _pieces(language, content):
        yield at, piece.ask(question)
        at += len(piece.text)


@kept(_KEPT_BYTES)
def _pieces(language: str, content: bytes) -> tuple[Piece, ...]:
    found: list[Piece] = []
    cuts = [cut.end() for cut in _CUTS[language].finditer(content)] if language in _CUTS else []
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        piece = _piece(language, content[start:end])
        if piece.has_error:
            break
        found.append(piece)
    else:
        return tuple(found)
    return (_piece(language, content),)


@kept(_KEPT_BYTES)
def _piece(language: str, text: bytes) -> Piece:
    return Piece(language, text)

"""The comments at the top of a file: what each is, and which of them a header must follow.

Words used here: an item is one block comment, or a run of line comments without a blank line between them. It is
attached if no blank line stands between it and the code below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a leading comment is there for."""

    SHEBANG = "shebang"
    CODING = "coding line"
    DIRECTIVE = "directive"
    NEXT = "next-line directive"
    LICENCE = "licence"
    HEADER = "header documentation"
    SYMBOL = "documentation of the first symbol"
    CODE = "commented-out code"
    PROSE = "prose"
    OTHER = "comment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One leading comment: bytes ``start`` to ``end``, where ``end`` is behind the newline of its last line.

    ``blanks`` counts the blank lines that follow. ``closes_line`` is False where code stands on its last line;
    ``end`` is then the end of the comment itself.
    """

    start: int
    end: int
    role: Role
    blanks: int
    block: bool = False
    closes_line: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place between leading comments: the offset, what stands before it, and the blank lines that follow."""

    offset: int
    after: str
    blanks: int
    breaks_line: bool = False
    follows_comment: bool = False


MUST_PRECEDE = frozenset({Role.SHEBANG, Role.CODING, Role.DIRECTIVE, Role.LICENCE})


def spot_among(items: Sequence[Item], start: int, blanks: int) -> Spot:
    """Return the place behind the leading comments ``items``; ``start`` and ``blanks`` describe the empty place.

    Everything that must come first stays first; so does every comment that a blank line separates from what follows.
    Comments attached to the code belong to it, unless they must precede the header: licences and file-wide
    directives are often written directly above the code.
    """
    last = len(items)
    while last and not _precedes(items[last - 1]):
        last -= 1
    if not last:
        return Spot(offset=start, after="the start of the file", blanks=blanks)
    item = items[last - 1]
    return Spot(
        offset=item.end,
        after=item.role.value,
        blanks=item.blanks,
        breaks_line=not item.closes_line,
        follows_comment=item.role not in (Role.SHEBANG, Role.CODING),
    )


def _precedes(item: Item) -> bool:
    return item.role in MUST_PRECEDE or (item.blanks > 0 and item.role is not Role.NEXT)


_LICENCE = re.compile(
    rb"copyright|\(c\)\s*(?:19|20)\d\d|\xc2\xa9|licen[cs]e|spdx-|@preserve|all rights reserved|"
    rb"free software|public domain|without any warranty|permission is hereby granted|redistribut|"
    rb"the software is provided|as is|you should have received a copy|contributors? may be used",
    re.IGNORECASE,
)
_METADATA = re.compile(
    rb"\$\w+[:$]|created by .{1,60} on \d|^\W*(?:authors?|maintainers?|contact|date|version|file(?:name)?)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(
    rb"[;{}]\s*$|^\s*(?:import|from|var|let|const|function|class|def|return|if|for|export|require)\b.*[=(:;'\"{]|"
    rb"^[\w.$\[\]]+\s*(?:=(?!=)|\+=)\s*\S|^[\w.$]+\(.*\)\s*;?\s*$|=>|^@\w+\s*(?:\(|$)",
)
_WORD = re.compile(rb"[A-Za-z\x80-\xff]{2,}")
PROSE_WORDS = 5


def is_licence(text: bytes) -> bool:
    """Return whether a comment is a licence, a copyright notice or a part of one."""
    return _LICENCE.search(text) is not None


def plain_role(lines: Sequence[bytes]) -> Role:
    """Return the role of a comment without directives from its lines, comment marks taken off."""
    text = b"\n".join(lines)
    if is_licence(text):
        return Role.LICENCE
    if _METADATA.search(text):
        return Role.OTHER
    filled = [line for line in lines if line.strip()]
    if filled and 2 * sum(1 for line in filled if _CODE.search(line.strip())) > len(filled):
        return Role.CODE
    return Role.PROSE if len(_WORD.findall(text)) >= PROSE_WORDS else Role.OTHER

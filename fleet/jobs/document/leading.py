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
    rb"copyright\s*(?:\(c\)|\xc2\xa9|\xa9|\d|by\b|:|\w+ \d{4}|holders?\b|\(?owner|notice)|\(c\)\s*(?:19|20)\d\d|"
    rb"\xc2\xa9|spdx-|@licen[cs]e\b|@preserve|all rights reserved|licen[cs]ed (?:under|to|materials)|"
    rb"(?:mit|bsd|isc|apache|gpl\w*|mozilla|public|eclipse|w3c|psf)[-\s]+licen[cs]e|licen[cs]es?/|"
    rb"licen[cs]e\s*(?::|file\b|agreement|information|for (?:the|more)|terms)|(?:see|under)\s+(?:the\s+)?licen[cs]e|"
    rb"licen[cs]e (?:is|as published)|(?:distributed|released|available) under|under the (?:same|terms)|"
    rb"is free software|public domain|without any warranty|permission (?:is hereby granted|to use)|"
    rb"redistributions? (?:and use|of source|in binary)|the software is provided|you should have received a copy",
    re.IGNORECASE,
)
_METADATA = re.compile(
    rb"\$\w+[:$]|created by .{1,60} on \d|^\W*(?:authors?|maintainers?|contact|date|version|file(?:name)?)\s*:",
    re.IGNORECASE,
)
_CODE = re.compile(
    rb"[;{}]\s*$|^\s*(?:import|from|var|let|const|function|class|def|return|if|for|export|require)\b.*[=(:;'\"{]|"
    rb"^[\w.$\[\]]+\s*(?:=(?!=)|\+=)\s*\S|^[\w.$]+\(.*\)\s*;?\s*$|=>|^@\w+\s*(?:\(|$)",
)
_WORD = re.compile(rb"[A-Za-z\x80-\xff]{2,}")
BLOCK_WORDS = 3
LINE_WORDS = 5


def is_licence(text: bytes) -> bool:
    """Return whether a comment is a licence, a copyright notice or a part of one."""
    return _LICENCE.search(text) is not None


def plain_role(lines: Sequence[bytes], words: int = LINE_WORDS) -> Role:
    """Return the role of a comment without directives from its lines, comment marks taken off.

    Fewer than ``words`` words make a heading and no prose.
    """
    text = b"\n".join(lines)
    if is_licence(text):
        return Role.LICENCE
    filled = [line.strip() for line in lines if line.strip()]
    if _mostly(_METADATA, filled):
        return Role.OTHER
    if _mostly(_CODE, filled):
        return Role.CODE
    return Role.PROSE if len(_WORD.findall(text)) >= words else Role.OTHER


def _mostly(pattern: re.Pattern[bytes], lines: Sequence[bytes]) -> bool:
    return 2 * sum(1 for line in lines if pattern.search(line)) > len(lines)

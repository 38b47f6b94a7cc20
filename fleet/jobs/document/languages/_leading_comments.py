"""The comments ahead of a file's first code, read by what one language calls a comment."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fleet.jobs.document.language import Ending, NoPlace

ENDLESS = NoPlace(ending=Ending.NO_PLACE, reason="its first comment does not end")
MAX_COMMENTS = 5000
MAX_READ = 20_000

_BLANK = rb"[ \t\v\f]|\xc2\xa0|\xef\xbb\xbf"
_BLANKS = re.compile(rb"(?:" + _BLANK + rb")*+")
_SPACES = re.compile(rb"(?:" + _BLANK + rb"|\r?\n)*+")
_NEWLINE = re.compile(rb"\r\n|\n|\r|\xe2\x80[\xa8\xa9]")
_END = rb"(?=\n|\r|\xe2\x80[\xa8\xa9]|\Z)"
_NESTED = re.compile(rb"/\*|\*/")

SLASHES = re.compile(rb"//.*?" + _END, re.DOTALL)
SPLICED_SLASHES = re.compile(rb"//(?:\\[ \t]*\r?\n|[^\r\n])*+")
HASHES = re.compile(rb"#.*?" + _END, re.DOTALL)
BLOCK = re.compile(rb"/\*.*?\*/", re.DOTALL)
BLOCK_START = re.compile(rb"/\*")
SHEBANG = re.compile(rb"#!.*?" + _END, re.DOTALL)
NEVER = re.compile(rb"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexis:
    """What a comment is: patterns that are matched where one may start, none of them with its last newline.

    ``line`` is a comment up to its line's end, ``start`` begins a block and ``block`` is a whole one; with ``nests``
    blocks stand inside of each other and ``block`` is not asked. ``shebang`` counts on the first line alone.
    ``enclosed`` is other text that only holds comments. ``unsafe`` is what may end a comment before these patterns
    see its end.
    """

    line: re.Pattern[bytes] = SLASHES
    start: re.Pattern[bytes] = BLOCK_START
    block: re.Pattern[bytes] = BLOCK
    nests: bool = False
    shebang: re.Pattern[bytes] = NEVER
    enclosed: re.Pattern[bytes] = NEVER
    unsafe: re.Pattern[bytes] = field(default=NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment: bytes ``start`` to ``end``, its newline included if it ends the line; its first bytes, marks on."""

    start: int
    end: int
    text: bytes
    block: bool
    closes_line: bool


def leading_comments(content: bytes, at: int, lexis: Lexis) -> tuple[list[Comment], int] | NoPlace:
    """Return the comments from ``at`` up to the first code, and where that code starts (the start of its token)."""
    comments: list[Comment] = []
    shebang = lexis.shebang.match(content, at)
    if shebang:
        comments.append(_comment(content, at, shebang.end(), False))
        at = comments[-1].end
    while True:
        at = _skipped(_SPACES, content, at)
        if at == len(content):
            return NoPlace(ending=Ending.EMPTY, reason="it holds no code")
        if _NEWLINE.match(content, at):
            return NoPlace(ending=Ending.NO_PLACE, reason="its lines end in an unusual way")
        found = _end(content, at, lexis)
        if found is None:
            return comments, at
        end, block = found
        if end < 0:
            return ENDLESS
        if lexis.unsafe.search(content, at, end):
            return NoPlace(ending=Ending.NO_PLACE, reason="an escape in its first comments may end them")
        comments.append(_comment(content, at, end, block))
        at = comments[-1].end
        if len(comments) > MAX_COMMENTS:
            return NoPlace(ending=Ending.NO_PLACE, reason=f"it starts with over {MAX_COMMENTS} comments")


def is_blank_line(content: bytes, at: int) -> bool:
    """Return whether the rest of the line at ``at`` is blank and ends."""
    return content.startswith((b"\n", b"\r\n"), _skipped(_BLANKS, content, at))


def _end(content: bytes, at: int, lexis: Lexis) -> tuple[int, bool] | None:
    """Return where the comment at ``at`` ends (-1: nowhere) and whether it is a block, None where none starts."""
    if lexis.start.match(content, at):
        if lexis.nests:
            return _nested_end(content, at), True
        block = lexis.block.match(content, at)
        return (block.end() if block else -1), True
    line = lexis.line.match(content, at)
    if line:
        return line.end(), False
    enclosed = lexis.enclosed.match(content, at)
    return (enclosed.end(), True) if enclosed else None


def _nested_end(content: bytes, at: int) -> int:
    depth = 0
    for mark in _NESTED.finditer(content, at):
        depth += 1 if mark[0] == b"/*" else -1
        if depth == 0:
            return mark.end()
    return -1


def _comment(content: bytes, start: int, end: int, block: bool) -> Comment:
    rest = _skipped(_BLANKS, content, end)
    newline = _NEWLINE.match(content, rest)
    usual = newline is not None and newline[0] in (b"\n", b"\r\n")
    return Comment(
        start=start,
        end=newline.end() if newline is not None and usual else end,
        text=content[start : min(end, start + MAX_READ)],
        block=block,
        closes_line=usual or rest == len(content),
    )


def _skipped(pattern: re.Pattern[bytes], content: bytes, at: int) -> int:
    match = pattern.match(content, at)
    return match.end() if match else at

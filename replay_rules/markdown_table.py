"""Rule ``markdown-table``: merge tables of a Markdown file row by row.

A row's key is its first cell, or its first two where that alone is not unique. New rows go behind the row that they
stood behind, or in order where all sides are sorted; a row that both sides edited is declined. Outside of its tables
the file must merge cleanly. Invariant: the same tables with the same headers on all sides, every row with as many
cells as its header, keys unique.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Resolved, Side
from replay_rules.file_mode import merged_mode
from replay_rules.invariants import sound_merge
from replay_rules.keyed import CannotMerge, Keyed, Leaf, Member, merged, render

APPLIES: tuple[str, ...] = ("*.md", "*.markdown", "*.mdx")
ORDER: int = 650

_RULE_CELL = re.compile(rb":?-+:?")
_SPLIT = re.compile(rb"(?<!\\)\|")
_FENCE = re.compile(rb" {0,3}(```|~~~)")


class _Table(NamedTuple):
    header: tuple[bytes, ...]
    head: bytes
    rows: tuple[bytes, ...]


def rule(collision: Collision) -> Resolved | Declined:
    r"""Merge by row.

    >>> from qodebase.paths import RepoPath
    >>> head = b"| name | what |\n| --- | --- |\n| a | 1 |\n"
    >>> base, main, change = (Side(content=head + row) for row in (b"", b"| b | 2 |\n", b"| c | 3 |\n"))
    >>> print(rule(Collision(path=RepoPath(b"R.md"), base=base, main=main, change=change)).content.decode())
    | name | what |
    | --- | --- |
    | a | 1 |
    | b | 2 |
    | c | 3 |
    <BLANKLINE>
    """
    contents = [side.content for side in (collision.base, collision.main, collision.change)]
    if any(content is None or b"\0" in content for content in contents):
        return Declined(why="tables are merged only where all three sides have the text: model")
    (base, tables), (main, ours), (change, theirs) = (_apart(content or b"") for content in contents)
    if not tables:
        return Declined(why="no table: model")
    if not [table.header for table in tables] == [table.header for table in ours] == [table.header for table in theirs]:
        return Declined(why="a table or a column came or went: model")
    headers = [table.header for table in tables]
    if len(set(headers)) < len(headers) and not _above(base) == _above(main) == _above(change):
        return Declined(why="tables with one header are told apart by the text above them, which changed: model")
    around = _around(collision, base, main, change)
    if isinstance(around, Declined):
        return around
    pieces = (around.content or b"").split(b"\0")
    if len(pieces) != len(tables) + 1:
        return Declined(why="the tables did not stay where they are: model")
    try:
        done = [
            _merged(*versions, idempotent=collision.idempotent) for versions in zip(tables, ours, theirs, strict=True)
        ]
    except CannotMerge as reason:
        return Declined(why=str(reason))
    out = [pieces[0], *itertools.chain.from_iterable(zip(done, pieces[1:], strict=True))]
    return Resolved(content=b"".join(out), mode=around.mode)


def _around(collision: Collision, base: bytes, main: bytes, change: bytes) -> Side | Declined:
    """Return the text outside of the tables, merged, with a NUL for each table."""
    old, ours, theirs = (text.replace(b"\0", b"\x01\n") for text in (base, main, change))
    if old == ours == theirs:
        mode = merged_mode(collision)
        return mode if isinstance(mode, Declined) else Side(content=base, mode=mode)
    outcome = sound_merge(
        Collision(
            path=collision.path,
            base=Side(content=old, mode=collision.base.mode),
            main=Side(content=ours, mode=collision.main.mode),
            change=Side(content=theirs, mode=collision.change.mode),
            idempotent=collision.idempotent,
        )
    )
    if isinstance(outcome, Declined):
        return Declined(why=f"beside the tables: {outcome.why}")
    return Side(content=outcome.content.replace(b"\x01\n", b"\0"), mode=outcome.mode)


def _above(text: bytes) -> list[bytes]:
    """Return the last line that is not blank before each table."""
    return [piece.strip().rpartition(b"\n")[2] for piece in text.split(b"\0")[:-1]]


def _merged(base: _Table, main: _Table, change: _Table, *, idempotent: bool) -> bytes:
    head = change.head if main.head == base.head else main.head
    key_cells = 1 if all(_unique(table, 1) for table in (base, main, change)) else 2
    trees = [_tree(table, key_cells) for table in (base, main, change)]
    whole = render(merged(*trees, idempotent=idempotent, name=b"the table"))
    return head + whole


def _tree(table: _Table, key_cells: int) -> Keyed:
    members = []
    for row in table.rows:
        cells = _cells(row)
        if len(cells) != len(table.header):
            raise CannotMerge("a row has other columns than its header: model")
        members.append(Member(key=cells[:key_cells], value=Leaf(text=row, data=cells)))
    return Keyed(members=tuple(members))


def _unique(table: _Table, key_cells: int) -> bool:
    keys = [_cells(row)[:key_cells] for row in table.rows]
    return len(set(keys)) == len(keys)


def _apart(content: bytes) -> tuple[bytes, list[_Table]]:
    """Return the text with a NUL in place of each table, and the tables; fenced code holds none."""
    lines = content.splitlines(keepends=True)
    text: list[bytes] = []
    tables: list[_Table] = []
    fence = b""
    at = 0
    while at < len(lines):
        mark = _FENCE.match(lines[at])
        if mark and fence in (b"", mark.group(1)):
            fence = b"" if fence else mark.group(1)
        header = _cells(lines[at]) if not fence and _is_row(lines[at]) else ()
        if header and at + 1 < len(lines) and _is_rule(lines[at + 1], len(header)):
            end = at + 2
            while end < len(lines) and _is_row(lines[end]):
                end += 1
            tables.append(_Table(header, lines[at] + lines[at + 1], tuple(lines[at + 2 : end])))
            text.append(b"\0")
            at = end
        else:
            text.append(lines[at])
            at += 1
    return b"".join(text), tables


def _is_row(line: bytes) -> bool:
    return line.lstrip(b" ").startswith(b"|")


def _is_rule(line: bytes, columns: int) -> bool:
    cells = _cells(line) if _is_row(line) else ()
    return len(cells) == columns and all(_RULE_CELL.fullmatch(cell) for cell in cells)


def _cells(row: bytes) -> tuple[bytes, ...]:
    inner = row.strip()[1:]
    cells = [cell.strip() for cell in _SPLIT.split(inner)]
    return tuple(cells[:-1] if cells[-1] == b"" else cells)

"""The shared index: one line for each public top-level name, sorted by the bytes of (path, name)."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.jobs.document.languages.outline import Outline, public_names
from qodebase.change import AnyOperation, Hunk, Patch, Write
from qodebase.collision import Declined
from qodebase.paths import RepoPath
from replay_rules.sorted_index import insert, key_of, place

HEADING = b"""# API index

The public top-level names of the code, one a line, sorted by path and name.

"""

_SUMMARY = 160


def index_lines(path: RepoPath, outline: Outline, *, most: int) -> list[bytes]:
    """Return the index lines of a file, at most so many, sorted by their keys."""
    lines = {}
    for name in public_names(outline)[:most]:
        summary = " ".join(name.summary.split())
        if len(summary) > _SUMMARY:
            summary = summary[:_SUMMARY].rsplit(" ", 1)[0] + " ..."
        told = f": {summary}" if summary else ""
        line = f"- `{_quoted(path)}` `{name.name}` {name.kind}{told}\n".encode()
        lines[key_of(line)] = line
    return [lines[key] for key in sorted(key for key in lines if key is not None)]


def index_operation(path: RepoPath, index: bytes | None, lines: Sequence[bytes]) -> AnyOperation | Declined | None:
    """Return the edit that adds lines to an index as it stands at the agent's base; None where it has them all."""
    if not lines:
        return None
    if index is None:
        return Write(path=path, content=HEADING + b"".join(lines))
    at: dict[int, list[bytes]] = {}
    for line in lines:
        offset = place(index, line)
        if isinstance(offset, Declined):
            return offset
        if not index.startswith(line, offset):
            at.setdefault(offset, []).append(line)
    if not at:
        return None
    return Patch(path=path, hunks=tuple(Hunk(offset=offset, text=b"".join(at[offset])) for offset in sorted(at)))


def lines_of(operations: Sequence[AnyOperation], path: RepoPath) -> list[bytes]:
    """Return the index lines that a change asked for, as the journal has it."""
    text = b""
    for operation in operations:
        if operation.path == path and isinstance(operation, Patch):
            text += b"".join(hunk.text for hunk in operation.hunks)
        elif operation.path == path and isinstance(operation, Write):
            text += operation.content
    return [line for line in text.splitlines(keepends=True) if key_of(line) is not None]


def with_lines(index: bytes | None, lines: Sequence[bytes]) -> bytes | Declined:
    """Return an index with lines more, each at its place."""
    out = HEADING if index is None else index
    for line in lines:
        grown = insert(out, line)
        if isinstance(grown, Declined):
            return grown
        out = grown
    return out


def _quoted(path: RepoPath) -> str:
    """Return a path for a line: bytes that would break the line or its backquotes, and ``%``, as ``%XX``."""
    out = []
    for char in path.decode(errors="surrogateescape"):
        code = ord(char)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(f"%{code - 0xDC00:02X}")
        elif char in "`%" or not char.isprintable():
            out.append("".join(f"%{byte:02X}" for byte in char.encode()))
        else:
            out.append(char)
    return "".join(out)

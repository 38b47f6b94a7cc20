"""Unified diffs as git writes them, of contents in memory."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from qodebase.collision import Side
from qodebase.paths import RepoPath, path_text

_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file"


def unified(path: RepoPath, before: Side, after: Side) -> str:
    """Return the diff of one path, which `git apply` takes; empty where nothing differs.

    Bytes that are no UTF-8 are shown as replacement characters, and content with a NUL not at all.
    """
    if before.content == after.content and (before.mode == after.mode or after.content is None):
        return ""
    old, new = _side("a/", path), _side("b/", path)
    lines = [f"diff --git {old} {new}", *_modes(before, after)]
    contents = before.content or b"", after.content or b""
    if any(b"\0" in content for content in contents):
        lines.append(f"Binary files {old} and {new} differ")
    elif contents[0] != contents[1]:
        lines.append("--- " + ("/dev/null" if before.content is None else old))
        lines.append("+++ " + ("/dev/null" if after.content is None else new))
        lines += _hunks(*map(_lines, contents))
    return "\n".join(lines) + "\n"


def _side(prefix: str, path: RepoPath) -> str:
    return path_text(prefix.encode() + path)


def _modes(before: Side, after: Side) -> list[str]:
    if before.content is None:
        return [f"new file mode {after.mode:o}"]
    if after.content is None:
        return [f"deleted file mode {before.mode:o}"]
    if before.mode != after.mode:
        return [f"old mode {before.mode:o}", f"new mode {after.mode:o}"]
    return []


def _lines(content: bytes) -> list[str]:
    lines = content.decode(errors="replace").split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the hunks; what is alike at both ends is left out first, since matching is quadratic at worst."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    most = shorter - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    start = max(0, head - _CONTEXT)
    keep = max(0, tail - _CONTEXT)
    old, new = old[start : len(old) - keep], new[start : len(new) - keep]
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        was, now = _range(start + old_start, start + old_end), _range(start + new_start, start + new_end)
        yield f"@@ -{was} +{now} @@"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from _marked(" ", old[old_from:old_to])
                continue
            yield from _marked("-", old[old_from:old_to])
            yield from _marked("+", new[new_from:new_to])


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_NEWLINE


def _range(start: int, end: int) -> str:
    count = end - start
    return f"{start if count == 0 else start + 1},{count}"

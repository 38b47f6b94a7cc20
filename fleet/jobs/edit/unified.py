"""Answers that are unified diffs.

Models miscount, so a hunk is placed by its lines, and the line number of its header only chooses among equal places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fleet.jobs.edit.answers import (
    BadAnswer,
    Files,
    Splice,
    fence_behind,
    forbidden,
    lines_of,
    named,
    spliced,
)
from fleet.jobs.edit.blanks import places, retabbed
from qodebase.paths import RepoPath

_HUNK = re.compile(r"@@(?: -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@.*|.*)")
_FORBIDDEN = {
    "GIT binary patch": "a binary patch",
    "Binary files ": "a binary patch",
    "rename from ": "a rename",
    "copy from ": "a copy",
    "deleted file mode ": "a deletion",
    "old mode ": "another mode",
    "new file mode 120000": "a symbolic link",
    "new file mode 160000": "a submodule",
}
_NOWHERE = "/dev/null"
_SIGNS = (" ", "+", "-")
_BETWEEN = ("diff ", "index ", "Index: ", "====", "new file mode ", "new mode ", "similarity ")
"""How lines between the hunks of two files begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hunk:
    """A hunk's lines with their signs, and the line that its header says it begins at (None: it does not say)."""

    number: int
    start: int | None
    body: tuple[str, ...]

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.body if line[:1] in " -"]


def parse_diff(answer: str, files: Files) -> dict[RepoPath, str]:
    """Return the new texts of the files that a diff edits.

    Raises:
        BadAnswer: there is no hunk, one has no place or several, it breaks off, or it does more than edit these files.
    """
    lines = answer.split("\n")
    splices: defaultdict[RepoPath, list[Splice]] = defaultdict(list)
    only = path = next(iter(files)) if len(files) == 1 else None
    at = number = 0
    fence = ""
    inside = False
    while at < len(lines):
        line = lines[at]
        for begins, what in _FORBIDDEN.items():
            if line.startswith(begins):
                raise forbidden(f"the diff holds {what}")
        if _is_header(lines, at):
            path = _path_of(line, lines[at + 1], files)
            at += 2
            inside = True
        elif line.startswith("@@"):
            number += 1
            hunk, at = _read_hunk(number, lines, at)
            if path is None:
                raise BadAnswer(f"hunk {number} does not say which file it is; there are {len(files)}")
            splices[path].append(_placed(hunk, path, files[path]))
            inside = True
        else:
            now = fence_behind(line, fence)
            at += 1
            if line.startswith(_BETWEEN):
                path, inside = only, False
            stray = line if now == fence else lines[at] if lines[at:] and lines[at][:1] in _SIGNS else ""
            if inside and stray.strip():
                raise BadAnswer(f"a line behind hunk {number} is of no hunk: {stray.strip()[:80]}")
            inside = inside and bool(fence) and now == fence
            fence = now
    if not number:
        raise BadAnswer("no hunk of a unified diff")
    if fence:
        raise BadAnswer("the fenced block is not closed: was the answer cut off?")
    return {path: spliced(files[path], wanted) for path, wanted in splices.items()}


def _is_header(lines: Sequence[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _path_of(old: str, new: str, files: Files) -> RepoPath:
    """Return the file of a header, ``a/`` and ``b/`` taken off where no file is called so."""
    before, after = (line[4:].split("\t")[0].strip().strip('"') for line in (old, new))
    if after == _NOWHERE:
        raise forbidden("the diff holds a deletion")
    stripped = after.removeprefix("b/")
    if before not in (_NOWHERE, after) and before.removeprefix("a/") != stripped:
        raise forbidden("the diff holds a rename")
    known = {path.text for path in files}
    return named(after if after in known else stripped, files)


def _read_hunk(number: int, lines: Sequence[str], at: int) -> tuple[_Hunk, int]:
    """Return a hunk and where it ends: by the counts of its header where they are right, else by what lines look like.

    Raises:
        BadAnswer: it has no lines, or changes nothing.
    """
    header = _HUNK.fullmatch(lines[at])
    start = int(header[1]) if header and header[1] else None
    end = at + 1
    if header and start is not None:
        end = _counted(lines, end, int(header[2] or 1), int(header[3] or 1))
    if end == at + 1:
        end = _guessed(lines, end)
    body = tuple(line or " " for line in lines[at + 1 : end] if not line.startswith("\\"))
    if not body and lines[end:] and lines[end].strip():
        raise BadAnswer(f"hunk {number} begins with a line without a sign: {lines[end].strip()[:80]}")
    if not any(line[0] in "+-" for line in body):
        raise BadAnswer(f"hunk {number} changes nothing")
    if header and header[2] != "0" and all(line[0] == "+" for line in body):
        start = None
    return _Hunk(number=number, start=start, body=body), end


def _counted(lines: Sequence[str], at: int, old: int, new: int) -> int:
    """Return the end of a hunk with so many old and new lines, or where it begins where it has not so many."""
    begin = at
    while (old > 0 or new > 0) and at < len(lines):
        sign = lines[at][:1] or " "
        if sign not in " +-\\":
            return begin
        old -= sign in " -"
        new -= sign in " +"
        at += 1
    while at < len(lines) and lines[at].startswith("\\"):
        at += 1
    more = at < len(lines) and lines[at][:1] in ("+", "-", " ") and not _is_header(lines, at)
    return begin if old or new or more else at


def _guessed(lines: Sequence[str], at: int) -> int:
    begin = at
    while at < len(lines):
        line = lines[at]
        if line[:1] not in ("", " ", "+", "-", "\\") or _is_header(lines, at):
            break
        at += 1
    while at > begin and not lines[at - 1]:
        at -= 1
    return at


def _placed(hunk: _Hunk, path: RepoPath, text: str) -> Splice:
    """Return a hunk as a splice; unchanged lines stay as the file has them."""
    what, lines, old, width = f"hunk {hunk.number}", lines_of(text), hunk.old, 0
    if not old:
        start = hunk.start if lines else 0
        if start is None or start > len(lines):
            raise BadAnswer(f"{what} does not say where its lines go")
    else:
        found = places(lines, old)
        if not found and (bare := _without_blank_ends(hunk.body)) != hunk.body:
            return _placed(replace(hunk, body=bare), path, text)
        start = _place(hunk, path, sorted(found))
        width = found[start]
    at, new = start, []
    for line in hunk.body:
        if line[0] == "+":
            new.append(retabbed(line[1:], width))
            continue
        if line[0] == " ":
            new.append(lines[at])
        at += 1
    return Splice(start=start, length=len(old), lines=tuple(new), what=what)


def _without_blank_ends(body: tuple[str, ...]) -> tuple[str, ...]:
    """Return a hunk's lines without blank unchanged ones at both ends, which models miscount; some others stay."""
    said = [at for at, line in enumerate(body) if line[0] == "-" or (line[0] == " " and line.strip())]
    if not said:
        return body
    begin = next(at for at, line in enumerate(body) if line.strip())
    end = next(at for at in range(len(body), 0, -1) if body[at - 1].strip())
    return body[begin:end]


def _place(hunk: _Hunk, path: RepoPath, found: Sequence[int]) -> int:
    if hunk.start is not None and hunk.start - 1 in found:
        return hunk.start - 1
    if len(found) == 1:
        return found[0]
    sought = next((line for line in hunk.old if line.strip()), "").strip()[:80]
    if not found:
        raise BadAnswer(f"hunk {hunk.number} does not fit {path.text}: {sought}")
    shown = ", ".join(str(at + 1) for at in found[:5])
    raise BadAnswer(f"hunk {hunk.number} fits {len(found)} places of {path.text} (lines {shown}): {sought}")

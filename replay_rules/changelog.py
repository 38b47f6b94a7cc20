"""Rule ``changelog``: put the bullets that both sides added under the newest heading below each other.

Both sides may only insert, and only bullets (with their continuation lines) and deeper headings, into the newest
section. Main's bullets come first. Invariant: the headings of the base stand as they stood, no release was made
meanwhile, and every line of both sides is there as often as the sides' additions say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Resolved
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from replay_rules.file_mode import merged_mode
from replay_rules.hunks import hunks, lines_of

APPLIES: tuple[str, ...] = tuple(
    f"{name}{suffix}"
    for name in ("[Cc][Hh][Aa][Nn][Gg][Ee]*", "HISTORY*", "History*", "NEWS*", "RELEASE*", "*release*notes*")
    for suffix in (".md", ".rst", ".txt", "")
)
ORDER: int = 640

_BULLET = re.compile(rb"[ \t]*[-*+][ \t]+\S")
_NUMBERED = re.compile(rb"[ \t]*\d+[.)][ \t]")
_MARKDOWN = re.compile(rb"(#{1,6})[ \t]+(.*)")
_UNDERLINE = re.compile(rb"([=\-~^\"'`*+#.])\1{2,}")


class _Heading(NamedTuple):
    line: int
    rank: int
    text: bytes


def rule(collision: Collision) -> Resolved | Declined:
    r"""Put both sides' new bullets below each other.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> sides = [b"# Changes\n\n## Next\n%s\n## 1.0\n" % new for new in (b"- a\n", b"- a\n- b\n", b"- a\n- c\n")]
    >>> base, main, change = (Side(content=side) for side in sides)
    >>> print(rule(Collision(path=RepoPath(b"CHANGELOG.md"), base=base, main=main, change=change)).content.decode())
    # Changes
    <BLANKLINE>
    ## Next
    - a
    - b
    - c
    <BLANKLINE>
    ## 1.0
    <BLANKLINE>
    """
    contents = [side.content for side in (collision.base, collision.main, collision.change)]
    if any(content is None or b"\0" in content for content in contents):
        return Declined(why="bullets are joined only where all three sides have the text: model")
    mode = merged_mode(collision)
    if isinstance(mode, Declined):
        return mode
    base, main, change = (lines_of(content or b"") for content in contents)
    section = _newest(base)
    if section is None:
        return Declined(why="no heading of a newest section: model")
    ours, theirs = _inserted(base, main, section), _inserted(base, change, section)
    for found in (ours, theirs):
        if isinstance(found, str):
            return Declined(why=found)
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return Declined(why="not only insertions: model")
    out = _joined(base, ours, theirs, section, idempotent=collision.idempotent)
    if isinstance(out, str):
        return Declined(why=out)
    doubt = _doubt(base, main, change, out, idempotent=collision.idempotent)
    return Declined(why=doubt) if doubt else Resolved(content=b"".join(out), mode=mode)


@cache
def _is_changelog() -> Callable[[RepoPath], bool]:
    return matcher(APPLIES)


def clean_doubt(collision: Collision, result: bytes) -> str:
    """Say why a clean merge of this kind is not believed, or the empty text: a bullet that came under a release.

    One side makes a heading above lines that the other one adds to, so what is new would count as released.
    """
    if not _is_changelog()(collision.path):
        return ""
    sides = (collision.base.content, collision.main.content, collision.change.content)
    base, main, change = (lines_of(content or b"") for content in sides)
    section = _newest(base)
    if section is None or not result:
        return ""
    entered = [_entered(base, side, section) for side in (main, change)]
    released = [_releases(side, base[section.start]) != _releases(base, base[section.start]) for side in (main, change)]
    late = (released[0] and entered[1]) or (released[1] and entered[0])
    return "changelog: a release was made meanwhile: author" if late else ""


def _releases(lines: list[bytes], newest: bytes) -> list[bytes]:
    """Return the headings that rank as high as the newest section's."""
    headings = _headings(lines)
    rank = next((heading.rank for heading in headings if lines[heading.line] == newest), 1)
    return [heading.text for heading in headings if heading.rank <= rank]


def _entered(base: list[bytes], side: list[bytes], section: range) -> bool:
    """Return whether a side adds lines that are no headings to the newest section of the base."""
    found = [hunk for hunk in hunks(base, side) if section.start < hunk.start <= section.stop]
    return any(_BULLET.match(line) for hunk in found for line in hunk.lines)


def _headings(lines: list[bytes]) -> list[_Heading]:
    """Return the headings; a rank is the number of marks, or for an underlined one the order of its first use."""
    found: list[_Heading] = []
    marks: list[bytes] = []
    for at, line in enumerate(lines):
        match = _MARKDOWN.fullmatch(line.rstrip())
        below = lines[at + 1].rstrip() if at + 1 < len(lines) else b""
        if match:
            found.append(_Heading(at, len(match.group(1)), match.group(2)))
        elif line.strip() and not line[:1].isspace() and _UNDERLINE.fullmatch(below) and not _BULLET.match(line):
            if _UNDERLINE.fullmatch(line.rstrip()):
                continue
            mark = below[:1]
            marks += [] if mark in marks else [mark]
            found.append(_Heading(at, marks.index(mark) + 1, line.rstrip()))
    return found


def _newest(lines: list[bytes]) -> range | None:
    """Return the lines of the newest section, its heading first: the first heading of the rank that recurs."""
    headings = _headings(lines)
    ranks = Counter(heading.rank for heading in headings)
    recurring = [rank for rank in sorted(ranks) if ranks[rank] > 1 and rank < 3]
    if headings and not recurring and len(headings) <= 2:
        recurring = [max(heading.rank for heading in headings)]
    if not recurring:
        return None
    tops = [heading.line for heading in headings if heading.rank <= recurring[0]]
    first = next(heading.line for heading in headings if heading.rank == recurring[0])
    return range(first, next((line for line in tops if line > first), len(lines)))


def _inserted(base: list[bytes], side: list[bytes], section: range) -> dict[int, list[bytes]] | str:
    """Return the lines put before each line of the base, or why the side does more than that."""
    rank = next((heading.rank for heading in _headings(base) if heading.line == section.start), 0)
    found: dict[int, list[bytes]] = {}
    for hunk in hunks(base, side):
        at, lines = hunk.start, list(hunk.lines)
        if hunk.end > hunk.start:
            tail = base[hunk.start : hunk.end]
            if hunk.end != len(base) or lines[:1] != [tail[0] + b"\n"] or len(tail) != 1:
                return "the change edits or removes lines beside the bullets that it adds: model"
            return "the last line does not end: model"
        if not section.start < at <= section.stop:
            return "lines were added outside of the newest section: author"
        if at == section.stop and at < len(base) and not base[at - 1].strip() and lines[-1:] and lines[-1].strip():
            return "lines were added against the next heading: model"
        deeper = {heading.line: heading for heading in _headings(lines)}
        if any(heading.rank <= rank for heading in deeper.values()):
            return "a release was made meanwhile: author"
        fault = _fault(lines, set(deeper), opened=at > 0 and bool(base[at - 1].strip()))
        if fault:
            return fault
        found[at] = lines
    return found


def _fault(lines: list[bytes], headings: set[int], *, opened: bool) -> str:
    """Say which line is no bullet, or the empty text."""
    for at, line in enumerate(lines):
        plain = not line.strip() or at in headings or _BULLET.match(line)
        underline = at - 1 in headings and _UNDERLINE.fullmatch(line.rstrip())
        continued = line[:1].isspace() and any(_BULLET.match(before) for before in lines[:at])
        if _NUMBERED.match(line):
            return "numbered entries: author"
        if not (plain or underline or continued):
            return "an added line is no bullet: model"
        if not line.endswith(b"\n"):
            return "the last line does not end: model"
    first = next((line for line in lines if line.strip()), b"")
    nested = first[:1].isspace()
    return "the bullets belong below another one: model" if nested and opened else ""


def _joined(
    base: list[bytes],
    ours: dict[int, list[bytes]],
    theirs: dict[int, list[bytes]],
    section: range,
    *,
    idempotent: bool,
) -> list[bytes] | str:
    alike = _entries(ours.values()) & _entries(theirs.values())
    if alike and not (idempotent and ours == theirs):
        return "both sides added the same line: author"
    loose = any(
        not base[at].strip() and _BULLET.match(base[at - 1]) and _BULLET.match(base[at + 1])
        for at in range(section.start + 1, min(section.stop, len(base) - 1))
    )
    out: list[bytes] = []
    for at in range(len(base) + 1):
        left, right = ours.get(at, []), theirs.get(at, [])
        if left and right and not alike:
            both = _both(left, right, loose=loose)
            if both is None:
                return "both sides added a heading at one place: model"
            out += both
        else:
            out += left or right
        out += base[at : at + 1]
    return out


def _entries(blocks: Iterable[list[bytes]]) -> set[bytes]:
    """Return every heading and every bullet with its continuation lines."""
    found: list[bytes] = []
    for block in blocks:
        opened = False
        for line in filter(bytes.strip, block):
            opened = opened and line[:1].isspace() and not _BULLET.match(line)
            if opened:
                found[-1] += b" " + line.strip()
            else:
                found.append(line.strip())
            opened = True
    return set(found)


def _both(left: list[bytes], right: list[bytes], *, loose: bool) -> list[bytes] | None:
    """Join two blocks at one place: bullets first, then the one with a heading; blanks between them only if usual."""
    titled = [bool(_headings(block)) for block in (left, right)]
    if all(titled):
        return None
    first, second = (right, left) if titled[0] else (left, right)
    before, first = _leading(first)
    after, first = _trailing(first)
    apart, second = _leading(second)
    behind, second = _trailing(second)
    between = (apart or after or before or behind)[:1] if loose or any(titled) else []
    if (loose or any(titled)) and not between:
        between = [b"\r\n" if first[-1].endswith(b"\r\n") else b"\n"]
    return [*before, *first, *between, *second, *(behind or after)]


def _leading(block: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    count = next((at for at, line in enumerate(block) if line.strip()), len(block))
    return block[:count], block[count:]


def _trailing(block: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    blanks, rest = _leading(block[::-1])
    return blanks, rest[::-1]


def _doubt(base: list[bytes], main: list[bytes], change: list[bytes], out: list[bytes], *, idempotent: bool) -> str:
    """Say why the result is not believed, or the empty text; blank lines do not count."""
    before, ours, theirs, now = (Counter(line for line in side if line.strip()) for side in (base, main, change, out))
    wanted = ours + (theirs - before) if not (idempotent and main == change) else ours
    if now != wanted:
        return "the lines do not add up: model"
    kept = iter(out)
    if not all(line in kept for line in base):
        return "a line of the base went: model"
    titles = [[heading.text for heading in _headings(side)] for side in (base, main, change, out)]
    return (
        ""
        if Counter(titles[3]) == Counter(titles[1]) + (Counter(titles[2]) - Counter(titles[0]))
        else "headings: author"
    )

"""Rule ``changelog``: put the bullets that both sides added under the newest heading below each other.

Both sides may only insert, and only bullets (with their continuation lines) and deeper headings, into the newest
section. Main's bullets come first; where a list grows at its top, the change's do, for the newest stands on top there.
Invariant: the headings of the base stand as they stood, no release was made meanwhile, and every line of both sides is
there as often as the sides' additions say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.file_mode import merged_mode
from replay_rules.hunks import hunks, lines_of
from replay_rules.releases import BULLET, PATHS, UNDERLINE, headings_of, newest_section, section_of, went_astray

APPLIES = PATHS
ORDER: int = 640

_NUMBERED = re.compile(rb"[ \t]*\d+[.)][ \t]")


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
    section = newest_section(base)
    if section is None:
        return Declined(why="no heading of a newest section: model")
    ours, theirs = _inserted(base, main, section), _inserted(base, change, section)
    for found in (ours, theirs):
        if isinstance(found, str):
            return Declined(why=found)
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return Declined(why="not only insertions: model")
    customs = [_apart(section_of(lines, base, section)) for lines in (base, main, change)]
    loose = next((custom for custom in customs if custom is not None), False)
    out = _joined(base, ours, theirs, loose=loose, idempotent=collision.idempotent)
    if isinstance(out, str):
        return Declined(why=out)
    doubt = _doubt(base, main, change, out, idempotent=collision.idempotent)
    return Declined(why=doubt) if doubt else Resolved(content=b"".join(out), mode=mode)


def _inserted(base: list[bytes], side: list[bytes], section: range) -> dict[int, list[bytes]] | str:
    """Return the lines put before each line of the base, or why the side does more than that."""
    rank = next((heading.rank for heading in headings_of(base) if heading.line == section.start), 0)
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
        deeper = {heading.line: heading for heading in headings_of(lines)}
        if any(heading.rank <= rank for heading in deeper.values()):
            return "a release was made meanwhile: author"
        fault = _fault(lines, set(deeper), below=_bullet_above(base, at))
        if fault:
            return fault
        found[at] = lines
    return found


def _bullet_above(base: list[bytes], at: int) -> bytes:
    """Return the nearest bullet above a place with no heading between, or nothing."""
    titles = {heading.line for heading in headings_of(base)}
    for number in range(at - 1, -1, -1):
        if number in titles:
            return b""
        if BULLET.match(base[number]):
            return base[number]
    return b""


def _fault(lines: list[bytes], headings: set[int], *, below: bytes) -> str:
    """Say which line is no bullet, or the empty text."""
    for at, line in enumerate(lines):
        plain = not line.strip() or at in headings or BULLET.match(line)
        underline = at - 1 in headings and UNDERLINE.fullmatch(line.rstrip())
        continued = line[:1].isspace() and any(BULLET.match(before) for before in lines[:at])
        if _NUMBERED.match(line):
            return "numbered entries: author"
        if not (plain or underline or continued):
            return "an added line is no bullet: model"
        if not line.endswith(b"\n"):
            return "the last line does not end: model"
    first = next((line for line in lines if line.strip()), b"")
    nested = bool(below) and _indent(first) > _indent(below)
    return "the bullets belong below another one: model" if nested else ""


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


def _joined(
    base: list[bytes],
    ours: dict[int, list[bytes]],
    theirs: dict[int, list[bytes]],
    *,
    loose: bool,
    idempotent: bool,
) -> list[bytes] | str:
    alike = _entries(ours.values()) & _entries(theirs.values())
    if alike and not (idempotent and ours == theirs):
        return "both sides added the same line: author"
    out: list[bytes] = []
    for at in range(len(base) + 1):
        left, right = ours.get(at, []), theirs.get(at, [])
        if left and right and not alike:
            newest_on_top = _grows_at_its_top(base, at)
            both = _both(right, left, loose=loose) if newest_on_top else _both(left, right, loose=loose)
            if both is None:
                return "both sides added a heading at one place: model"
            out += both
        else:
            out += left or right
        out += base[at : at + 1]
    return out


def _grows_at_its_top(base: list[bytes], at: int) -> bool:
    """Return whether a place is above the first bullet of a list, where the newest is put on top of the others."""
    headings = [heading.line for heading in headings_of(base)]
    first = max((line for line in headings if line < at), default=0)
    last = min((line for line in headings if line >= at), default=len(base))
    above, below = (any(map(BULLET.match, lines)) for lines in (base[first:at], base[at:last]))
    return below and not above


def _apart(section: list[bytes]) -> bool | None:
    """Return whether blank lines stand between most of a section's bullets; None where it has too few to tell."""
    titles = {heading.line for heading in headings_of(section)}
    gaps: list[bool] = []
    listed = False
    for at, line in enumerate(section):
        listed = listed and at not in titles
        if BULLET.match(line) and not line[:1].isspace():
            gaps += [not section[at - 1].strip()] if listed else []
            listed = True
    return 2 * sum(gaps) > len(gaps) if gaps else None


def _entries(blocks: Iterable[list[bytes]]) -> set[bytes]:
    """Return every heading and every bullet with its continuation lines."""
    found: list[bytes] = []
    for block in blocks:
        opened = False
        for line in filter(bytes.strip, block):
            opened = opened and line[:1].isspace() and not BULLET.match(line)
            if opened:
                found[-1] += b" " + line.strip()
            else:
                found.append(line.strip())
            opened = True
    return set(found)


def _both(left: list[bytes], right: list[bytes], *, loose: bool) -> list[bytes] | None:
    """Join two blocks at one place: bullets first, then the one with a heading; blanks between them only if usual."""
    titled = [bool(headings_of(block)) for block in (left, right)]
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
    if any(went_astray(filter(BULLET.match, set(side) - set(base)), side, out) for side in (main, change)):
        return "a bullet would stand below a heading that the other side put there: model"
    titles = [[heading.text for heading in headings_of(side)] for side in (base, main, change, out)]
    return (
        ""
        if Counter(titles[3]) == Counter(titles[1]) + (Counter(titles[2]) - Counter(titles[0]))
        else "headings: author"
    )

"""Sections of a changelog, and the doubt that a clean merge put something new below a release."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from qodebase.collision import Collision
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from replay_rules.hunks import hunks, lines_of

PATHS: tuple[str, ...] = tuple(
    f"{name}{suffix}"
    for name in ("[Cc][Hh][Aa][Nn][Gg][Ee]*", "HISTORY*", "History*", "NEWS*", "RELEASE*", "*release*notes*")
    for suffix in (".md", ".rst", ".txt", "")
)
"""What changelogs are called."""

BULLET = re.compile(rb"[ \t]*[-*+][ \t]+\S")
UNDERLINE = re.compile(rb"([=\-~^\"'`*+#.])\1{2,}")
_MARKDOWN = re.compile(rb"(#{1,6})[ \t]+(.*)")
_UNRELEASED = re.compile(
    rb"unreleased|not\s+(?:yet\s+)?released|to\s+be\s+(?:decided|announced|released)|upcoming|in\s+development|\bnext\b",
    re.IGNORECASE,
)


class Heading(NamedTuple):
    """A heading: the number of its line, its rank (1 the highest), and its text."""

    line: int
    rank: int
    text: bytes


@cache
def _is_changelog() -> Callable[[RepoPath], bool]:
    return matcher(PATHS)


def clean_doubt(collision: Collision, result: bytes) -> str:
    """Say why a clean merge of this kind is not believed, or the empty text: a bullet that came under a release.

    A side adds bullets to the newest section of the base. They are new only as long as that section is still open on
    the other side, and as they stand below its heading in the result. It is open where the other side neither gave it
    another heading nor took away the words that call it unreleased, and where it either calls it unreleased or made no
    heading beside it. A newer section above one that is still called unreleased is a second open line, no release.
    And they stand below the same heading as on their side, where that is still there.
    """
    if not _is_changelog()(collision.path):
        return ""
    sides = (collision.base.content, collision.main.content, collision.change.content)
    base, main, change = (lines_of(content or b"") for content in sides)
    section = newest_section(base)
    if section is None or not result:
        return ""
    merged = lines_of(result)
    entered = [(_entered(base, side, section), side, other) for side, other in ((main, change), (change, main))]
    late = any(
        bullets and not (_is_open(base, other, section) and bullets <= Counter(section_of(merged, base, section)))
        for bullets, _, other in entered
    )
    if late:
        return "changelog: a release was made meanwhile: author"
    astray = any(went_astray(bullets, side, merged) for bullets, side, _ in entered)
    return "changelog: a bullet came below a heading that the other side put there: model" if astray else ""


def went_astray(bullets: Iterable[bytes], side: list[bytes], merged: list[bytes]) -> bool:
    """Return whether a new bullet stands below another heading than on its side, which is still there."""
    wanted, now = _above(side), _above(merged)
    titles = {heading.text for heading in headings_of(merged)}
    new = [bullet.rstrip() for bullet in bullets]
    return any(titles.issuperset(wanted[bullet]) and wanted[bullet] != now.get(bullet) for bullet in new)


def _above(lines: list[bytes]) -> dict[bytes, tuple[bytes, ...]]:
    """Map every bullet to the heading above it, to several where it stands several times."""
    titles = {heading.line: heading.text for heading in headings_of(lines)}
    found: dict[bytes, tuple[bytes, ...]] = {}
    title = b""
    for at, line in enumerate(lines):
        title = titles.get(at, title)
        if BULLET.match(line):
            found[line.rstrip()] = (*found.get(line.rstrip(), ()), title)
    return found


def _is_open(base: list[bytes], side: list[bytes], section: range) -> bool:
    """Return whether the newest section of the base is not released on a side."""
    below = section_of(side, base, section)
    before, now = (_is_unreleased(lines) for lines in (base[section.start : section.stop], below))
    same = _releases(side, base[section.start]) == _releases(base, base[section.start])
    return bool(below) and (now or (same and not before))


def section_of(lines: list[bytes], base: list[bytes], section: range) -> list[bytes]:
    """Return the section that bears the heading of the base's newest one, its heading first; empty where none does."""
    headings = headings_of(lines)
    for number, heading in enumerate(headings):
        if lines[heading.line] == base[section.start]:
            ends = [one.line for one in headings[number + 1 :] if one.rank <= heading.rank]
            return lines[heading.line : ends[0] if ends else len(lines)]
    return []


def _is_unreleased(section: list[bytes]) -> bool:
    """Return whether a section's heading, or what stands before its first bullet, calls it unreleased."""
    first = next((at for at, line in enumerate(section) if BULLET.match(line)), len(section))
    return any(_UNRELEASED.search(line) for line in section[:first])


def _releases(lines: list[bytes], newest: bytes) -> list[bytes]:
    """Return the headings that rank as high as the newest section's."""
    headings = headings_of(lines)
    rank = next((heading.rank for heading in headings if lines[heading.line] == newest), 1)
    return [heading.text for heading in headings if heading.rank <= rank]


def _entered(base: list[bytes], side: list[bytes], section: range) -> Counter[bytes]:
    """Return the bullets that a side adds to the newest section of the base.

    One put for another is an edit, and one below a heading that the side brings along belongs to that.
    """
    rank = next((heading.rank for heading in headings_of(base) if heading.line == section.start), 0)
    found: Counter[bytes] = Counter()
    for hunk in hunks(base, side):
        own = next((heading.line for heading in headings_of(list(hunk.lines)) if heading.rank <= rank), None)
        bullets = [line for line in hunk.lines[:own] if BULLET.match(line)]
        replaced = sum(1 for line in base[hunk.start : hunk.end] if BULLET.match(line))
        if section.start < hunk.start <= section.stop and len(bullets) > replaced:
            found.update(bullets)
    return found


def headings_of(lines: list[bytes]) -> list[Heading]:
    """Return the headings; a rank is the number of marks, or for an underlined one the order of its first use."""
    found: list[Heading] = []
    marks: list[bytes] = []
    for at, line in enumerate(lines):
        match = _MARKDOWN.fullmatch(line.rstrip())
        below = lines[at + 1].rstrip() if at + 1 < len(lines) else b""
        if match:
            found.append(Heading(at, len(match.group(1)), match.group(2)))
        elif line.strip() and not line[:1].isspace() and UNDERLINE.fullmatch(below) and not BULLET.match(line):
            if UNDERLINE.fullmatch(line.rstrip()):
                continue
            mark = below[:1]
            marks += [] if mark in marks else [mark]
            found.append(Heading(at, marks.index(mark) + 1, line.rstrip()))
    return found


def newest_section(lines: list[bytes]) -> range | None:
    """Return the lines of the newest section, its heading first: the first heading of the rank that recurs."""
    headings = headings_of(lines)
    ranks = Counter(heading.rank for heading in headings)
    recurring = [rank for rank in sorted(ranks) if ranks[rank] > 1 and rank < 3]
    if headings and not recurring and len(headings) <= 2:
        recurring = [max(heading.rank for heading in headings)]
    if not recurring:
        return None
    tops = [heading.line for heading in headings if heading.rank <= recurring[0]]
    first = next(heading.line for heading in headings if heading.rank == recurring[0])
    return range(first, next((line for line in tops if line > first), len(lines)))

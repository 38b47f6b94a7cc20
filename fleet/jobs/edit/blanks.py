"""Tabs and blanks at the ends of lines, which models lose where nobody asked them to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from fleet.jobs.edit.answers import joined, lines_of

_WIDTHS = (4, 8, 2, 3)
"""How many blanks models write for a tab."""
_TURNED = "its tabs were turned into blanks"


class LostTabs(ValueError):
    """A text of which nobody can say any more where it had tabs."""


def indentation(line: str) -> str:
    """Return the blanks and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def untabbed(line: str, width: int) -> str:
    """Return a line with blanks for the tabs that it begins with, and none at its end."""
    return (indentation(line).expandtabs(width) + line.lstrip(" \t")).rstrip()


def retabbed(line: str, width: int) -> str:
    """Return a line with tabs for the blanks that it begins with; a width of 0 leaves it as it is.

    >>> retabbed("      x", 4)
    '\\t  x'
    """
    own = indentation(line)
    if not width or "\t" in own:
        return line
    return "\t" * (len(own) // width) + " " * (len(own) % width) + line[len(own) :]


def places(lines: Sequence[str], wanted: Sequence[str]) -> dict[int, int]:
    """Return where lines stand in a text, 0 being its first, with how many blanks they have for a tab there (0: as is).

    To the letter, else but for blanks at their ends, else but for tabs that were turned into blanks; as many blanks may
    be one wide tab or two narrow ones.
    """
    for width in (None, 0):
        if found := _places(lines, wanted, width):
            return dict.fromkeys(found, 0)
    widths = _WIDTHS if _has_lost_tabs(lines, wanted) else ()
    return {at: width for width in widths for at in _places(lines, wanted, width)}


def _places(lines: Sequence[str], wanted: Sequence[str], width: int | None) -> list[int]:
    there, sought = _in_form(lines, width), _in_form(wanted, width)
    begins = [at for at in range(len(there) - len(sought) + 1) if there[at] == sought[0]]
    return [at for at in begins if there[at : at + len(sought)] == sought]


def _in_form(lines: Sequence[str], width: int | None) -> list[str]:
    """Return lines as they are compared: to the letter (None), without blanks at their ends (0), without tabs too."""
    if width is None:
        return list(lines)
    return [untabbed(line, width) if width else line.rstrip() for line in lines]


def _has_lost_tabs(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether lines begin with blanks and none with a tab, in a text in which some do begin with tabs."""
    own = [indentation(line) for line in after if line.strip()]
    return any(own) and not any("\t" in one for one in own) and any(line.startswith("\t") for line in before)


def replaced(old: Sequence[str], wanted: Sequence[str], new: Sequence[str], width: int) -> list[str]:
    """Return the lines that take the place of ``old``, which an answer calls ``wanted`` and changes into ``new``.

    What the answer leaves as it is stays as it stands in the file.
    """
    found: list[str] = []
    for tag, at, end, begin, stop in SequenceMatcher(None, wanted, new, autojunk=False).get_opcodes():
        found += old[at:end] if tag == "equal" else [retabbed(line, width) for line in new[begin:stop]]
    return found


def put_back(before: str, after: str) -> str:
    """Return a whole new text with the tabs and blanks that it has only lost.

    Raises:
        LostTabs: all tabs were turned into blanks, and it is not sure where they were.
    """
    old, new = lines_of(before), lines_of(after)
    if not Counter(filter(_can_lose, old)) - Counter(new):
        return after
    width = _width(old, new) if _has_lost_tabs(old, new) else 0
    if width and any(indentation(line).startswith(" ") for line in old):
        raise LostTabs(_TURNED)
    return joined(_put_back(old, new, width))


def _put_back(old: Sequence[str], new: Sequence[str], width: int) -> Iterator[str]:
    there, here = (_in_form(lines, width) for lines in (old, new))
    for tag, at, end, begin, stop in SequenceMatcher(None, there, here).get_opcodes():
        yield from old[at:end] if tag == "equal" else (retabbed(line, width) for line in new[begin:stop])


def _can_lose(line: str) -> bool:
    return line.startswith("\t") or line != line.rstrip()


def _width(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many blanks stand for a tab: so many that most lines are those that they were.

    Raises:
        LostTabs: none, or several as well.
    """
    indented, now = [line for line in old if line.startswith("\t")], Counter(line.rstrip() for line in new)
    same = {width: (Counter(_in_form(indented, width)) & now).total() for width in _WIDTHS}
    best = max(same, key=same.__getitem__)
    if not same[best] or list(same.values()).count(same[best]) > 1:
        raise LostTabs(_TURNED)
    return best

"""Laying out a header's text: paragraphs and list items wrapped at word ends, never cut."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_ITEM = re.compile(r"(?P<mark>[-*+]|\d{1,3}[.)])[ ]+(?=\S)")


def laid_out(text: str, width: int, first: int = 0) -> list[str]:
    """Return ``text`` as lines of at most ``width`` characters, the first shorter by ``first``.

    Lines of a paragraph are joined and wrapped again; a line that begins with ``-``, ``*``, ``+`` or a number begins
    a list item, whose further lines hang below its text. A paragraph that begins with four blanks keeps its lines. A
    word longer than the width stands on a line alone.
    """
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if lines:
            lines.append("")
        if paragraph.startswith("    "):
            lines += paragraph.split("\n")
            continue
        for item in _items(paragraph):
            lines += _filled(item, width, 0 if lines else first)
    return [line.rstrip() for line in lines]


def _items(paragraph: str) -> Iterator[str]:
    held: list[str] = []
    for line in paragraph.split("\n"):
        if held and _ITEM.match(line.lstrip()):
            yield " ".join(held)
            held = []
        held.append(line.strip())
    yield " ".join(held)


def _filled(item: str, width: int, first: int) -> list[str]:
    mark = _ITEM.match(item)
    hang = " " * len(mark[0]) if mark else ""
    if item and " ".join(item.split()) == item:
        return _packed(item, width, first, hang)
    lines = textwrap.wrap(
        " " * first + item,
        width,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [lines[0][first:], *lines[1:]] if lines else []


def _packed(item: str, width: int, first: int, hang: str) -> list[str]:
    """Return words in as few lines as their order allows; what ``textwrap.wrap`` gives for single blanks, sooner."""
    lines = []
    at, before, room = 0, "", width - first
    while len(item) - at > room:
        end = item.rfind(" ", at, max(at, at + room + 1))
        if end < 0:
            end = item.find(" ", at)
        if end < 0:
            break
        lines.append(before + item[at:end])
        at, before, room = end + 1, hang, width - len(hang)
    return [*lines, before + item[at:]]

"""Plain text for people: columns that line up, shortened lines, colour on a terminal only, times."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime

_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOURS = {"red": "31", "green": "32", "cyan": "36", "bold": "1", "dim": "2"}


def coloured() -> bool:
    """Return whether stdout is a terminal that wants colour; ``NO_COLOR`` says no."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, *, on: bool) -> str:
    """Return text in a colour, or as it is."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if on else text


def harmless(text: str) -> str:
    """Return text without what steers a terminal: other control characters than tab and line feed become escapes."""
    return _STEERS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def columns(rows: Iterable[Sequence[str]], *, right: Sequence[int] = (), indent: int = 0) -> list[str]:
    """Return rows as lines whose columns line up, those in ``right`` to the right; the last one is not padded."""
    rows = [tuple(row) for row in rows]
    width = max(map(len, rows), default=0)
    widths = [max((len(row[at]) for row in rows if at < len(row)), default=0) for at in range(width)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(widths[at]) if at in right else cell if at == len(row) - 1 else cell.ljust(widths[at])
            for at, cell in enumerate(row)
        ]
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def shortened(text: str, *, most: int) -> str:
    """Return the first ``most`` lines of a text, and how many were left out."""
    lines = text.splitlines()
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[:most], f"[{len(lines) - most} more lines]"])


def on_one_line(text: str, *, most: int, rest: str = "...") -> str:
    """Return a text of several lines on one, at most so many characters of it and then what tells of the rest.

    >>> on_one_line("checks failed:\\nE   assert 1 == 2", most=20)
    'checks failed: E ass...'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most].rstrip() + rest


def indented(text: str, *, by: str = "    ") -> str:
    """Return a text with each of its lines moved in."""
    return "\n".join((by + line).rstrip() for line in text.splitlines())


def some(names: Sequence[str], *, most: int = 10) -> str:
    """Return names in a row, and how many were left out."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def moment(at: float, *, started_at: float, simulated: bool) -> str:
    """Return when: local time, or, where time is simulated, seconds since the run began; empty for never."""
    if not at:
        return ""
    if simulated:
        return f"+{at - started_at:.2f}s"
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def money(usd: float) -> str:
    """Return an amount of USD."""
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"

"""``counters``: agents that raise the same few counters, in one lane."""

from __future__ import annotations

from qodebase.commands.support.reproductions._asked import Ask, Taken
from qodebase.commands.support.reproductions._counting import count


def take(ask: Ask) -> Taken:
    """Do the work once."""
    return count(ask)

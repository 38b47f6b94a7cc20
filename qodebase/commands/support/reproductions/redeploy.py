"""``redeploy``: the counters work, its process killed in the middle and a new one started."""

from __future__ import annotations

from qodebase.commands.support.reproductions._asked import Ask, Taken
from qodebase.commands.support.reproductions._counting import count

_DIFFERS = (
    "the redeploy: the process that works on the run is killed (SIGKILL) once a third has landed, and another goes on"
)


def take(ask: Ask) -> Taken:
    """Do the work once."""
    return count(ask, kill=True, differs=(_DIFFERS,))

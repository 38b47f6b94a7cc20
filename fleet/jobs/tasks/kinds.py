"""The kinds of generated tasks: for each, what is asked, how a program does it, and the tests that judge it.

All tasks on one function are compatible: each is about values that no other looks at (a kind of its own, amounts of its
own beyond a thousand, a parameter of its own), so the hidden tests of each pass in whatever order all are done.
"""

from __future__ import annotations

from fleet.jobs.tasks import kinds_around, kinds_inside
from fleet.jobs.tasks.maker import Maker
from fleet.jobs.tasks.task import Task

_MAKERS = {**kinds_inside.MAKERS, **kinds_around.MAKERS}


def make(kind: str, maker: Maker) -> Task:
    """Return a task of a kind; renames are made by `kinds_around.rename`."""
    return _MAKERS[kind](maker)

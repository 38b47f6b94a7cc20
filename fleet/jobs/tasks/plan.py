"""What a generated world is to be."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fleet.jobs.tasks.codebase import FULL
from fleet.specs import from_parts, parts_of
from qodebase.errors import QodebaseError

TASKS = 1385
HOT_FUNCTIONS = 48
"""Hot functions of `TASKS` tasks; fewer tasks have fewer, in proportion."""

HOT_MODULES = 6


class BadWorld(QodebaseError):
    """A world that cannot be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a generated world is to be; the same plan gives the same world.

    Attributes:
        seed: what all is drawn from; the codebase and the choice of hot functions depend on nothing else but the two
            numbers below.
        tasks: how many.
        share: the part of them that is aimed at hot functions.
        hot_modules: how many modules hold the hot functions, 4 to 6.
        hot_functions: how many there are; 0: in proportion to the tasks.
    """

    seed: int = 0
    tasks: int = TASKS
    share: float = 0.0
    hot_modules: int = HOT_MODULES
    hot_functions: int = 0

    def __post_init__(self) -> None:
        if self.tasks < 1 or not 0 <= self.share <= 1:
            raise BadWorld("a world has at least one task, and a share of 0 to 1")
        if not 4 <= self.hot_modules <= 6:
            raise BadWorld(f"hot functions lie in 4 to 6 modules, not in {self.hot_modules}")
        most = FULL * self.hot_modules
        if self.hot_functions and not self.hot_modules <= self.hot_functions <= most:
            raise BadWorld(f"{self.hot_modules} modules have room for {self.hot_modules} to {most} hot functions")

    @property
    def hot(self) -> int:
        """Return how many hot functions there are."""
        wanted = self.hot_functions or round(HOT_FUNCTIONS * self.tasks / TASKS)
        return min(max(wanted, self.hot_modules), FULL * self.hot_modules)

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read ``seed=1,tasks=60,share=0.6``.

        Raises:
            BadWorld: a name or a value is not allowed.
        """
        return from_parts(cls, parts_of(text), what="a generated world", refused=BadWorld)

    @property
    def text(self) -> str:
        """Return it as text that `parse` reads back."""
        return ",".join(f"{entry.name}={getattr(self, entry.name)}" for entry in fields(self))

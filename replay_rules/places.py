"""Where a policy decides: the container's three versions, the region in it, and what a policy may say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from qodebase.collision import Declined
from replay_rules.parts import Container, Item


class Undecided(Exception):
    """Carry why a merge cannot be proved up to the rule's edge, where it becomes a `Declined`."""


class Region(NamedTuple):
    """What the three versions hold between two anchors; an anchor is None at the container's edge."""

    base: tuple[Item, ...]
    main: tuple[Item, ...]
    change: tuple[Item, ...]
    before: Item | None
    after: Item | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The container that a policy decides in, in its three versions."""

    base: Container
    main: Container
    change: Container
    idempotent: bool

    @property
    def role(self) -> str:
        """Return what kind of sequence it is."""
        return self.main.role

    def new_in(self, side: Container) -> list[Item]:
        """Return a side's items with keys that the base does not have."""
        known = {item.key for item in self.base.items}
        return [item for item in side.items if item.key not in known]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a rule can decide.

    Attributes:
        region: gives a region's items, or why not.
        twin: gives the one item for two of the same name that both sides added, or why not.
    """

    region: Callable[[Place, Region], tuple[Item, ...] | Declined] | None = None
    twin: Callable[[Place, Item, Item], Item | Declined] | None = None


def concatenate(place: Place, region: Region, main: Iterable[Item], change: Iterable[Item]) -> tuple[Item, ...]:
    """Return main's items and then the change's, blank lines between them as each side left before its own.

    At a container's beginning a side leaves its blank lines behind its items, so those are put between; where a side
    put its items behind the blank lines that stood there, these stay before the first alone.
    """
    first, second = tuple(main), tuple(change)
    if not first or not second:
        return first + second
    at = next(number for number, item in enumerate(place.change.items) if item is second[-1]) + 1
    behind = place.change.items[at].lead if at < len(place.change.items) else b""
    taken = region.after is not None and behind != region.after.lead == second[0].lead
    if taken or (region.before is None and not second[0].lead):
        second = (second[0]._replace(lead=behind), *second[1:])
    return first + second

"""What several rules ask of a region: only additions on both sides, and an order that nothing depends on."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from qodebase.collision import Declined
from replay_rules.parsing import Parsed
from replay_rules.parts import Item
from replay_rules.places import Place, Region, concatenate
from replay_rules.shapes import identifiers

_COUNTS = re.compile(rb"\b(auto|next|iota|count|yield|await)\b")


class Additions(NamedTuple):
    """The new items that each side put at one place."""

    main: tuple[Item, ...]
    change: tuple[Item, ...]


def additions(place: Place, region: Region) -> Additions | Declined:
    """Read a region as additions of both sides and nothing else."""
    if region.base:
        return Declined(why="one side removes or edits what stands where the other changes something: model")
    if not region.main or not region.change:
        return Declined(why="only one side adds something here: model")
    known = {item.key for item in place.base.items}
    if any(item.key in known for item in (*region.main, *region.change)):
        return Declined(why="one side moves what is there already: model")
    if {item.key for item in region.main} & {item.key for item in region.change}:
        return Declined(why="both sides add the same: model")
    return Additions(region.main, region.change)


def arranged(
    place: Place, region: Region, found: Additions, orders: Sequence[Callable[[Item], bytes]] = ()
) -> tuple[Item, ...]:
    """Return main's run with the change's new items: at their places where both sides keep an order, else behind."""
    inside = (*found.main[1:], *found.change[1:])
    blocks = _block(place.main.items, found.main), _block(place.change.items, found.change)
    for order in orders if not any(item.lead for item in inside) else ():
        if all(len(block) > 1 and _sorted(block, order) for block in blocks):
            run = sorted((*found.main, *found.change), key=order)
            edges = [item for item in (region.before, region.after) if item is not None and item.kind == run[0].kind]
            if all(order(edge) <= order(run[0]) or order(edge) >= order(run[-1]) for edge in edges):
                lead = found.main[0].lead
                return (run[0]._replace(lead=lead), *(item._replace(lead=b"") for item in run[1:]))
    return concatenate(place, region, found.main, found.change)


def _block(items: Sequence[Item], run: Sequence[Item]) -> list[Item]:
    """Return the run with what stands around it without a blank line between, of the run's kind."""
    first = next(number for number, item in enumerate(items) if item is run[0])
    last = first + len(run) - 1
    while first > 0 and not items[first].lead and items[first - 1].kind == run[0].kind:
        first -= 1
    while last + 1 < len(items) and not items[last + 1].lead and items[last + 1].kind == run[0].kind:
        last += 1
    return list(items[first : last + 1])


def is_sorted(place: Place, order: Callable[[Item], bytes]) -> bool:
    """Return whether all three versions keep an order, with at least two items in the base to show it."""
    sides = (place.base, place.main, place.change)
    return len(place.base.items) > 1 and all(_sorted(side.items, order) for side in sides)


def counts(items: Sequence[Item]) -> bool:
    """Return whether an item's value may depend on when it is computed (``auto()``, ``next(...)``)."""
    return any(_COUNTS.search(item.text) for item in items)


def mentions(parsed: Parsed, item: Item, names: set[bytes]) -> bool:
    """Return whether an item uses one of these plain names."""
    return item.node is not None and not names.isdisjoint(identifiers(parsed, item.node))


def _sorted(items: Sequence[Item], order: Callable[[Item], bytes]) -> bool:
    keys = [order(item) for item in items]
    return all(one <= two for one, two in itertools.pairwise(keys))

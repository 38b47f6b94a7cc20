"""Rule ``enum-members``: members that both sides appended to an enumeration.

Invariant: what a member that was there stands for stays the same. So members whose value comes from their place
(``auto()``, or none written) may only be appended; written values must be literals of which none is there twice, and
the two ways are not mixed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import additions
from replay_rules.parsing import Parsed
from replay_rules.parts import Container, Item
from replay_rules.places import Place, Policy, Region, concatenate
from replay_rules.sequences import PATHS, SEQUENCES, member_value
from replay_rules.shapes import literal
from replay_rules.weave import weave

APPLIES = ("*.py", "*.ts", "*.tsx", "*.mts", "*.cts", *PATHS)
ORDER = 220


def rule(collision: Collision) -> Resolved | Declined:
    r"""Append both sides' members.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"class Colour(Enum):\n    RED = auto()\n"
    >>> sides = [Side(content=base + text) for text in (b"", b"    BLUE = auto()\n", b"    GREEN = auto()\n")]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> print(result.content.decode(), end="")
    class Colour(Enum):
        RED = auto()
        BLUE = auto()
        GREEN = auto()
    """
    return weave(collision, POLICIES)


def appended(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return main's new members and then the change's."""
    if place.role not in ("enum", "enum-list"):
        return Declined(why="no place for enum members")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    if any(item.kind != "member" for item in (*found.main, *found.change)):
        return Declined(why="more than members is added to an enumeration: model")
    main, change = (_values(side) for side in (place.main, place.change))
    if main is None or change is None:
        return Declined(why="a member's value is no literal: model")
    new = [main[item.name] for item in found.main] + [change[item.name] for item in found.change]
    if all(value is None for value in (*main.values(), *change.values())):
        later = place.base.items[place.base.items.index(region.before) + 1 :] if region.before else place.base.items
        if any(item.kind == "member" for item in later):
            return Declined(why="members inserted before others move their values: model")
        if any(b"iota" in item.text for item in (*found.main, *found.change)):
            return Declined(why="a member without a value repeats the expression above it: model")
        return concatenate(place, region, found.main, found.change)
    if any(value is None for value in (*main.values(), *change.values())):
        return Declined(why="written and counted values are mixed: model")
    old = {value for name, value in main.items() if name not in {item.name for item in found.main}}
    if len(set(new)) != len(new) or not old.isdisjoint(new):
        return Declined(why="two members have one value: model")
    return concatenate(place, region, found.main, found.change)


def _values(side: Container) -> dict[bytes, bytes | None] | None:
    """Return name to literal, or to None where the place gives the value; None where a value is neither."""
    values: dict[bytes, bytes | None] = {}
    for item in _members(side.items):
        if item.node is None:
            return None
        value = _value(side.parsed, item)
        if value == b"":
            return None
        values[item.name] = value
    return values


def _value(parsed: Parsed, item: Item) -> bytes | None:
    node = item.node
    if node is None:
        return b""
    if parsed.language in SEQUENCES:
        return member_value(parsed, node)
    if node.type == "expression_statement":
        node = node.named_children[0].child_by_field_name("right")
    elif node.type == "enum_assignment":
        node = node.child_by_field_name("value")
    else:
        return None
    if node is None:
        return b""
    if re.fullmatch(rb"(\w+\.)?auto\(\)", parsed.text(node)):
        return None
    return literal(parsed, node) or b""


def _members(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.kind == "member"]


POLICIES = (Policy(region=appended),)

"""Rule ``symbols-added``: functions, classes, methods and tests that both sides added at one place stand side by side.

Main's come first, then the change's, each whole with its decorators and the comment above it. Invariant: definitions of
different, new names do not depend on their order, as long as none of them uses a name that the other side introduces,
and as long as their decorators do not put them into one ordered table under overlapping keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import additions, arranged, mentions
from replay_rules.parsing import Parsed
from replay_rules.parts import Container, Item, cut_once
from replay_rules.places import Place, Policy, Region
from replay_rules.routes import clash
from replay_rules.sequences import PATHS, SEQUENCES
from replay_rules.shapes import bound_name
from replay_rules.weave import weave

APPLIES = ("*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts", *PATHS)
ORDER = 210


def rule(collision: Collision) -> Resolved | Declined:
    r"""Put both sides' new definitions one behind the other.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"def a():\n    return 1\n"
    >>> b, c = b"\n\ndef b():\n    return 2\n", b"\n\ndef c():\n    return 3\n"
    >>> sides = [Side(content=text) for text in (base, base + b, base + c)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == base + b + c
    True
    """
    return weave(collision, POLICIES, needed=False)


def side_by_side(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return main's new definitions and then the change's."""
    if place.role not in ("body", "class", "members"):
        return Declined(why="no place for definitions")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    for side, items in ((place.main, found.main), (place.change, found.change)):
        for item in items:
            if not _orderless(place, side, item):
                return Declined(why="both sides put statements at one place, whose order matters: model")
    why = _meet(place, found.main, found.change)
    return Declined(why=why) if why else arranged(place, region, found)


def _orderless(place: Place, side: Container, item: Item) -> bool:
    if item.kind in ("def", "comment"):
        return True
    if place.role != "body" or item.node is None:
        return False
    name = bound_name(side.parsed, item.node)
    return name is not None and not re.search(rb"\b" + re.escape(name) + rb"\b", place.base.parsed.content)


def _meet(place: Place, main: Sequence[Item], change: Sequence[Item]) -> str:
    """Return how the two sides' additions touch each other, or the empty text."""
    sides = ((place.main.parsed, main), (place.change.parsed, change))
    if place.main.parsed.language in SEQUENCES and _names(*sides[0]) & _names(*sides[1]):
        return "both sides add definitions of one name: model"
    for (parsed, items), (others, theirs) in (sides, sides[::-1]):
        own = _own(place, parsed)
        names = _names(others, [item for item in theirs if item.key not in own])
        for item in items:
            scoped = place.role == "body" or parsed.language in SEQUENCES or parsed.language == "python"
            if scoped and mentions(parsed, item, names):
                return "one side's addition uses a name that the other side introduces: model"
            if place.role == "class" and _uses_member(item, names):
                return "one side's method uses a member that the other side introduces: model"
    for one in main:
        for other in change:
            why = clash(place.main.parsed, one, place.change.parsed, other)
            if why:
                return why
    return ""


def _own(place: Place, parsed: Parsed) -> set[tuple[str, bytes]]:
    """Return what a version of the file defines at its top, equal twins among them, which a place holds only once."""
    whole = cut_once(parsed.language, parsed.content) if place.main.node.parent is None else None
    return {item.key for item in whole.items if item.kind == "def"} if whole is not None else set()


def _names(parsed: Parsed, items: Sequence[Item]) -> set[bytes]:
    named = [item for item in items if item.kind == "def" and not _is_nameless(item)]
    names = {item.name.split(b" ")[-1] for item in named}
    bound = {bound_name(parsed, item.node) for item in items if item.node is not None and item.kind != "def"}
    return names | {name for name in bound if name is not None}


def _is_nameless(item: Item) -> bool:
    """Return whether a definition gives no name to the file: a test with a title, or more of a type that is there."""
    return item.name.startswith(b"extension ") or (item.node is not None and item.node.type == "call")


def _uses_member(item: Item, names: set[bytes]) -> bool:
    found = re.findall(rb"\b(?:self|cls|this)\s*\.\s*(\w+)", item.text)
    return not names.isdisjoint(found)


POLICIES = (Policy(region=side_by_side),)

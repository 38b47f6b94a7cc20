"""Rule ``table-rows``: rows that both sides added to one table, a list of like rows or the cases of one test.

Invariant: the cases of a parametrised test may run in any order. Any other table must be sorted in all versions by the
literals that its rows begin with, and these are unique: then there is one place for each row, and whoever reads the
table from top to bottom finds what it would find in both sides' versions. An unsorted table may be searched for the
first row that fits, so it is declined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import additions, arranged
from replay_rules.parsing import Parsed
from replay_rules.parts import Container, Item
from replay_rules.places import Place, Policy, Region
from replay_rules.shapes import literal, tokens
from replay_rules.weave import weave

if TYPE_CHECKING:
    from tree_sitter import Node

APPLIES = ("*.py", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts")
ORDER = 310

_ROWS = frozenset({"tuple", "list", "array", "object"})


def rule(collision: Collision) -> Resolved | Declined:
    r"""Insert both sides' rows.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"RATES = [\n    ('a', 1),\n    ('f', 6),\n]\n"
    >>> c, b = b"    ('c', 3),\n", b"    ('b', 2),\n"
    >>> last = b"    ('f', 6),\n"
    >>> sides = [Side(content=base.replace(last, text + last)) for text in (b"", c, b)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == base.replace(last, b + c + last)
    True
    """
    return weave(collision, POLICIES)


def rows(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return both sides' rows."""
    if place.role != "list":
        return Declined(why="no place for rows")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    if _cases(place.main):
        return _any_order(place, region)
    heads = [_heads(side) for side in (place.base, place.main, place.change)]
    base, main, change = heads
    if base is None or main is None or change is None or len(base) < 2:
        return Declined(why="the rows do not begin with literals, so their order may matter: model")
    new = {*main, *change}
    if len(new) != len(main) + len(change) - len(set(main) & set(change)) or set(main) & set(change) - set(base):
        return Declined(why="two rows begin alike: model")
    for head in heads:
        if head is None or list(head) != sorted(set(head), key=_rank):
            return Declined(why="the table is not sorted, so the order of its rows may matter: model")
    if len({head[:1] for head in new}) > 1:
        return Declined(why="the rows begin with different kinds of literals: model")
    by_item = {**{_at(item): key for item, key in zip(place.change.items, change, strict=True)}}
    by_item |= {_at(item): key for item, key in zip(place.main.items, main, strict=True)}
    return tuple(sorted((*found.main, *found.change), key=lambda item: _rank(by_item[_at(item)])))


def _any_order(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    texts = {_spelled(place.main.parsed, item) for item in found.main}
    if texts & {_spelled(place.change.parsed, item) for item in found.change}:
        return Declined(why="both sides add the same row: model")
    return arranged(place, region, found)


def _spelled(parsed: Parsed, item: Item) -> tuple[bytes, ...]:
    return tuple(text for _, text in tokens(parsed, item.node)) if item.node is not None else (item.text,)


def _heads(side: Container) -> tuple[bytes, ...] | None:
    heads = []
    for item in side.items:
        head = _head(side.parsed, item.node) if item.node is not None else None
        if head is None:
            return None
        heads.append(head)
    return tuple(heads)


def _head(parsed: Parsed, node: Node) -> bytes | None:
    """Return the literal that a row begins with; a row may be that literal alone."""
    alone = literal(parsed, node)
    if alone is not None:
        return alone
    if node.type not in _ROWS or not node.named_children:
        return None
    first = node.named_children[0]
    if first.type == "pair":
        key, value = first.child_by_field_name("key"), first.child_by_field_name("value")
        if key is None or value is None or parsed.text(key) not in (b"id", b"key", b"name", b"code"):
            return None
        first = value
    return literal(parsed, first)


def _rank(head: bytes) -> tuple[int, bytes]:
    return (int(head[1:]), b"") if head[:1] == b"n" else (0, head)


def _at(item: Item) -> bytes:
    return item.text + item.note


def _cases(side: Container) -> bool:
    """Return whether a list holds the cases of a parametrised test."""
    above = side.node.parent
    call = above.parent if above is not None else None
    if above is None or call is None or above.type != "argument_list" or call.type != "call":
        return False
    called = call.child_by_field_name("function")
    name = side.parsed.text(called) if called is not None else b""
    return name.endswith(b"mark.parametrize") and above.named_child_count > 1 and above.named_children[1] == side.node


POLICIES = (Policy(region=rows),)

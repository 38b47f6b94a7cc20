"""Rule ``signature-union``: parameters that both sides added to one function, with what they add to its result.

Invariant: every new parameter may be left out by a caller, main's stand first, and no caller in the change's file hands
a new one over by its place. Where both sides extend one computation, each extension must be a sum or a product of plain
numbers and of that side's own new parameters, whose defaults are numbers: these commute, anything else is declined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import Additions, additions
from replay_rules.parsing import Parsed
from replay_rules.parts import Container, Item, cut
from replay_rules.places import Place, Policy, Region, concatenate
from replay_rules.weave import weave

if TYPE_CHECKING:
    from tree_sitter import Node

APPLIES = ("*.py", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts")
ORDER = 320

_OPTIONAL = frozenset(
    {
        "default_parameter",
        "typed_default_parameter",
        "assignment_pattern",
        "optional_parameter",
        "object_assignment_pattern",
        "shorthand_property_identifier_pattern",
    }
)
_REST = frozenset(
    {"list_splat_pattern", "dictionary_splat_pattern", "rest_pattern", "keyword_separator", "typed_parameter"}
)
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
_ARITHMETIC = frozenset({"binary_operator", "binary_expression", "parenthesized_expression"})
_FUNCTIONS = frozenset({"function_definition", "function_declaration", "method_definition", "arrow_function"})
_CLASSES = frozenset({"class_definition", "class_declaration", "abstract_class_declaration", "class"})
_SELF = frozenset({b"super", b"cls"})
_SUMS = frozenset({b"+", b"-"})


class Tail(NamedTuple):
    """What one side added at the end of an expression, and what closes its statement."""

    closing: bytes
    operator: bytes
    added: bytes


def rule(collision: Collision) -> Resolved | Declined:
    r"""Unite two signatures.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"def f(a):\n    return a\n"
    >>> main = b"def f(a, b=0):\n    return a + b\n"
    >>> sides = [Side(content=text) for text in (base, main, main.replace(b"b", b"c"))]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> print(result.content.decode(), end="")
    def f(a, b=0, c=0):
        return a + b + c
    """
    return weave(collision, POLICIES)


def united(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return main's new parameters and then the change's."""
    if place.role != "params":
        return Declined(why="no place for parameters")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    keyed = place.main.node.type == "object_pattern"
    for side, items in ((place.main, found.main), (place.change, found.change)):
        if any(item.kind != "param" or not _optional(item, side, keyed=keyed) for item in items):
            return Declined(why="a new parameter must be given by every caller: model")
    if not keyed and not _by_keyword(place):
        last = region.after
        if last is not None and (last.node is None or last.node.type not in _REST):
            return Declined(why="parameters put before others move their places: model")
        if _given_by_place(place):
            return Declined(why="a caller hands a new parameter over by its place: model")
    return concatenate(place, region, found.main, found.change)


def commuting(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return statements that both sides extended by amounts that commute."""
    if place.role != "body":
        return Declined(why="no place for statements")
    names = (_new_numbers(place, place.main), _new_numbers(place, place.change))
    if not region.base:
        found = additions(place, region)
        return found if isinstance(found, Declined) else _augmented(place, region, found, names)
    if not len(region.base) == len(region.main) == len(region.change) == 1:
        return Declined(why="both sides changed the same statements: model")
    base, main, change = region.base[0], region.main[0], region.change[0]
    first = _tail(place.base.parsed, base, place.main.parsed, main, names[0])
    second = _tail(place.base.parsed, base, place.change.parsed, change, names[1])
    if first is None or second is None or first.closing != second.closing:
        return Declined(why="both sides changed one result, and not by amounts that commute: model")
    operators = {first.operator, second.operator}
    if not (operators <= _SUMS or operators == {b"*"}):
        return Declined(why="a sum and a product do not commute: model")
    if b"+" in operators and place.main.parsed.language != "python":
        return Declined(why="a plus may join texts, whose order matters: model")
    end = len(main.text) - len(first.closing)
    extended = b" ".join([main.text[:end], second.operator, second.added]) + first.closing
    return (main._replace(text=extended),)


def _optional(item: Item, side: Container, *, keyed: bool) -> bool:
    node = item.node
    if node is None:
        return False
    if node.type == "shorthand_property_identifier_pattern":
        return keyed
    return node.type in _OPTIONAL or (
        node.type == "required_parameter" and node.child_by_field_name("value") is not None
    )


def _by_keyword(place: Place) -> bool:
    """Return whether the additions stand behind a lone star, where Python takes them by keyword only."""
    for side in (place.main, place.change):
        stars = [
            number
            for number, item in enumerate(side.items)
            if item.node is not None and item.node.type in ("keyword_separator", "list_splat_pattern")
        ]
        new = {item.key for item in place.new_in(side)}
        if not stars or any(item.key in new for item in side.items[: stars[0]]):
            return False
    return True


def _given_by_place(place: Place) -> bool:
    """Return whether the change's file calls the function with more places than the base has, or hands it on anew."""
    above = place.change.node.parent
    name = above.child_by_field_name("name") if above is not None else None
    if name is None:
        return True
    parsed = place.change.parsed
    wanted = _called(parsed, name)
    if _handed_on(parsed, wanted - _SELF) > _handed_on(place.base.parsed, wanted - _SELF):
        return True
    known = sum(1 for item in place.base.items if item.kind == "param")
    method = bool(place.base.items) and place.base.items[0].name in (b"self", b"cls")
    for call in parsed.nodes("call", "call_expression", "new_expression"):
        called, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        called = called or call.child_by_field_name("constructor")
        if called is None or given is None or given.type not in ("argument_list", "arguments"):
            continue
        if parsed.text(called).rpartition(b".")[2] not in wanted:
            continue
        places = [child for child in given.named_children if child.type not in ("keyword_argument", "comment")]
        if any("splat" in child.type or "spread" in child.type for child in places):
            return True
        if len(places) > known - method:
            return True
    return False


def _called(parsed: Parsed, name: Node) -> frozenset[bytes]:
    """Return what calls say for a function: a constructor is called by its class, or from below it."""
    own = parsed.text(name)
    if own not in (b"__init__", b"__new__", b"constructor"):
        return frozenset({own})
    at = name.parent
    while at is not None and at.type not in _CLASSES:
        at = at.parent
    above = at.child_by_field_name("name") if at is not None else None
    return frozenset({own, *_SELF, *([parsed.text(above)] if above is not None else [])})


def _handed_on(parsed: Parsed, names: frozenset[bytes]) -> int:
    """Count where a function's name stands without being called: in ``partial(f, 1)`` a place is given, too."""
    found = [node for node in parsed.nodes("identifier", "property_identifier") if parsed.text(node) in names]
    return sum(1 for node in found if not _is_called(node))


def _is_called(node: Node) -> bool:
    above = node.parent
    if above is not None and above.type in ("attribute", "member_expression"):
        if above.child_by_field_name("object") == node:
            return True
        node, above = above, above.parent
    fields = ("function", "constructor", "name", "superclasses")
    return above is not None and any(above.child_by_field_name(field) == node for field in fields)


def _new_numbers(place: Place, side: Container) -> frozenset[bytes]:
    """Return the parameters with a number for default that a side added to the function around."""
    old, new = _parameters(place.base), _parameters(side)
    if old is None or new is None:
        return frozenset()
    known = {item.name for item in old.items}
    return frozenset(
        item.name
        for item in new.items
        if item.name and item.name not in known and item.node is not None and _counts(side.parsed, item.node)
    )


def _counts(parsed: Parsed, node: Node) -> bool:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    return value is not None and _NUMBER.fullmatch(parsed.text(value)) is not None


def _parameters(side: Container) -> Container | None:
    node: Node | None = side.node
    while node is not None and node.type not in _FUNCTIONS:
        node = node.parent
    found = node.child_by_field_name("parameters") if node is not None else None
    return cut(side.parsed, found) if found is not None else None


def _augmented(
    place: Place, region: Region, found: Additions, names: Sequence[frozenset[bytes]]
) -> tuple[Item, ...] | Declined:
    targets = set()
    for side, items, own in ((place.main, found.main, names[0]), (place.change, found.change, names[1])):
        for item in items:
            target = _target(side.parsed, item, own)
            if target is None:
                return Declined(why="both sides put statements at one place, whose order matters: model")
            targets.add(target)
    if len({operator == b"*=" for _, operator in targets}) > 1 or len({name for name, _ in targets}) > 1:
        return Declined(why="a sum and a product do not commute: model")
    return concatenate(place, region, found.main, found.change)


def _target(parsed: Parsed, item: Item, own: frozenset[bytes]) -> tuple[bytes, bytes] | None:
    """Return what a statement like ``total += rate`` adds to, and its operator."""
    node = item.node
    if node is None or node.type != "expression_statement" or node.named_child_count != 1:
        return None
    only = node.named_children[0]
    if only.type not in ("augmented_assignment", "augmented_assignment_expression") or only.child_count != 3:
        return None
    left, operator, right = only.children
    sign = parsed.text(operator)
    plus = sign == b"+=" and parsed.language == "python"
    if left.type != "identifier" or not (plus or sign in (b"-=", b"*=")) or not _numeric(parsed, right, own):
        return None
    return parsed.text(left), sign


def _tail(base: Parsed, old: Item, side: Parsed, new: Item, own: frozenset[bytes]) -> Tail | None:
    """Read a statement as the base's with an amount added at the end of its expression."""
    if old.node is None or new.node is None or old.node.type != new.node.type:
        return None
    if old.text[: old.at] != new.text[: new.at] or old.note or new.note:
        return None
    for node in _last_expressions(new.node):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None or not _numeric(side, right, own):
            continue
        end = new.at + left.end_byte - new.node.start_byte
        tail = new.text[new.at + right.end_byte - new.node.start_byte :]
        if new.text[:end] + tail == old.text and tail.strip() in (b"", b";"):
            return Tail(tail, side.text(operator), side.text(right))
    return None


def _last_expressions(node: Node) -> Iterator[Node]:
    """Yield the arithmetic expressions that a statement's value is, none inside of another."""
    for child in node.named_children:
        if child.type in ("binary_operator", "binary_expression"):
            yield child
        elif child.type in ("assignment", "variable_declarator"):
            yield from _last_expressions(child)


def _numeric(parsed: Parsed, node: Node, own: frozenset[bytes]) -> bool:
    """Return whether an expression is made of numbers and a side's own new parameters alone."""
    pending = [node]
    while pending:
        here = pending.pop()
        if here.type in _ARITHMETIC:
            operator = here.child_by_field_name("operator")
            if operator is not None and parsed.text(operator) not in (b"+", b"-", b"*"):
                return False
            pending += here.named_children
        elif here.type == "identifier":
            if parsed.text(here) not in own:
                return False
        elif not _NUMBER.fullmatch(parsed.text(here)):
            return False
    return True


POLICIES = (Policy(region=united), Policy(region=commuting))

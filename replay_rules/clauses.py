"""Rule ``clauses``: clauses that both sides added to one decision, where no value can meet both.

A decision is an ``if`` and ``elif`` chain, a row of ``if`` statements, a ``match`` or a ``switch``. Invariant: every
new clause compares one and the same subject with literals, and no literal is met by two clauses; a clause of a row of
``if`` statements leaves the function or the loop, and a ``case`` does not fall through. Guards with any other
condition may overlap, and then their order matters: they are declined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import additions, arranged
from replay_rules.parsing import Parsed
from replay_rules.parts import Container, Item
from replay_rules.places import Place, Policy, Region
from replay_rules.shapes import is_comment, literal
from replay_rules.weave import weave

if TYPE_CHECKING:
    from tree_sitter import Node

APPLIES = ("*.py", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts")
ORDER = 300

_LEAVES = frozenset({"return_statement", "raise_statement", "throw_statement", "continue_statement", "break_statement"})
_NUMERIC = re.compile(rb"s\s*([-+.\d]|Infinity|$)")
"""A text that is loosely equal to a number in JavaScript, and so perhaps to what another clause compares with."""
_SUBJECT = re.compile(rb"[A-Za-z_]\w*(\.\w+)*")


class Clause(NamedTuple):
    """A subject and the literals that it is compared with."""

    subject: bytes
    values: frozenset[bytes]


def rule(collision: Collision) -> Resolved | Declined:
    r"""Put both sides' clauses one behind the other.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"def f(k):\n    if k == 'a':\n        return 1\n    return 0\n"
    >>> b, c = b"    if k == 'b':\n        return 2\n", b"    if k == 'c':\n        return 3\n"
    >>> last = b"    return 0\n"
    >>> sides = [Side(content=base.replace(last, text + last)) for text in (b"", b, c)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == base.replace(last, b + c + last)
    True
    """
    return weave(collision, POLICIES)


def clause_with_clause(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return main's new clauses and then the change's."""
    if place.role not in ("chain", "cases", "body"):
        return Declined(why="no place for clauses")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    if place.role == "chain" and region.before is None:
        return Declined(why="both sides put a clause first: model")
    main = _clauses(place, place.main, found.main)
    change = _clauses(place, place.change, found.change)
    if isinstance(main, Declined):
        return main
    if isinstance(change, Declined):
        return change
    subjects = {clause.subject for clause in (*main, *change)}
    if len(subjects) > 1:
        return Declined(why="the clauses of both sides look at different things, so their order may matter: model")
    values = [value for clause in (*main, *change) for value in clause.values]
    if len(set(values)) != len(values):
        return Declined(why="clauses of both sides meet the same value: model")
    if place.role == "cases" and not _closed(region, place):
        return Declined(why="a case falls through: model")
    return arranged(place, region, found)


def _clauses(place: Place, side: Container, items: Sequence[Item]) -> list[Clause] | Declined:
    clauses = []
    for item in items:
        read = _clause(place.role, side.parsed, item)
        if read is None:
            return Declined(why="the order of the guards that both sides add may matter: model")
        clauses.append(read)
    return clauses


def _clause(role: str, parsed: Parsed, item: Item) -> Clause | None:
    node = item.node
    if node is None:
        return None
    if role == "cases":
        return _case(parsed, node)
    if role == "chain":
        condition = node.child_by_field_name("condition") if node.type == "elif_clause" else None
    elif node.type == "if_statement" and node.child_by_field_name("alternative") is None and _ends(node):
        condition = node.child_by_field_name("condition")
    else:
        return None
    return _compared(parsed, condition) if condition is not None else None


def _compared(parsed: Parsed, node: Node) -> Clause | None:
    """Read ``subject == literal`` or ``subject in (literals)``."""
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    if node.type not in ("comparison_operator", "binary_expression") or node.child_count != 3:
        return None
    subject, operator, other = node.children
    text = parsed.text(subject)
    if not _SUBJECT.fullmatch(text):
        return None
    sign = parsed.text(operator)
    if sign in (b"==", b"==="):
        value = literal(parsed, other)
        if sign == b"==" and parsed.language != "python" and value is not None and _NUMERIC.match(value):
            return None
        return Clause(text, frozenset({value})) if value is not None else None
    if sign == b"in" and parsed.language == "python" and other.type in ("tuple", "list", "set"):
        values = [literal(parsed, child) for child in other.named_children]
        known = [value for value in values if value is not None]
        return Clause(text, frozenset(known)) if known and len(known) == len(values) else None
    return None


def _case(parsed: Parsed, node: Node) -> Clause | None:
    """Read a case of literals; a guard, a capture or a class may meet anything."""
    if node.type == "switch_case":
        value = node.child_by_field_name("value")
        found = literal(parsed, value) if value is not None else None
        return Clause(b"", frozenset({found})) if found is not None else None
    if node.type != "case_clause" or node.child_by_field_name("guard") is not None:
        return None
    patterns = [child for child in node.named_children if child.type == "case_pattern"]
    if len(patterns) != 1 or not patterns[0].named_children:
        return None
    only = patterns[0].named_children[0]
    parts = only.named_children if only.type == "union_pattern" else [only]
    values = [literal(parsed, part) for part in parts]
    known = [value for value in values if value is not None]
    return Clause(b"", frozenset(known)) if known and len(known) == len(values) else None


def _closed(region: Region, place: Place) -> bool:
    """Return whether no case before or among the new ones runs into the next."""
    if place.main.node.type != "switch_body":
        return True
    before = [region.before] if region.before is not None else []
    return all(item.node is not None and _ends(item.node) for item in (*before, *region.main, *region.change))


def _ends(node: Node) -> bool:
    """Return whether the statement's own block certainly leaves it by its last statement."""
    block = node.child_by_field_name("consequence")
    body = block.named_children if block is not None and block.type in ("block", "statement_block") else None
    if node.type == "switch_case":
        body = node.children_by_field_name("body")
        if len(body) == 1 and body[0].type == "statement_block":
            body = body[0].named_children
    if block is not None and body is None:
        body = [block]
    last = next((child for child in reversed(body or []) if not is_comment(child)), None)
    return last is not None and last.type in _LEAVES


POLICIES = (Policy(region=clause_with_clause),)

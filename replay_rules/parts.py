"""Cut a syntax tree's containers into items: whole statements, clauses, dictionary entries, parameters.

A container is a node whose children are a sequence that a rule may know how to put together: a file's body, a class,
a dictionary, an import's names. It comes in two layouts: *lines*, where every item has rows of its own, and *inline*,
where all stand in one row between commas. Whatever fits neither is no container here, and is left whole.

Every byte of a container is in its prefix, in one item's lead or text, in a comma, or in its suffix, so putting the
items together again gives the container back.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from qodebase.paths import RepoPath
from replay_rules.grammars import GRAMMARS, language_of
from replay_rules.kept import kept
from replay_rules.parsing import Parsed, parsed_once
from replay_rules.shapes import is_comment, is_loose, label, role_of

if TYPE_CHECKING:
    from tree_sitter import Node

_BARE = frozenset(
    {"module", "program", "block", "source_file", "compilation_unit", "translation_unit", "body_statement"}
)
_OPENING = frozenset({"{", "(", "["})
_COMMAS = frozenset({"pairs", "list", "set", "params", "names", "enum-list"})


class Item(NamedTuple):
    """One element of a container.

    ``lead`` are the blank lines before it, ``text`` its rows (or bytes) without the last line end and without the
    comma, ``note`` what follows the comma in its last row. ``kind`` and ``name`` are as `replay_rules.shapes.label`
    gives them; ``key`` is what finds it again in another version; ``node`` begins at byte ``at`` of ``text``.
    """

    key: tuple[str, bytes]
    kind: str
    name: bytes
    lead: bytes
    text: bytes
    note: bytes
    node: Node | None
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A node cut into items; ``role`` says what kind of sequence it is, ``indent`` what its first row holds
    before it, ``gap`` what stands behind every comma of an inline one."""

    role: str
    parsed: Parsed
    node: Node
    prefix: bytes
    items: tuple[Item, ...]
    suffix: bytes
    inline: bool
    comma: bool
    last_comma: bool
    indent: bytes
    gap: bytes = b" "


def grammar_of(path: RepoPath) -> str | None:
    """Return the grammar of a path by its ending, or None for a language that the structure rules do not know."""
    language = language_of(path)
    return language if language in GRAMMARS else None


@kept(1 << 20)
def cut_once(language: str, content: bytes) -> Container | None:
    """Cut a whole file; kept as its tree is."""
    parsed = parsed_once(language, content)
    return cut(parsed, parsed.root)


def cut(parsed: Parsed, node: Node) -> Container | None:
    """Cut a node into items, or return None where it is no container or its layout is neither of the two."""
    role = role_of(parsed, node)
    if role is None:
        return None
    if role == "chain":
        return _lines(parsed, node, role, list(node.children), comma=False)
    opening, children, closing = _inside(parsed, node, role)
    comma = role in _COMMAS
    rows = (node.start_point[0], node.end_point[0])
    if rows[0] == rows[1] and node.type not in _BARE:
        return _inline(parsed, node, role, opening, children, closing) if comma else None
    return _lines(parsed, node, role, children, comma=comma, opening=opening, closing=closing)


def join(container: Container, items: tuple[Item, ...]) -> bytes:
    """Return the container's bytes with other items."""
    parts = [container.prefix]
    for number, item in enumerate(items):
        last = number == len(items) - 1
        comma = b"," if container.comma and (not last or container.last_comma) else b""
        if container.inline:
            parts.append(item.text + comma + (b"" if last else container.gap))
        else:
            parts.append(item.lead + item.text + comma + item.note + (b"" if last else b"\n"))
    return b"".join([*parts, container.suffix])


def _inside(parsed: Parsed, node: Node, role: str) -> tuple[int, list[Node], int]:
    """Return where a container's inside begins, its children, and where the inside ends; offsets are bytes."""
    children = list(node.children)
    if role == "names" and node.type == "import_from_statement":
        at = next(number for number, child in enumerate(children) if child.type == "import")
        children = children[at + 1 :]
        if children and children[0].type == "(":
            return children[0].end_byte, children[1:-1], children[-1].start_byte
        return children[0].start_byte, children, node.end_byte
    if node.type in _BARE or not children:
        return node.start_byte, children, node.end_byte
    opening = next((number for number, child in enumerate(children) if child.type in _OPENING), 0)
    return children[opening].end_byte, children[opening + 1 : -1], children[-1].start_byte


def _inline(
    parsed: Parsed, node: Node, role: str, opening: int, children: list[Node], closing: int
) -> Container | None:
    named = [child for child in children if child.type != ","]
    if not named:
        start = end = opening
    else:
        start, end = named[0].start_byte, named[-1].end_byte
    tail = parsed.content[end:closing]
    last_comma = tail.lstrip().startswith(b",")
    items = []
    for child in named:
        if is_comment(child):
            return None
        kind, name = label(parsed, child, role)
        text = parsed.text(child)
        items.append(Item(_key(kind, name, text), kind, name, b"", text, b"", child))
    between = [parsed.content[one.end_byte : two.start_byte] for one, two in itertools.pairwise(named)]
    gaps = {gap[1:] for gap in between}
    if any(gap[:1] != b"," or gap.strip() != b"," for gap in between) or len(gaps) > 1:
        return None
    suffix = tail.replace(b",", b"", 1) if last_comma else tail
    return Container(
        role=role,
        parsed=parsed,
        node=node,
        prefix=parsed.content[node.start_byte : start],
        items=tuple(items),
        suffix=suffix + parsed.content[closing : node.end_byte],
        inline=True,
        comma=True,
        last_comma=last_comma,
        indent=b"",
        gap=gaps.pop() if gaps else b" ",
    )


class _Group:
    """Nodes that share rows, so that only together they are whole lines."""

    def __init__(self, node: Node, first: int, last: int) -> None:
        self.nodes = [node]
        self.first = first
        self.last = last
        self.comma: int | None = None

    @property
    def loose(self) -> bool:
        """Return whether it is a comment or an attribute alone, which may belong to what follows."""
        return all(is_loose(node) for node in self.nodes)


def _groups(children: list[Node], role: str, *, comma: bool) -> list[_Group] | None:
    groups: list[_Group] = []
    for child in children:
        first, last = _rows(child)
        if comma and child.type == ",":
            if not groups or groups[-1].loose or groups[-1].comma is not None:
                return None
            groups[-1].comma = child.start_byte
            groups[-1].last = max(groups[-1].last, last)
            continue
        joined = role == "chain" and child.type not in ("elif_clause", "else_clause")
        if groups and (first <= groups[-1].last or joined):
            groups[-1].nodes.append(child)
            groups[-1].last = max(groups[-1].last, last)
            continue
        group = _Group(child, first, last)
        if groups and groups[-1].loose and not is_loose(child) and groups[-1].last + 1 == first:
            before = groups.pop()
            group.nodes = [*before.nodes, *group.nodes]
            group.first = before.first
        elif groups and groups[-1].loose and is_loose(child) and groups[-1].last + 1 == first:
            groups[-1].nodes.append(child)
            groups[-1].last = last
            continue
        groups.append(group)
    return groups


def _lines(
    parsed: Parsed,
    node: Node,
    role: str,
    children: list[Node],
    *,
    comma: bool,
    opening: int | None = None,
    closing: int | None = None,
) -> Container | None:
    content = parsed.content
    groups = _groups(children, role, comma=comma)
    if not groups:
        return None
    bare = node.type in _BARE or role == "chain"
    starts = [content.rfind(b"\n", 0, group.nodes[0].start_byte) + 1 for group in groups]
    ends = [_line_end(content, max(group.nodes[-1].end_byte, group.comma or 0)) for group in groups]
    first = starts[0]
    indent = content[first : groups[0].nodes[0].start_byte]
    if indent.strip():
        return None
    if bare:
        begin = 0 if node.parent is None else first
        ends[-1] = min(ends[-1], node.end_byte)
        finish = content[ends[-1] : node.end_byte] if node.parent is not None else content[ends[-1] :]
        prefix = content[node.start_byte : begin]
    else:
        if opening is None or closing is None or opening > first or ends[-1] >= closing:
            return None
        begin = first
        prefix = content[node.start_byte : first]
        if prefix[opening - node.start_byte :].strip():
            return None
        finish = content[ends[-1] : node.end_byte]
        if content[ends[-1] : closing].strip():
            return None
    items = []
    at = begin
    for group, start, end in zip(groups, starts, ends, strict=True):
        lead = content[at:start]
        if lead.strip():
            return None
        item = _item(parsed, group, role, lead, start, end, comma=comma)
        if item is None:
            return None
        items.append(item)
        at = min(end + 1, len(content))
    last_comma = comma and next((group for group in reversed(groups) if not group.loose), groups[-1]).comma is not None
    if comma and any(group.comma is None for group in groups[:-1]):
        return None
    return Container(
        role=role,
        parsed=parsed,
        node=node,
        prefix=prefix,
        items=tuple(items),
        suffix=finish,
        inline=False,
        comma=comma,
        last_comma=last_comma,
        indent=content[first : node.start_byte] if bare and node.parent is not None else b"",
    )


def _item(parsed: Parsed, group: _Group, role: str, lead: bytes, start: int, end: int, *, comma: bool) -> Item | None:
    content = parsed.content
    bodies = [node for node in group.nodes if not is_loose(node) and node.type != ";"]
    if comma and len(bodies) != 1:
        return None
    split = group.comma if group.comma is not None else None
    if comma and split is None:
        split = bodies[0].end_byte
    text, note = (content[start:end], b"") if split is None else (content[start:split], content[split:end])
    if note.startswith(b","):
        note = note[1:]
    if role == "chain" and bodies:
        kind, name = label(parsed, bodies[0], role)
        alone = bodies[0] if len(bodies) == 1 else None
        return Item(_key(kind, name, text), kind, name, lead, text, note, alone, bodies[0].start_byte - start)
    node = bodies[0] if len(bodies) == 1 else None
    kind, name = ("other", b"") if bodies else ("comment", b"")
    if node is not None:
        kind, name = label(parsed, node, role)
    return Item(_key(kind, name, text), kind, name, lead, text, note, node, node.start_byte - start if node else 0)


def by_text(item: Item) -> Item:
    """Return an item that is found again by its text alone."""
    return item._replace(key=_key("", b"", item.text))


def _key(kind: str, name: bytes, text: bytes) -> tuple[str, bytes]:
    return (kind, name) if name else ("text", re.sub(rb"\s+", b" ", text))


def _rows(node: Node) -> tuple[int, int]:
    (first, _), (last, column) = node.start_point, node.end_point
    return first, last - 1 if column == 0 and last > first else last


def _line_end(content: bytes, at: int) -> int:
    if at and content[at - 1 : at] == b"\n":
        return at - 1
    found = content.find(b"\n", at)
    return len(content) if found < 0 else found

"""Literals, signatures, members and comments of a Python file, from the nodes of its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleet.jobs.document.languages.outline import Item, Member
from fleet.jobs.document.languages.outline_reader import MOST_MEMBERS, Reader
from fleet.jobs.document.languages.outline_text import comment_sentence, first_sentence
from fleet.jobs.document.languages.python import for_tools
from replay_rules.parsing import Parsed

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_ITEMS = 14
_MOST_CHILDREN = 6
_PREFIX = re.compile(r"^[rRuUbBfF]*(\"\"\"|'''|\"|')")


class PythonParts(Reader):
    """Read what stands inside of Python's statements."""

    def __init__(self, parsed: Parsed) -> None:
        super().__init__(parsed)
        self.lines = parsed.content.split(b"\n")

    def _bases(self, node: Node | None) -> tuple[str, ...]:
        if node is None:
            return ()
        kept = (child for child in node.named_children if child.type not in ("comment", "keyword_argument"))
        return tuple(text for child in kept if (text := self._flat(child)) and text != "object")

    def _members(self, body: Node | None) -> Iterator[Member]:
        count = 0
        for child in [] if body is None else body.named_children:
            definition = child
            if child.type == "decorated_definition":
                definition = child.child_by_field_name("definition") or child
            if definition.type == "function_definition":
                yield self._method(child, definition)
                count += 1
            elif definition.type == "expression_statement" and definition.named_children:
                first = definition.named_children[0]
                if first.type == "assignment":
                    yield from self._field(first, definition)
                    count += 1
            if count >= MOST_MEMBERS:
                return

    def _method(self, node: Node, definition: Node) -> Member:
        name = self.text(definition.child_by_field_name("name"))
        return Member(
            name=name,
            method=True,
            signature=self._signature(definition.child_by_field_name("parameters")),
            summary=self._docstring(definition.child_by_field_name("body")) or self._comment_above(node),
            public=not name.startswith("_"),
        )

    def _field(self, assignment: Node, statement: Node) -> Iterator[Member]:
        left = assignment.child_by_field_name("left")
        if left is None or left.type != "identifier":
            return
        name = self.text(left)
        right = assignment.child_by_field_name("right")
        if right is not None and right.type == "parenthesized_expression" and right.named_children:
            right = right.named_children[0]
        items, size = self._items(right)
        value = self._joined(right) or self._brief(right) or self._flat(assignment.child_by_field_name("type"))
        if not value and right is not None and right.type == "call":
            value = self._flat(right.child_by_field_name("function")) + "(...)"
        yield Member(
            name=name,
            method=False,
            summary=self._comment_above(statement),
            public=not name.startswith("_"),
            value=value,
            items=items,
            size=size,
        )

    def _arguments(self, node: Node) -> tuple[str, ...]:
        """Return a call's plain arguments: strings by their content, names as they are; ``name=`` counts too."""
        arguments = node.child_by_field_name("arguments")
        found = []
        for child in [] if arguments is None else arguments.named_children:
            if child.type == "keyword_argument":
                key = self.text(child.child_by_field_name("name"))
                value = child.child_by_field_name("value")
                if key in ("name", "model_name") and value is not None and value.type == "string":
                    found.append(self._string(value))
            elif child.type == "string":
                found.append(self._string(child))
            elif child.type in ("identifier", "attribute"):
                found.append(self.text(child))
        return tuple(found[:_MOST_CHILDREN])

    def _given(self, node: Node) -> Iterator[Node]:
        """Yield the values of a call's arguments, named ones too."""
        arguments = node.child_by_field_name("arguments")
        for child in [] if arguments is None else arguments.named_children:
            value = child.child_by_field_name("value") if child.type == "keyword_argument" else child
            if value is not None:
                yield value

    def _inner_call(self, node: Node) -> tuple[str, tuple[str, ...]]:
        """Return the function that is called first among a call's arguments, and its short named arguments."""
        inner = next((one for one in self._given(node) if one.type == "call"), None)
        if inner is None:
            return "", ()
        arguments = inner.child_by_field_name("arguments")
        named = [] if arguments is None else arguments.named_children
        shown = [self._flat(one) for one in named if one.type == "keyword_argument"]
        return self.text(inner.child_by_field_name("function")), tuple(text for text in shown if len(text) <= 32)

    def _inner_list(self, node: Node) -> tuple[int, tuple[str, ...]]:
        """Return the length of the first list among a call's arguments, and the first string of each element."""
        inner = next((one for one in self._given(node) if one.type == "list"), None)
        if inner is None:
            return 0, ()
        children = [child for child in inner.named_children if child.type != "comment"]
        names = []
        for child in children[:_MOST_CHILDREN]:
            first = child.named_children[0] if child.type == "tuple" and child.named_children else child
            if first.type == "string":
                names.append(self._string(first))
        return len(children), tuple(names)

    def _items(self, node: Node | None, depth: int = 0) -> tuple[tuple[Item, ...], int]:
        if node is None or depth > 1 or node.type not in ("list", "tuple", "set", "dictionary"):
            return (), 0
        children = [child for child in node.named_children if child.type != "comment"]
        found = (self._item(child, depth) for child in children[:_MOST_ITEMS])
        return tuple(item for item in found if item is not None), len(children)

    def _item(self, node: Node, depth: int) -> Item | None:
        if node.type == "pair":
            key = node.child_by_field_name("key")
            value = node.child_by_field_name("value")
            name = "" if key is None else self._string(key) if key.type == "string" else self._flat(key)
            items, size = self._items(value, depth + 1)
            return Item(name=name, value=self._brief(value), children=tuple(i.name for i in items), size=size)
        if node.type == "call":
            name = self.text(node.child_by_field_name("function"))
            size, inner = self._inner_list(node)
            called, settings = self._inner_call(node)
            inner = inner or settings
            return Item(name=name, children=self._arguments(node), value=called, size=size, inner=inner)
        if node.type == "string":
            return Item(name=self._string(node))
        if node.type in ("tuple", "list"):
            items, size = self._items(node, depth + 1)
            return Item(name=items[0].name if items else "", children=tuple(i.name for i in items), size=size)
        if node.type in ("identifier", "attribute", "integer", "float"):
            return Item(name=self.text(node))
        return None

    def _joined(self, node: Node | None) -> str:
        """Return a long string, or several that stand side by side, as one in double quotes."""
        if node is None or node.type not in ("string", "concatenated_string") or node.end_byte - node.start_byte < 60:
            return ""
        parts = [node] if node.type == "string" else [one for one in node.named_children if one.type == "string"]
        text = " ".join("".join(self._string(one) for one in parts).split())
        return f'"{text}"' if len(text) < 400 else ""

    def _string(self, node: Node) -> str:
        """Return what stands between a string's quotes; escapes stay as written, joined lines are joined."""
        text = self.text(node)
        found = _PREFIX.match(text)
        if found is None:
            return ""
        return text[found.end() :].removesuffix(found[1]).replace("\\\n", "")

    def _signature(self, node: Node | None) -> str:
        """Return parameters without annotations and with short defaults, ``self`` and ``cls`` left out."""
        if node is None:
            return ""
        shown = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            name_node = child.child_by_field_name("name")
            if child.type == "typed_parameter":
                name_node = child.named_children[0] if child.named_children else None
            name = self._flat(name_node if name_node is not None else child)
            default = child.child_by_field_name("value")
            if default is not None:
                value = self._flat(default)
                name += "=" + (value if len(value) <= 16 and "\n" not in value else "...")
            shown.append(name)
        if shown and shown[0] in ("self", "cls"):
            shown = shown[1:]
        return f"({', '.join(shown)})"

    def _docstring(self, body: Node | None) -> str:
        for child in [] if body is None else body.named_children:
            if child.type == "comment":
                continue
            if child.type == "expression_statement" and child.named_children:
                first = child.named_children[0]
                if first.type == "string":
                    return first_sentence(self._string(first))
                if first.type == "concatenated_string":
                    return first_sentence("".join(self._string(part) for part in first.named_children))
            return ""
        return ""

    def _comment_above(self, node: Node) -> str:
        """Return the first sentence of the comment lines that touch ``node`` from above at its own indentation."""
        row, column = node.start_point
        block: list[str] = []
        while row > 0:
            line = self.lines[row - 1]
            stripped = line.lstrip()
            if not stripped.startswith(b"#") or len(line) - len(stripped) != column:
                break
            block.append("" if for_tools(stripped) else stripped.lstrip(b"#:").decode(errors="replace").rstrip())
            row -= 1
        if not block or row == 0 or block[-1].startswith("!"):
            return ""
        return comment_sentence("\n".join(reversed(block)))

    def _error_name(self, raised: Node) -> str:
        name = self.text(raised.child_by_field_name("function") if raised.type == "call" else raised)
        return name.rpartition(".")[2] if re.fullmatch(r"[\w.]*\b[A-Z]\w+", name) else ""

"""Literals, signatures, members and comments of JavaScript and TypeScript, from the nodes of the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleet.jobs.document.languages._ecmascript_directives import for_tools
from fleet.jobs.document.languages.outline import Item, Member
from fleet.jobs.document.languages.outline_reader import MOST_MEMBERS, Reader
from fleet.jobs.document.languages.outline_text import comment_sentence, first_sentence, is_licence

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = {"arrow_function", "function_expression", "function", "generator_function"}
"""Kinds of nodes that are functions without a name of their own."""

_MOST_ITEMS = 40
_MOST_CHILDREN = 6


class ECMAScriptParts(Reader):
    """Read what stands inside of the statements of a script."""

    def _bases(self, node: Node) -> Iterator[str]:
        for child in node.named_children:
            if child.type in ("class_heritage", "extends_clause", "extends_type_clause"):
                text = self._flat(child)
                text = re.sub(r"\b(extends|implements)\b", ",", text)
                depth = 0
                part = ""
                for ch in text + ",":
                    depth += (ch in "<({[") - (ch in ">)}]")
                    if ch == "," and depth <= 0:
                        if base := re.sub(r"<.*|\s", "", part):
                            yield base
                        part = ""
                    else:
                        part += ch

    def _members(self, body: Node | None) -> Iterator[Member]:
        count = 0
        for child in [] if body is None else body.named_children:
            if child.type in ("method_definition", "method_signature", "abstract_method_signature"):
                yield self._member(child, method=True)
            elif child.type in ("field_definition", "public_field_definition", "property_signature"):
                yield self._member(child, method=False)
            elif child.type in ("enum_assignment", "property_identifier"):
                name = child.child_by_field_name("name") or child
                yield Member(name=self.text(name), method=False, summary=self._comment_above(child))
            else:
                continue
            count += 1
            if count >= MOST_MEMBERS:
                return

    def _member(self, node: Node, *, method: bool) -> Member:
        name_node = node.child_by_field_name("name") or node.child_by_field_name("property")
        name = self.text(name_node)
        value = node.child_by_field_name("value")
        if value is not None and value.type in FUNCTIONS:
            method = True
        hidden = any(child.type == "accessibility_modifier" and self.text(child) != "public" for child in node.children)
        items, size = self._items(value)
        return Member(
            name=name,
            method=method,
            signature=self._signature(node.child_by_field_name("parameters")) if method else "",
            summary=self._comment_above(node),
            public=not hidden and re.fullmatch(r"[A-Za-z]\w*", name) is not None,
            value=self._brief(value) or self._flat(node.child_by_field_name("type")).lstrip(": "),
            items=items,
            size=size,
        )

    def _label(self, body: Node | None) -> str:
        """Return the id and the label that a constructor hands to its base: ``super({ id: "x", label: "y" })``."""
        for child in [] if body is None else body.named_children:
            if child.type == "method_definition" and self.text(child.child_by_field_name("name")) == "constructor":
                block = child.child_by_field_name("body")
                for statement in [] if block is None else block.named_children[:3]:
                    call = statement.named_children[0] if statement.named_children else None
                    if call is None or call.type != "call_expression":
                        continue
                    if self.text(call.child_by_field_name("function")) == "super":
                        return self._label_of(call)
        return ""

    def _label_of(self, call: Node) -> str:
        arguments = call.child_by_field_name("arguments")
        given = [] if arguments is None else arguments.named_children
        if not given or given[0].type != "object":
            return ""
        found = {}
        for pair in given[0].named_children:
            key = self.text(pair.child_by_field_name("key"))
            value = pair.child_by_field_name("value")
            if value is None or key not in ("id", "label", "title", "name"):
                continue
            if value.type == "string":
                found[key] = self._string(value)
            elif value.type == "call_expression":
                inner = value.child_by_field_name("arguments")
                texts = [c for c in (inner.named_children if inner else []) if c.type == "string"]
                if texts:
                    found[key] = self._string(texts[-1])
        label = found.get("label") or found.get("title") or found.get("name") or ""
        return " ".join(part for part in (label, f"[{found['id']}]" if "id" in found else "") if part)

    def _items(self, node: Node | None) -> tuple[tuple[Item, ...], int]:
        if node is None or node.type not in ("array", "object"):
            return (), 0
        children = [child for child in node.named_children if child.type != "comment"]
        return tuple(item for child in children[:_MOST_ITEMS] if (item := self._item(child))), len(children)

    def _item(self, node: Node) -> Item | None:
        if node.type == "pair":
            key = node.child_by_field_name("key")
            value = node.child_by_field_name("value")
            name = "" if key is None else self._string(key) if key.type == "string" else self._flat(key)
            children, size = self._inner(value)
            return Item(name=name, value=self._brief(value), children=children, size=size)
        if node.type == "string":
            return Item(name=self._string(node))
        if node.type in ("identifier", "shorthand_property_identifier", "number", "member_expression"):
            return Item(name=self._flat(node))
        if node.type == "method_definition":
            return Item(name=self._flat(node.child_by_field_name("name")))
        return None

    def _inner(self, node: Node | None) -> tuple[tuple[str, ...], int]:
        """Return the first names in a literal, without going deeper, and how many elements it has."""
        if node is None or node.type not in ("array", "object"):
            return (), 0
        children = [child for child in node.named_children if child.type != "comment"]
        names = []
        for child in children[:_MOST_CHILDREN]:
            key = child.child_by_field_name("key")
            part = key if key is not None else child
            if part.type == "string":
                names.append(self._string(part))
            elif part.type in ("property_identifier", "identifier", "number", "shorthand_property_identifier"):
                names.append(self.text(part))
        return tuple(names), len(children)

    def _signature(self, node: Node | None) -> str:
        """Return parameters without types; destructured ones as ``{...}``, long defaults as ``...``."""
        if node is None:
            return ""
        if node.type == "identifier":
            return f"({self.text(node)})"
        shown = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            pattern = child.child_by_field_name("pattern") or child
            if pattern.type == "assignment_pattern":
                pattern = pattern.child_by_field_name("left") or pattern
            if pattern.type == "object_pattern":
                shown.append("{...}")
            elif pattern.type == "array_pattern":
                shown.append("[...]")
            elif self.text(pattern) != "this":
                optional = "?" if child.type == "optional_parameter" else ""
                shown.append(self._flat(pattern) + optional)
        return f"({', '.join(shown)})"

    def _string(self, node: Node) -> str:
        return self.text(node)[1:-1]

    def _comment_above(self, node: Node) -> str:
        """Return the first sentence of the comment that touches ``node`` from above."""
        lines: list[str] = []
        row = node.start_point[0]
        sibling = node.prev_sibling
        while sibling is not None and sibling.type in ("comment", "decorator"):
            if sibling.end_point[0] < row - 1 or self._trails(sibling):
                break
            if sibling.type == "comment":
                text = self.text(sibling)
                documents = text.startswith("/**")
                told = not for_tools(text)
                if text.startswith("/*") and (documents or told):
                    hidden = is_licence(text) or (any(lines) and not documents)
                    return "" if hidden else self._block_sentence(text)
                lines.append(text.lstrip("/ ") if told else "")
            row = sibling.start_point[0]
            sibling = sibling.prev_sibling
        return comment_sentence("\n".join(reversed(lines)))

    def _trails(self, comment: Node) -> bool:
        """Return whether a comment stands behind code on its line, and so belongs to that."""
        before = comment.prev_sibling
        return before is not None and before.is_named and before.end_point[0] == comment.start_point[0]

    def _block_sentence(self, text: str) -> str:
        body = block_text(text)
        return first_sentence(body) if text.startswith("/**") else comment_sentence(body)

    def _error_name(self, raised: Node) -> str:
        name = self.text(raised.child_by_field_name("constructor")) if raised.type == "new_expression" else ""
        return name if re.fullmatch(r"[\w.$]{3,60}", name) else ""

    def is_public(self, name: str) -> bool:
        """Return False: only what a file exports decides, and that is known at its end."""
        return False


def block_text(text: str) -> str:
    """Return what stands in a block comment, without its frame of stars."""
    inner = text.removesuffix("*/").lstrip("/").lstrip("*!")
    return "\n".join(re.sub(r"^\s*\*+ ?", "", line).rstrip() for line in inner.splitlines())

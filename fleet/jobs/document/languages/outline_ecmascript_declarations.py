"""Declarations of JavaScript and TypeScript: what each of them adds to the outline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleet.jobs.document.languages.outline import Import, Kind
from fleet.jobs.document.languages.outline_ecmascript_parts import FUNCTIONS, ECMAScriptParts
from replay_rules.parsing import Parsed

if TYPE_CHECKING:
    from tree_sitter import Node

KINDS = {
    "function_declaration": Kind.FUNCTION,
    "generator_function_declaration": Kind.FUNCTION,
    "function_signature": Kind.FUNCTION,
    "class_declaration": Kind.CLASS,
    "abstract_class_declaration": Kind.CLASS,
    "class": Kind.CLASS,
    "interface_declaration": Kind.INTERFACE,
    "type_alias_declaration": Kind.TYPE,
    "enum_declaration": Kind.ENUM,
    "internal_module": Kind.NAMESPACE,
    "module": Kind.NAMESPACE,
}
"""The kinds of nodes that declare one named thing."""


class Declarations(ECMAScriptParts):
    """Add what a script declares, assigns and requires; ``exported`` maps its own names to those it hands out."""

    def __init__(self, parsed: Parsed) -> None:
        super().__init__(parsed)
        self.reexports: list[Import] = []
        self.exported: dict[str, str] = {}

    def _declaration(self, node: Node, outer: Node) -> list[str]:
        """Add what a declaration declares; return its names. ``outer`` is the statement that comments stand above."""
        if node.type in ("lexical_declaration", "variable_declaration"):
            return [name for child in node.named_children for name in self._variable(child, outer)]
        if node.type in FUNCTIONS:
            name = self.text(node.child_by_field_name("name")) or "default"
            self._function(name, node, outer)
            return [name]
        kind = KINDS.get(node.type)
        if kind is None:
            return []
        name_node = node.child_by_field_name("name")
        name = self._string(name_node) if name_node is not None and name_node.type == "string" else self.text(name_node)
        name = name or "default"
        if kind is Kind.FUNCTION:
            self._function(name, node, outer)
        else:
            self._structure(name, kind, node, outer)
        return [name]

    def _function(self, name: str, node: Node, outer: Node) -> None:
        parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        self._add(
            name,
            Kind.FUNCTION,
            outer,
            summary=self._comment_above(outer),
            signature=self._signature(parameters),
            returns=self._flat(node.child_by_field_name("return_type")).lstrip(": "),
            asynchronous=any(child.type == "async" for child in node.children[:2]),
            generator="generator" in node.type,
        )

    def _structure(self, name: str, kind: Kind, node: Node, outer: Node) -> None:
        body = node.child_by_field_name("body")
        members = tuple(self._members(body)) if kind is not Kind.NAMESPACE else ()
        summary = self._comment_above(outer)
        self._add(
            name,
            kind,
            outer,
            summary=summary,
            bases=tuple(self._bases(node)),
            members=members,
            value=self._flat(node.child_by_field_name("value"))[:120] if kind is Kind.TYPE else "",
            label="" if summary else self._label(body),
            decorators=tuple(
                self.text(child).lstrip("@").split("(")[0] for child in outer.children if child.type == "decorator"
            ),
        )

    def _variable(self, node: Node, outer: Node) -> Iterator[str]:
        if node.type != "variable_declarator":
            return
        name_node = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name_node is None:
            return
        if value is not None and self._required(value, name_node):
            return
        if name_node.type != "identifier":
            return
        name = self.text(name_node)
        if value is not None and value.type in FUNCTIONS:
            self._function(name, value, outer)
        elif value is not None and value.type == "class":
            self._structure(name, Kind.CLASS, value, outer)
        else:
            items, size = self._items(value)
            summary = self._comment_above(outer)
            self._add(name, Kind.CONSTANT, outer, summary=summary, value=self._brief(value), items=items, size=size)
        yield name

    def _required(self, value: Node, name: Node | None) -> bool:
        """Record ``require("x")``, also with a property or a call behind it; return whether it was one."""
        while value.type in ("member_expression", "await_expression"):
            value = value.child_by_field_name("object") or (value.named_children[0] if value.named_children else value)
            if value.type in ("this", "super", "import"):
                break
        if value.type != "call_expression":
            return False
        arguments = value.child_by_field_name("arguments")
        given = [] if arguments is None else arguments.named_children
        if self.text(value.child_by_field_name("function")) not in ("require", "import"):
            return False
        if not given or given[0].type != "string":
            return False
        names: tuple[str, ...] = ()
        if name is not None and name.type == "object_pattern":
            names = tuple(self.text(child).split(":")[0].split("=")[0].strip() for child in name.named_children)
        self.imports.append(Import(module=self._string(given[0]), names=names, line=value.start_point[0] + 1))
        return True

    def _export_value(self, value: Node, node: Node) -> None:
        if value.type == "identifier":
            self.exported[self.text(value)] = self.text(value)
        elif value.type in FUNCTIONS or value.type in KINDS:
            for name in self._declaration(value, node):
                self.exported[name] = name
        else:
            items, size = self._items(value)
            self._add("default", Kind.CONSTANT, node, value=self._brief(value), items=items, size=size)
            self.exported["default"] = "default"

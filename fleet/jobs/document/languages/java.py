"""Java: a plain block comment ahead of ``package``; unicode escapes are live in comments, so none stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages._commented import BLOCK_RULES
from fleet.jobs.document.languages._jvm import Jvm, JvmReader
from fleet.jobs.document.languages._leading_comments import Lexis
from fleet.jobs.document.languages.outline import Import, Kind
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from tree_sitter import Node


class _Reader(JvmReader):
    kinds: ClassVar[Mapping[str, Kind]] = {
        "class_declaration": Kind.CLASS,
        "record_declaration": Kind.CLASS,
        "interface_declaration": Kind.INTERFACE,
        "annotation_type_declaration": Kind.INTERFACE,
        "enum_declaration": Kind.ENUM,
    }
    members: ClassVar[Mapping[str, bool]] = {
        "method_declaration": True,
        "annotation_type_element_declaration": True,
        "field_declaration": False,
        "enum_constant": False,
    }
    imported = frozenset({"import_declaration"})

    def imports_of(self, node: Node) -> Iterator[Import]:
        name = next((child for child in node.named_children if child.type.endswith("identifier")), None)
        if name is not None:
            yield self.imported_name(node, self._flat(name))

    def declare(self, node: Node) -> None:
        super().declare(node)
        if self.symbols and b"@Test" in self.parsed.content and node.type == "class_declaration":
            self.tests += len(re.findall(r"@Test\b", self.text(node)))

    def shows(self, node: Node, name: str) -> bool:
        return "public" in self.modifiers(node).split()

    def member_shows(self, node: Node, name: str) -> bool:
        inside = node.parent.type if node.parent is not None else ""
        words = self.modifiers(node).split()
        return bool({"public", "protected"} & set(words)) or inside in ("interface_body", "enum_body")

    def bases(self, node: Node) -> Iterator[str]:
        for part in node.named_children:
            if part.type in ("superclass", "super_interfaces", "extends_interfaces"):
                for one in re.split(r",\s*", re.sub(r"<[^<>]*>|<.*>", "", self._flat(part))):
                    yield re.sub(r"^(?:extends|implements)\s+", "", one).strip()

    def returns(self, node: Node) -> str:
        return self._flat(node.child_by_field_name("type"))


class Java(Jvm):
    r"""``\u002a\u002f`` ends a comment, and a wrong escape is an error even in one."""

    name = "java"
    grammars: ClassVar[Mapping[bytes, str]] = {b".java": "java"}
    ahead = frozenset({"block_comment", "line_comment"})
    reader = _Reader
    lexis = Lexis(unsafe=re.compile(rb"\\u"))
    rules = (
        *BLOCK_RULES,
        rule("unicode escape", "\\u", r"\\+(?=u)", "/"),
        rule("directive", "checkstyle formatter: nosonar", r"\b(checkstyle|formatter|nosonar)(\s*:\s*|\b)", r"\1 "),
    )


LANGUAGE = Java()

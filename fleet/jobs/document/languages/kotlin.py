"""Kotlin: a plain block comment ahead of ``@file:`` annotations and ``package``; block comments nest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages._commented import BLOCK_RULES
from fleet.jobs.document.languages._jvm import Jvm, JvmReader
from fleet.jobs.document.languages._leading_comments import SHEBANG, Lexis
from fleet.jobs.document.languages.outline import Import, Kind
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from tree_sitter import Node


class _Reader(JvmReader):
    kinds: ClassVar[Mapping[str, Kind]] = {
        "class_declaration": Kind.CLASS,
        "object_declaration": Kind.CLASS,
        "function_declaration": Kind.FUNCTION,
        "property_declaration": Kind.CONSTANT,
        "type_alias": Kind.TYPE,
    }
    members: ClassVar[Mapping[str, bool]] = {
        "function_declaration": True,
        "property_declaration": False,
        "enum_entry": False,
    }
    imported = frozenset({"import"})

    def imports_of(self, node: Node) -> Iterator[Import]:
        dotted = self._flat(node).removeprefix("import").strip().partition(" as ")[0]
        yield self.imported_name(node, dotted)

    def declare(self, node: Node) -> None:
        kind = self.kinds.get(node.type)
        if kind is Kind.CLASS:
            words = [child.type for child in node.children[:4]]
            kind = Kind.INTERFACE if "interface" in words else kind
            kind = Kind.ENUM if re.search(r"\benum\b", self._head(node)) else kind
            self.tests += len(re.findall(r"@Test\b", self.text(node)))
        if kind is not None:
            self.add(node, kind, self.text_name(node))

    def _head(self, node: Node) -> str:
        return self.text(node)[:200].partition("{")[0].partition("class")[0]

    def shows(self, node: Node, name: str) -> bool:
        hidden = {"private", "internal", "protected"}
        return not hidden & set(self.modifiers(node).split()) and self.is_public(name)

    def signature(self, node: Node) -> str:
        found = self.named(node, "function_value_parameters")
        return self._flat(found[0]) if found else ""

    def bases(self, node: Node) -> Iterator[str]:
        for part in self.named(node, "delegation_specifiers"):
            for one in part.named_children:
                yield re.sub(r"[(<].*", "", self._flat(one)).partition(" by ")[0].strip()


class Kotlin(Jvm):
    """An opened comment in the text would never end."""

    name = "kotlin"
    grammars: ClassVar[Mapping[bytes, str]] = {b".kt": "kotlin", b".kts": "kotlin"}
    ahead = frozenset({"block_comment", "line_comment", "shebang"})
    reader = _Reader
    lexis = Lexis(nests=True, shebang=SHEBANG)
    rules = (
        *BLOCK_RULES,
        rule("directive", "ktlint-", r"\bktlint-(?=\w)", "ktlint "),
        rule("directive", "noinspection", r"\bnoinspection\b", "no inspection"),
    )


LANGUAGE = Kotlin()

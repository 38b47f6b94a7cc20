"""Swift: line comments below the licence and Xcode's file head; ``swift-tools-version`` keeps its first line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages._commented import Commented, Frame, Marks
from fleet.jobs.document.languages._leading_comments import SHEBANG, Lexis
from fleet.jobs.document.languages.outline import Import, Kind
from fleet.jobs.document.languages.outline_declared import Declared
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from tree_sitter import Node


class _Reader(Declared):
    kinds: ClassVar[Mapping[str, Kind]] = {
        "class_declaration": Kind.CLASS,
        "protocol_declaration": Kind.INTERFACE,
        "function_declaration": Kind.FUNCTION,
        "property_declaration": Kind.CONSTANT,
        "typealias_declaration": Kind.TYPE,
    }
    members: ClassVar[Mapping[str, bool]] = {
        "function_declaration": True,
        "protocol_function_declaration": True,
        "property_declaration": False,
        "protocol_property_declaration": False,
        "enum_entry": False,
    }
    imported = frozenset({"import_declaration"})
    documents = ("///", "/**")

    def imports_of(self, node: Node) -> Iterator[Import]:
        name = self._flat(next(iter(self.named(node, "identifier")), None))
        if name:
            yield Import(module=name, names=("*",), line=node.start_point[0] + 1)

    def declare(self, node: Node) -> None:
        kind = self.kinds.get(node.type)
        if kind is Kind.CLASS:
            words = {child.type for child in node.children}
            kind = Kind.ENUM if "enum" in words else Kind.CLASS
            self.tests += len(re.findall(r"\bfunc test\w*\(|@Test\b", self.text(node)))
        if kind is not None:
            self.add(node, kind, self.text_name(node).partition("<")[0])

    def shows(self, node: Node, name: str) -> bool:
        return not {"private", "fileprivate"} & set(self.modifiers(node).split()) and self.is_public(name)

    def signature(self, node: Node) -> str:
        shown = [self._flat(child).partition("=")[0].strip() for child in self.named(node, "parameter")]
        return f"({', '.join(shown)})"

    def bases(self, node: Node) -> Iterator[str]:
        for part in self.named(node, "inheritance_specifier"):
            yield self._flat(part).partition("<")[0]


class Swift(Commented):
    """``///`` and ``// MARK:`` belong to what stands below them, blank lines between or not."""

    name = "swift"
    grammars: ClassVar[Mapping[bytes, str]] = {b".swift": "swift"}
    ahead = frozenset({"comment", "multiline_comment", "shebang_line", "#", "!"})
    reader = _Reader
    lexis = Lexis(nests=True, shebang=SHEBANG)
    frame = Frame(prefix="//")
    marks = Marks(
        directive=re.compile(
            rb"\A//[ \t]*(?:swift-tools-version|swiftlint:(?:disable|enable)(?!:)|"
            rb"swiftformat:(?:disable|enable|options)(?!:next)|"
            rb"swift-format-ignore-file|(?:RUN|REQUIRES|UNSUPPORTED|XFAIL|CHECK)\b[\w-]*\s*:|-\*-)",
        ),
        next_line=re.compile(
            rb"//[ \t]*(?:swiftlint:disable:|swift-format-ignore(?!-file)|swiftformat:disable:next|sourcery:)"
        ),
        licence=re.compile(rb"^[ \t/*]*+Created by \S", re.MULTILINE),
        tied=re.compile(rb"///(?!/)|/\*\*(?![*/])|//[ \t]*MARK:"),
        file_code=re.compile(rb"(?:@\w+(?:\([^)]*\))?\s+)*(?:public\s+|internal\s+)?import\b|#if\b"),
    )
    rules = (
        rule("directive", "swiftlint: swiftformat: sourcery:", r"\b(swiftlint|swiftformat|sourcery):\s*", r"\1 "),
        rule("directive", "swift-format-ignore", r"\bswift-format-ignore", "swift-format ignore"),
        rule("tools version", "swift-tools-version", r"\bswift-tools-version", "swift tools version"),
        rule("section mark", "mark:", r"\bMARK:\s*", "MARK "),
    )


LANGUAGE = Swift()

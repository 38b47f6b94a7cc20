"""C#: line comments below the copyright, ahead of ``#define`` and ``using``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages._commented import Commented, Frame, Marks
from fleet.jobs.document.languages._leading_comments import Lexis
from fleet.jobs.document.languages.outline import Import, Kind
from fleet.jobs.document.languages.outline_declared import Declared
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from tree_sitter import Node

_REGION = re.compile(rb"#region\b[^\r\n]*+(?:\s*+(?://[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+\*/))++\s*+#endregion\b[^\r\n]*")


class _Reader(Declared):
    kinds: ClassVar[Mapping[str, Kind]] = {
        "class_declaration": Kind.CLASS,
        "struct_declaration": Kind.CLASS,
        "record_declaration": Kind.CLASS,
        "interface_declaration": Kind.INTERFACE,
        "enum_declaration": Kind.ENUM,
        "delegate_declaration": Kind.TYPE,
    }
    scopes = frozenset(
        {"namespace_declaration", "file_scoped_namespace_declaration", "declaration_list", "preproc_if", "preproc_else"}
    )
    members: ClassVar[Mapping[str, bool]] = {
        "method_declaration": True,
        "property_declaration": False,
        "event_declaration": False,
        "field_declaration": False,
        "enum_member_declaration": False,
    }
    imported = frozenset({"using_directive"})
    documents = ("///", "/**")

    def imports_of(self, node: Node) -> Iterator[Import]:
        written = re.sub(r"^(?:global\s+)?using\s+(?:static\s+)?|;.*$", "", self._flat(node))
        module = written.partition("=")[2].strip() or written.strip()
        if module:
            yield Import(module=module, names=("*",), line=node.start_point[0] + 1)

    def declare(self, node: Node) -> None:
        super().declare(node)
        if node.type == "class_declaration":
            self.tests += len(re.findall(r"\[(?:Test|Fact|Theory|TestMethod)\b", self.text(node)))

    def shows(self, node: Node, name: str) -> bool:
        return any(child.type == "modifier" and self.text(child) == "public" for child in node.children)

    def member_shows(self, node: Node, name: str) -> bool:
        owner = node.parent.parent if node.parent is not None else None
        inside = owner is not None and owner.type in ("interface_declaration", "enum_declaration")
        return inside or self.shows(node, name)

    def member_names(self, node: Node) -> Iterator[str]:
        if node.type == "field_declaration":
            for one in self.named(node, "variable_declaration"):
                yield from (
                    self.text(each.child_by_field_name("name")) for each in self.named(one, "variable_declarator")
                )
        else:
            yield self.text_name(node)

    def bases(self, node: Node) -> Iterator[str]:
        for part in self.named(node, "base_list"):
            for one in part.named_children:
                yield re.sub(r"[(<].*", "", self._flat(one))

    def returns(self, node: Node) -> str:
        return self._flat(node.child_by_field_name("returns") or node.child_by_field_name("type"))


class CSharp(Commented):
    """A ``#region`` around nothing but comments is one comment: most of them hold the licence."""

    name = "csharp"
    grammars: ClassVar[Mapping[bytes, str]] = {b".cs": "c_sharp"}
    ahead = frozenset({"comment", "#region", "#endregion", "preproc_arg"})
    reader = _Reader
    lexis = Lexis(enclosed=_REGION)
    frame = Frame(prefix="//")
    marks = Marks(
        directive=re.compile(rb"\A[/*\s]*(?:ReSharper\s+disable\b(?!\s+once)|-\*-|(?:vim?|ex):|language=)"),
        next_line=re.compile(rb"//\s*(?:ReSharper\s+disable\s+once|noinspection)\b"),
        licence=re.compile(rb"<copyright\b"),
        tied=re.compile(rb"///(?!/)"),
        file_code=re.compile(
            rb"(?:global\s+)?using\b|namespace\b|extern\s+alias\b|\[assembly|#(?:define|if|pragma|nullable|region)\b"
        ),
    )
    rules = (rule("suppression", "resharper", r"\bReSharper\s+(?=disable|restore)", "ReSharper, "),)


LANGUAGE = CSharp()

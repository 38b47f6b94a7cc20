"""Go: line comments with a blank line on both sides.

Directly above ``package`` they would become the documentation of the whole package. They stand below build
constraints, which count only ahead of the package clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages._commented import Commented, Frame, Marks
from fleet.jobs.document.languages._leading_comments import Lexis
from fleet.jobs.document.languages.outline import Import, Kind, Member
from fleet.jobs.document.languages.outline_declared import Declared, merged_members
from fleet.jobs.document.leading import Item
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from tree_sitter import Node

    from replay_rules.parsing import Parsed

_OLD_CONSTRAINT = re.compile(rb"^//[ \t]*\+build[ \t]", re.MULTILINE)


class _Reader(Declared):
    kinds: ClassVar[Mapping[str, Kind]] = {
        "function_declaration": Kind.FUNCTION,
        "type_spec": Kind.TYPE,
        "type_alias": Kind.TYPE,
        "const_spec": Kind.CONSTANT,
        "var_spec": Kind.CONSTANT,
    }
    scopes = frozenset({"type_declaration", "const_declaration", "var_declaration", "var_spec_list"})
    members: ClassVar[Mapping[str, bool]] = {"method_elem": True, "field_declaration": False}
    imported = frozenset({"import_declaration"})
    documents = ("//", "/*")

    def __init__(self, parsed: Parsed, marks: Marks) -> None:
        super().__init__(parsed, marks)
        self._methods: dict[str, list[tuple[Node, Member]]] = {}

    def imports_of(self, node: Node) -> Iterator[Import]:
        stack = list(reversed(node.named_children))
        while stack:
            one = stack.pop()
            if one.type == "import_spec":
                path = self.text(one.child_by_field_name("path")).strip('"`')
                yield Import(module=path, line=one.start_point[0] + 1)
            elif one.type == "import_spec_list":
                stack.extend(reversed(one.named_children))

    def declare(self, node: Node) -> None:
        if node.type == "method_declaration":
            self._method(node)
            return
        kind = self.kinds.get(node.type)
        if kind is None:
            return
        type_ = node.child_by_field_name("type")
        if kind is Kind.TYPE and type_ is not None:
            kind = {"struct_type": Kind.CLASS, "interface_type": Kind.INTERFACE}.get(type_.type, kind)
        name = self.text_name(node)
        if name in ("_", "init"):
            return
        inner = next(iter(type_.named_children), None) if type_ is not None and type_.type == "struct_type" else type_
        self.add(node, kind, name, inside=inner)
        if kind is Kind.FUNCTION and re.match(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])", name):
            self.tests += 1

    def _method(self, node: Node) -> None:
        words = self.text(node.child_by_field_name("receiver")).strip("() ").partition("[")[0].split()
        name = self.text(node.child_by_field_name("name"))
        if not words or not name:
            return
        member = Member(
            name=name,
            method=True,
            signature=self.signature(node),
            summary=self.summary(node),
            public=self.is_public(name),
        )
        self._methods.setdefault(words[-1].lstrip("*"), []).append((node, member))

    def finish(self) -> None:
        own = {symbol.name for symbol in self.symbols}
        self.symbols[:] = merged_members(
            self.symbols, {name: [member for _, member in found] for name, found in self._methods.items()}
        )
        for name, found in self._methods.items():
            for node, member in found if name not in own else ():
                self.add(node, Kind.FUNCTION, f"{name}.{member.name}")

    def is_public(self, name: str) -> bool:
        return all(part[:1].isupper() for part in name.split("."))

    def summary(self, node: Node) -> str:
        """Return the first sentence above a declaration, without the name that Go has it begin with."""
        found = super().summary(node)
        begins = re.match(rf"{re.escape(self.text_name(node))} (?!(?:is|was|has|does)\b)([a-z]+s\b.*)", found)
        return begins[1][0].upper() + begins[1][1:] if begins else found

    def returns(self, node: Node) -> str:
        return self._flat(node.child_by_field_name("result"))


class Go(Commented):
    """An attached ``// +build`` line is no constraint, and a blank line behind it would make it one."""

    name = "go"
    grammars: ClassVar[Mapping[bytes, str]] = {b".go": "go"}
    ahead = frozenset({"comment"})
    reader = _Reader
    lexis = Lexis()
    frame = Frame(prefix="//")
    marks = Marks(
        directive=re.compile(
            rb"^//(?:[a-z0-9]+:[a-z0-9]|line |export |extern |nolint)|^//[ \t]*\+build[ \t]|^/\*line ",
            re.MULTILINE,
        ),
        file_code=re.compile(rb"package\b"),
        file_lines=1,
    )
    rules = (
        rule("build constraint", "+build", r"\+build\b", "build"),
        rule("directive", "go: lint:", r"\b(go|lint):(?=\w)", r"\1 "),
    )

    def _free(self, content: bytes, items: Sequence[Item]) -> Sequence[Item]:
        last = items[-1] if items else None
        dead = last is not None and not last.blanks and _OLD_CONSTRAINT.search(content, last.start, last.end)
        return items[:-1] if dead else items


LANGUAGE = Go()

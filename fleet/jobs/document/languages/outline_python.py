"""The outline of a Python file, from the nodes of its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fleet.jobs.document.languages.outline import Call, Import, Kind, Outline, Symbol
from fleet.jobs.document.languages.outline_python_parts import PythonParts
from fleet.jobs.document.languages.outline_text import first_sentence, leading_prose
from fleet.jobs.document.languages.python import for_tools
from replay_rules.parsing import Parsed, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 6
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_INNER = {"if_statement", "try_statement", "with_statement", "block", "else_clause", "elif_clause", "except_clause"}
_INNER |= {"finally_clause", "except_group_clause"}


def outline(content: bytes) -> Outline:
    """Return the outline of a Python file; any bytes give one, poorer where they are not Python."""
    return _Reader(parse("python", _as_utf8(content))).read()


def _as_utf8(content: bytes) -> bytes:
    """Return the content as the UTF-8 that the grammar reads, by its coding line where it is not UTF-8 already."""
    try:
        content.decode()
        return content
    except UnicodeDecodeError:
        pass
    for line in content.split(b"\n", 2)[:2]:
        if found := _COOKIE.match(line):
            try:
                return content.decode(found[1].decode("ascii")).encode()
            except (LookupError, UnicodeError, ValueError):
                break
    return content.decode("latin-1").encode()


class _Reader(PythonParts):
    def __init__(self, parsed: Parsed) -> None:
        super().__init__(parsed)
        self.main_calls: list[str] = []
        self.main = False
        self.exports: list[str] | None = None
        self.documentation = ""

    def read(self) -> Outline:
        for node, depth in self._statements():
            self._statement(node, depth)
        raised = self._raised("raise_statement") if b"raise" in self.parsed.content else {}
        imported = {name for one in self.imports for name in one.names}
        exports = None if self.exports is None else tuple(dict.fromkeys(self.exports))
        symbols = tuple(self._finished(at, symbol, raised, exports) for at, symbol in enumerate(self.symbols))
        own = {symbol.name for symbol in symbols}
        passed_on = tuple(
            Import(module=one.module, names=names, line=one.line)
            for one in self.imports
            if (names := tuple(n for n in one.names if exports is not None and n in exports and n not in own))
        )
        return Outline(
            language="python",
            symbols=symbols,
            imports=tuple(self.imports),
            reexports=passed_on,
            exports=exports if exports is None else tuple(n for n in exports if n in own or n in imported),
            calls=tuple(self.calls[:40]),
            documentation=self.documentation,
            leading=self._leading(),
            shebang=self.parsed.content.startswith(b"#!"),
            main=self.main,
            main_calls=tuple(dict.fromkeys(self.main_calls)),
            options=self._options(),
            tests=self.tests,
            lines=self.parsed.content.count(b"\n") + (not self.parsed.content.endswith(b"\n")),
            has_error=self.parsed.has_error,
        )

    def _statements(self) -> Iterator[tuple[Node, int]]:
        """Yield the statements that run at import, those under conditions too, but not the bodies of definitions."""
        stack = [(child, 0) for child in reversed(self.parsed.root.named_children)]
        while stack:
            node, depth = stack.pop()
            if node.type == "if_statement" and "__name__" in self.text(node.child_by_field_name("condition")):
                self._main_block(node)
                continue
            if node.type in _INNER or node.type == "ERROR":
                if depth < _DEEPEST:
                    stack.extend((child, depth + 1) for child in reversed(node.named_children))
                continue
            yield node, depth

    def _main_block(self, node: Node) -> None:
        self.main = True
        body = node.child_by_field_name("consequence")
        for child in [] if body is None else body.named_children:
            if child.type == "expression_statement" and child.named_children:
                inner = child.named_children[0]
                if inner.type == "assignment":
                    inner = inner.child_by_field_name("right") or inner
                if inner.type == "call":
                    name = self.text(inner.child_by_field_name("function"))
                    arguments = inner.child_by_field_name("arguments")
                    first = arguments.named_children[0] if arguments and arguments.named_children else None
                    if name in ("sys.exit", "exit", "SystemExit") and first is not None and first.type == "call":
                        name = self.text(first.child_by_field_name("function"))
                    self.main_calls.append(name)

    def _statement(self, node: Node, depth: int) -> None:
        kind = node.type
        if kind in ("import_statement", "import_from_statement", "future_import_statement"):
            self._import(node)
        elif kind in ("class_definition", "function_definition", "decorated_definition"):
            self._definition(node)
        elif kind == "expression_statement" and node.named_children:
            first = node.named_children[0]
            if first.type == "string" and node.start_byte == self._first_statement():
                self.documentation = first_sentence(self._string(first))
            elif first.type in ("assignment", "augmented_assignment"):
                self._assignment(first, node)
            elif first.type == "call":
                self._call(first)
        elif kind == "type_alias_statement":
            name = self.text(node.named_children[0]) if node.named_children else ""
            self._add(name.split("[")[0], Kind.TYPE, node, value=self._brief(node.named_children[-1]))

    def _first_statement(self) -> int:
        for child in self.parsed.root.named_children:
            if child.type != "comment":
                return child.start_byte
        return -1

    def _import(self, node: Node) -> None:
        line = node.start_point[0] + 1
        if node.type == "import_statement":
            for child in node.children_by_field_name("name"):
                name = child.child_by_field_name("name") if child.type == "aliased_import" else child
                self.imports.append(Import(module=self.text(name), line=line))
            return
        module = self.text(node.child_by_field_name("module_name")) or "__future__"
        names = []
        for child in node.children_by_field_name("name"):
            name = child.child_by_field_name("name") if child.type == "aliased_import" else child
            names.append(self.text(name))
        if any(child.type == "wildcard_import" for child in node.children):
            names.append("*")
        self.imports.append(Import(module=module.replace(" ", ""), names=tuple(names), line=line))

    def _definition(self, node: Node) -> None:
        definition = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if definition is None:
            return
        decorators = tuple(
            self.text(child).lstrip("@ ").split("(")[0].strip() for child in node.children if child.type == "decorator"
        )
        name = self.text(definition.child_by_field_name("name"))
        body = definition.child_by_field_name("body")
        documentation = self._docstring(body) or self._comment_above(node)
        if definition.type == "class_definition":
            members = tuple(self._members(body))
            bases = self._bases(definition.child_by_field_name("superclasses"))
            self._add(
                name, Kind.CLASS, node, summary=documentation, bases=bases, members=members, decorators=decorators
            )
            self.tests += sum(member.method and member.name.startswith("test") for member in members)
            return
        self.tests += name.startswith("test_")
        self._add(
            name,
            Kind.FUNCTION,
            node,
            summary=documentation,
            decorators=decorators,
            signature=self._signature(definition.child_by_field_name("parameters")),
            returns=self._flat(definition.child_by_field_name("return_type")),
            asynchronous=bool(definition.children) and definition.children[0].type == "async",
        )

    def _finished(
        self, at: int, symbol: Symbol, raised: dict[int, tuple[str, ...]], exports: tuple[str, ...] | None
    ) -> Symbol:
        listed = exports is not None and symbol.name in exports
        public = listed if exports is not None else symbol.public
        errors = raised.get(at, ())
        if (public, listed, errors) == (symbol.public, symbol.exported, symbol.raises):
            return symbol
        return replace(symbol, public=public, exported=listed, raises=errors)

    def _assignment(self, node: Node, statement: Node) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        if left is None:
            return
        names = [left]
        while right is not None and right.type == "assignment":
            inner = right.child_by_field_name("left")
            names += [inner] if inner is not None else []
            right = right.child_by_field_name("right")
        if self.text(left) == "__all__":
            self._exports(right, extend=node.type == "augmented_assignment")
            return
        if node.type == "augmented_assignment" or right is None:
            return
        if left.type in ("pattern_list", "tuple_pattern"):
            names = [child for child in left.named_children if child.type == "identifier"]
        items, size = self._items(right)
        for one in names:
            name = self.text(one)
            if one.type == "identifier" and not (name.startswith("__") and name.endswith("__")):
                self._add(
                    name,
                    Kind.CONSTANT,
                    statement,
                    summary=self._comment_above(statement),
                    value=self._brief(right),
                    items=items,
                    size=size,
                )

    def _exports(self, node: Node | None, *, extend: bool) -> None:
        if node is None or node.type not in ("list", "tuple"):
            return
        names = [self._string(child) for child in node.named_children if child.type == "string"]
        self.exports = [*(self.exports or []), *names] if extend else names

    def _call(self, node: Node) -> None:
        name = self.text(node.child_by_field_name("function"))
        if re.fullmatch(r"[\w.]+", name):
            self.calls.append(Call(name=name, arguments=self._arguments(node)))

    def _options(self) -> tuple[str, ...]:
        """Return the first string of every call of a method ``add_argument`` or ``add_option``."""
        if b".add_argument(" not in self.parsed.content and b".add_option(" not in self.parsed.content:
            return ()
        found: dict[str, None] = {}
        for node in self.parsed.nodes("call"):
            if self.text(node.child_by_field_name("function")).endswith((".add_argument", ".add_option")):
                strings = [self._string(one) for one in self._given(node) if one.type == "string"]
                names = [text for text in strings if text.startswith("--")] or strings
                if names and re.fullmatch(r"[\w-]+", names[0]):
                    found[names[0]] = None
        return tuple(found)

    def _leading(self) -> tuple[str, ...]:
        """Return the prose of the comments before the first statement."""
        rows = []
        for line in self.lines[:200]:
            stripped = line.strip().removeprefix(b"\xef\xbb\xbf")
            if stripped and not stripped.startswith(b"#"):
                break
            told = not stripped.startswith(b"#!") and not for_tools(stripped)
            rows.append(stripped.lstrip(b"#:").decode(errors="replace").strip() if told else "")
        return leading_prose("\n".join(rows))[:3]

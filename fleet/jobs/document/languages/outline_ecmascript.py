"""The outline of a JavaScript or TypeScript file: ES modules, CommonJS, AMD and plain scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fleet.jobs.document.languages._ecmascript_directives import for_tools
from fleet.jobs.document.languages.outline import Call, Import, Item, Kind, Member, Outline, Symbol
from fleet.jobs.document.languages.outline_ecmascript_declarations import KINDS, Declarations
from fleet.jobs.document.languages.outline_ecmascript_parts import FUNCTIONS, block_text
from fleet.jobs.document.languages.outline_reader import MOST_MEMBERS
from fleet.jobs.document.languages.outline_text import first_sentence, is_licence, leading_prose
from replay_rules.parsing import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_REQUIRES = re.compile(r"(?:const|let|var)\s+[\w$\s{},:]+=\s*require\s*\(")
_LONGEST_REQUIRE = 600
_MOST_CHILDREN = 6
_DEEPEST = 4
_TEST_CALLS = {"it", "test", "specify"}
_SUITE_CALLS = {"describe", "suite", "context"}


def outline(content: bytes, grammar: str = "javascript") -> Outline:
    """Return the outline of a file; any bytes give one, poorer where they do not fit the grammar.

    Args:
        content: the file.
        grammar: ``javascript``, ``typescript`` or ``typescript.tsx``.
    """
    try:
        content.decode()
    except UnicodeDecodeError:
        content = content.decode("latin-1").encode()
    return _Reader(parse(grammar, content)).read()


class _Reader(Declarations):
    def read(self) -> Outline:
        for node in self._statements():
            self._statement(node)
        self._lazy_imports()
        raised = self._raised("throw_statement") if b"throw" in self.parsed.content else {}
        imported = {name: one for one in self.imports for name in one.names}
        own = {symbol.name for symbol in self.symbols}
        for name in self.exported:
            if name in imported and name not in own:
                self.reexports.append(Import(module=imported[name].module, names=(name,)))
        symbols = tuple(self._finished(at, symbol, raised) for at, symbol in enumerate(self.symbols))
        content = self.parsed.content
        return Outline(
            language=self.parsed.language.partition(".")[0],
            symbols=symbols,
            imports=tuple(self.imports),
            reexports=tuple(self.reexports),
            exports=tuple(self.exported.values()) or None,
            calls=tuple(self.calls[:40]),
            documentation=self._documentation(),
            leading=self._leading(),
            shebang=content.startswith(b"#!"),
            main="require.main === module" in content.decode(errors="replace"),
            tests=self.tests,
            lines=content.count(b"\n") + (not content.endswith(b"\n")),
            has_error=self.parsed.has_error,
        )

    def _statements(self) -> Iterator[Node]:
        """Yield top-level statements, and those of an AMD factory or of a function that is called at once."""
        stack = [(child, 0) for child in reversed(self.parsed.root.named_children)]
        while stack:
            node, depth = stack.pop()
            if node.type in ("comment", "hash_bang_line"):
                continue
            inner = self._scope(node) if depth < _DEEPEST else None
            if inner is not None:
                stack.extend((child, depth + 1) for child in reversed(inner.named_children))
            else:
                yield node

    def _scope(self, node: Node) -> Node | None:
        if node.type == "ERROR" or node.type in (
            "if_statement",
            "statement_block",
            "try_statement",
            "ambient_declaration",
        ):
            return node
        if node.type != "expression_statement" or not node.named_children:
            return None
        call = node.named_children[0]
        if call.type == "unary_expression":
            call = call.child_by_field_name("argument") or call
        if call.type != "call_expression":
            return None
        function = call.child_by_field_name("function")
        while function is not None and function.type == "parenthesized_expression" and function.named_children:
            function = function.named_children[0]
        arguments = call.child_by_field_name("arguments")
        given = [] if arguments is None else arguments.named_children
        if function is not None and function.type in FUNCTIONS:
            if self._compiled_enum(given, function, node):
                return None
            return function.child_by_field_name("body")
        if self.text(function) == "define":
            for one in given:
                if one.type == "array":
                    for part in one.named_children:
                        if part.type == "string":
                            self.imports.append(Import(module=self._string(part), line=part.start_point[0] + 1))
            last = given[-1] if given else None
            if last is not None and last.type in FUNCTIONS:
                return last.child_by_field_name("body")
        return None

    def _compiled_enum(self, given: list[Node], function: Node, node: Node) -> bool:
        """Recognise what TypeScript makes of an enum or a namespace: ``(function (X) { ... })(X || (X = {}))``."""
        if len(given) != 1 or given[0].type != "binary_expression":
            return False
        left = given[0].child_by_field_name("left")
        name = self.text(left)
        body = function.child_by_field_name("body")
        at = next((n for n, s in enumerate(self.symbols) if s.name == name), None)
        if left is None or left.type != "identifier" or body is None or at is None:
            return False
        source = self.text(body)
        entries = re.findall(
            rf"{re.escape(name)}\[{re.escape(name)}\[\"(\w+)\"\] =|{re.escape(name)}\[\"(\w+)\"\] = \"", source
        )
        names = list(dict.fromkeys(a or b for a, b in entries))
        kind = Kind.ENUM if names else Kind.NAMESPACE
        if not names:
            names = list(dict.fromkeys(re.findall(rf"^ +{re.escape(name)}\.(\w+) = ", source, re.MULTILINE)))
        summary = self.symbols[at].summary or self._comment_above(node)
        members = tuple(Member(name=one, method=kind is Kind.NAMESPACE) for one in names[:MOST_MEMBERS])
        self.symbols[at] = replace(self.symbols[at], kind=kind, members=members, summary=summary)
        self.spans[at] = (node.start_byte, node.end_byte)
        return True

    def _statement(self, node: Node) -> None:
        kind = node.type
        if kind == "import_statement":
            self._import(node)
        elif kind == "export_statement":
            self._export(node)
        elif kind in KINDS or kind in ("lexical_declaration", "variable_declaration"):
            self._declaration(node, node)
        elif kind == "expression_statement" and node.named_children:
            self._expression(node.named_children[0], node)

    def _import(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        names: list[str] = []
        for clause in node.named_children:
            if clause.type == "import_clause":
                names += self._clause_names(clause)
            elif clause.type == "import_require_clause":
                source = clause.child_by_field_name("source") or source
        if source is not None:
            self.imports.append(Import(module=self._string(source), names=tuple(names), line=node.start_point[0] + 1))

    def _lazy_imports(self) -> None:
        """Record every ``import("x")`` inside of the code."""
        if b"import(" not in self.parsed.content:
            return
        known = {one.module for one in self.imports}
        for node in self.parsed.nodes("import"):
            call = node.parent
            arguments = None if call is None else call.child_by_field_name("arguments")
            given = [] if arguments is None else arguments.named_children
            if given and given[0].type == "string" and (module := self._string(given[0])) not in known:
                self.imports.append(Import(module=module, names=("*",), line=node.start_point[0] + 1, lazy=True))
                known.add(module)

    def _clause_names(self, clause: Node) -> Iterator[str]:
        for child in clause.named_children:
            if child.type == "identifier":
                yield self.text(child)
            elif child.type == "namespace_import":
                yield "*"
            elif child.type == "named_imports":
                for one in child.named_children:
                    name = one.child_by_field_name("name")
                    if name is not None:
                        yield self.text(name)

    def _export(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        declaration = node.child_by_field_name("declaration")
        value = node.child_by_field_name("value")
        names: list[tuple[str, str]] = []
        for child in node.named_children:
            if child.type == "export_clause":
                for one in child.named_children:
                    name = self.text(one.child_by_field_name("name"))
                    names.append((name, self.text(one.child_by_field_name("alias")) or name))
        if source is not None:
            shown = tuple(alias for _, alias in names) or ("*",)
            module = self._string(source)
            self.reexports.append(Import(module=module, names=shown, line=node.start_point[0] + 1))
            self.imports.append(Import(module=module, names=shown, line=node.start_point[0] + 1))
            return
        for name, alias in names:
            self.exported[name] = alias if alias != "default" else name
        if declaration is not None:
            if declaration.type == "ambient_declaration" and declaration.named_children:
                declaration = declaration.named_children[0]
            for name in self._declaration(declaration, node):
                self.exported[name] = name
        elif value is not None:
            self._export_value(value, node)

    def _expression(self, node: Node, outer: Node) -> None:
        if node.type == "internal_module":
            self._declaration(node, outer)
        elif node.type == "assignment_expression":
            self._assigned(node, outer)
        elif node.type == "call_expression":
            if self._required(node, None):
                return
            name = self.text(node.child_by_field_name("function"))
            self._count_tests(name, node)
            compiled = name == "Object.defineProperty" and "__esModule" in self.text(node)
            if len(name) < 80 and re.fullmatch(r"[\w.$]+", name) and not compiled:
                self.calls.append(self._call(name, node))
        elif node.type in ("sequence_expression",):
            for child in node.named_children[:MOST_MEMBERS]:
                if child.type == "assignment_expression":
                    self._assigned(child, outer)

    def _assigned(self, node: Node, outer: Node) -> None:
        left = self.text(node.child_by_field_name("left"))
        right = node.child_by_field_name("right")
        if right is None or len(left) > 120:
            return
        self._required(right, None)
        if left in ("module.exports", "exports"):
            if right.type == "object":
                for child in right.named_children:
                    key = (
                        child.child_by_field_name("key") if child.type == "pair" else child.child_by_field_name("name")
                    )
                    name = self.text(key if key is not None else child)
                    if re.fullmatch(r"[\w$]+", name):
                        self.exported[name] = name
            elif right.type in ("identifier",):
                self.exported[self.text(right)] = self.text(right)
            else:
                self._export_value(right, outer)
        elif found := re.fullmatch(r"(?:module\.)?exports\.([\w$]+)", left):
            name = found[1]
            if name == "__esModule":
                return
            if right.type == "identifier":
                self.exported[self.text(right)] = name
                return
            if not any(symbol.name == name for symbol in self.symbols):
                if right.type in FUNCTIONS:
                    self._function(name, right, outer)
                elif right.type == "class":
                    self._structure(name, Kind.CLASS, right, outer)
                elif self.text(right) not in ("void 0", "undefined"):
                    items, size = self._items(right)
                    self._add(name, Kind.CONSTANT, outer, value=self._brief(right), items=items, size=size)
            self.exported[name] = name
        elif found := re.fullmatch(r"(?:globalThis|window|self|global|root)\.([\w$]+)", left):
            if right.type in FUNCTIONS:
                self._function(found[1], right, outer)
            else:
                items, size = self._items(right)
                self._add(found[1], Kind.CONSTANT, outer, value=self._brief(right), items=items, size=size)
        elif found := re.fullmatch(r"([\w$]+)\.prototype\.([\w$]+)", left):
            at = next((n for n, s in enumerate(self.symbols) if s.name == found[1]), None)
            if at is not None and len(self.symbols[at].members) < MOST_MEMBERS:
                member = Member(
                    name=found[2],
                    method=right.type in FUNCTIONS,
                    signature=self._signature(right.child_by_field_name("parameters")),
                    summary=self._comment_above(outer),
                    public=not found[2].startswith("_"),
                )
                owner = self.symbols[at]
                self.symbols[at] = replace(owner, kind=Kind.CLASS, members=(*owner.members, member))

    def _count_tests(self, name: str, node: Node) -> None:
        base = name.split(".")[0]
        if base in _TEST_CALLS:
            self.tests += 1
        elif base in _SUITE_CALLS:
            self.tests += max(1, len(re.findall(r"\b(?:it|test)\(", self.text(node))))

    def _call(self, name: str, node: Node) -> Call:
        arguments = node.child_by_field_name("arguments")
        plain = []
        items: tuple[Item, ...] = ()
        for child in [] if arguments is None else arguments.named_children:
            if child.type == "string":
                plain.append(self._string(child))
            elif child.type in ("identifier", "member_expression") and child.end_byte - child.start_byte < 80:
                plain.append(self.text(child))
            elif child.type == "object" and not items:
                items, _ = self._items(child)
            elif child.type == "new_expression":
                plain.append(self.text(child.child_by_field_name("constructor")))
        return Call(name=name, arguments=tuple(plain[:_MOST_CHILDREN]), items=items)

    def _finished(self, at: int, symbol: Symbol, raised: dict[int, tuple[str, ...]]) -> Symbol:
        """Give a symbol its exported name, its errors, and whether it is public.

        A file that exports nothing is a script whose declarations are what it gives to others.
        """
        name = self.exported.get(symbol.name)
        public = name is not None if self.exported else not symbol.name.startswith("_")
        return replace(
            symbol, name=name or symbol.name, exported=name is not None, public=public, raises=raised.get(at, ())
        )

    def _first_comments(self) -> Iterator[tuple[Node, Node | None]]:
        """Yield the comments to people before the first statement, each with what stands behind it."""
        for child in self.parsed.root.named_children:
            if child.type == "comment":
                if not for_tools(self.text(child)):
                    yield child, child.next_named_sibling
            elif child.type != "hash_bang_line":
                return

    def _imports(self, node: Node) -> bool:
        """Return whether a statement brings in a module and declares nothing of its own."""
        return node.type == "import_statement" or _REQUIRES.match(self.text(node)[:_LONGEST_REQUIRE]) is not None

    def _documentation(self) -> str:
        """Return the first sentence of a block that describes the file: tagged so, or apart from the first symbol."""
        for node, behind in self._first_comments():
            text = self.text(node)
            if not text.startswith("/**") or is_licence(text):
                continue
            apart = behind is None or behind.type == "comment" or behind.start_point[0] > node.end_point[0] + 1
            if apart or re.search(r"@(file|fileoverview|module|packageDocumentation)\b", text):
                return first_sentence(block_text(text))
        return ""

    def _leading(self) -> tuple[str, ...]:
        """Return the prose of the first comments; one that touches a declaration belongs to it and is left out."""
        kept: list[str] = []
        for node, behind in self._first_comments():
            text = self.text(node)
            touches = behind is not None and behind.start_point[0] <= node.end_point[0] + 1
            if touches and behind is not None and behind.type != "comment" and not self._imports(behind):
                break
            body = block_text(text) if text.startswith("/*") else text.lstrip("/ ")
            kept.append(body if not text.startswith("/*") else f"\n{body}\n")
        return leading_prose("\n".join(kept))[:3]

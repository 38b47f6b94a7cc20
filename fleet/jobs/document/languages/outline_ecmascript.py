"""The outline of a JavaScript or TypeScript file: ES modules, CommonJS, AMD and plain scripts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fleet.jobs.document.languages.outline import Call, Import, Item, Kind, Member, Outline, Symbol
from fleet.jobs.document.languages.outline_text import comment_sentence, first_sentence, is_licence, leading_prose
from replay_rules.parsing import Parsed, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_MEMBERS = 80
_MOST_ITEMS = 40
_MOST_CHILDREN = 6
_DEEPEST = 4
_FUNCTIONS = {"arrow_function", "function_expression", "function", "generator_function"}
_KINDS = {
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


class _Reader:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.symbols: list[Symbol] = []
        self.spans: list[tuple[int, int]] = []
        self.imports: list[Import] = []
        self.reexports: list[Import] = []
        self.calls: list[Call] = []
        self.exported: dict[str, str] = {}
        self.tests = 0

    def read(self) -> Outline:
        for node in self._statements():
            self._statement(node)
        self._lazy_imports()
        raised = self._raised()
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

    def text(self, node: Node | None) -> str:
        return "" if node is None else self.parsed.text(node).decode(errors="replace")

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
        if function is not None and function.type in _FUNCTIONS:
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
            if last is not None and last.type in _FUNCTIONS:
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
        members = tuple(Member(name=one, method=kind is Kind.NAMESPACE) for one in names[:_MOST_MEMBERS])
        self.symbols[at] = replace(self.symbols[at], kind=kind, members=members, summary=summary)
        self.spans[at] = (node.start_byte, node.end_byte)
        return True

    def _statement(self, node: Node) -> None:
        kind = node.type
        if kind == "import_statement":
            self._import(node)
        elif kind == "export_statement":
            self._export(node)
        elif kind in _KINDS or kind in ("lexical_declaration", "variable_declaration"):
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

    def _export_value(self, value: Node, node: Node) -> None:
        if value.type == "identifier":
            self.exported[self.text(value)] = self.text(value)
        elif value.type in _FUNCTIONS or value.type in _KINDS:
            for name in self._declaration(value, node):
                self.exported[name] = name
        else:
            items, size = self._items(value)
            self._add("default", Kind.CONSTANT, node, value=self._brief(value), items=items, size=size)
            self.exported["default"] = "default"

    def _declaration(self, node: Node, outer: Node) -> list[str]:
        """Add what a declaration declares; return its names. ``outer`` is the statement that comments stand above."""
        if node.type in ("lexical_declaration", "variable_declaration"):
            return [name for child in node.named_children for name in self._variable(child, outer)]
        if node.type in _FUNCTIONS:
            name = self.text(node.child_by_field_name("name")) or "default"
            self._function(name, node, outer)
            return [name]
        kind = _KINDS.get(node.type)
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
        if value is not None and value.type in _FUNCTIONS:
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

    def _expression(self, node: Node, outer: Node) -> None:
        if node.type == "assignment_expression":
            self._assigned(node, outer)
        elif node.type == "call_expression":
            if self._required(node, None):
                return
            name = self.text(node.child_by_field_name("function"))
            self._count_tests(name, node)
            if len(name) < 80 and re.fullmatch(r"[\w.$]+", name):
                self.calls.append(self._call(name, node))
        elif node.type in ("sequence_expression",):
            for child in node.named_children[:_MOST_MEMBERS]:
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
                if right.type in _FUNCTIONS:
                    self._function(name, right, outer)
                elif right.type == "class":
                    self._structure(name, Kind.CLASS, right, outer)
                elif self.text(right) not in ("void 0", "undefined"):
                    items, size = self._items(right)
                    self._add(name, Kind.CONSTANT, outer, value=self._brief(right), items=items, size=size)
            self.exported[name] = name
        elif found := re.fullmatch(r"(?:globalThis|window|self|global|root)\.([\w$]+)", left):
            if right.type in _FUNCTIONS:
                self._function(found[1], right, outer)
            else:
                items, size = self._items(right)
                self._add(found[1], Kind.CONSTANT, outer, value=self._brief(right), items=items, size=size)
        elif found := re.fullmatch(r"([\w$]+)\.prototype\.([\w$]+)", left):
            at = next((n for n, s in enumerate(self.symbols) if s.name == found[1]), None)
            if at is not None and len(self.symbols[at].members) < _MOST_MEMBERS:
                member = Member(
                    name=found[2],
                    method=right.type in _FUNCTIONS,
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

    def _add(
        self,
        name: str,
        kind: Kind,
        node: Node,
        *,
        summary: str = "",
        bases: tuple[str, ...] = (),
        members: tuple[Member, ...] = (),
        decorators: tuple[str, ...] = (),
        signature: str = "",
        returns: str = "",
        value: str = "",
        items: tuple[Item, ...] = (),
        size: int = 0,
        label: str = "",
        asynchronous: bool = False,
        generator: bool = False,
    ) -> None:
        if not name or "\ufffd" in name or len(name) > 100:
            return
        self.spans.append((node.start_byte, node.end_byte))
        self.symbols.append(
            Symbol(
                name=name,
                kind=kind,
                line=node.start_point[0] + 1,
                public=False,
                summary=summary,
                bases=bases,
                members=members,
                decorators=decorators,
                signature=signature,
                returns=returns,
                value=value,
                items=items,
                size=size,
                label=label,
                asynchronous=asynchronous,
                generator=generator,
            )
        )

    def _finished(self, at: int, symbol: Symbol, raised: dict[int, tuple[str, ...]]) -> Symbol:
        """Give a symbol its exported name, its errors, and whether it is public.

        A file that exports nothing is a script whose declarations are what it gives to others.
        """
        name = self.exported.get(symbol.name)
        public = name is not None if self.exported else not symbol.name.startswith("_")
        return replace(
            symbol, name=name or symbol.name, exported=name is not None, public=public, raises=raised.get(at, ())
        )

    def _raised(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, dict[str, None]] = {}
        order = sorted(range(len(self.spans)), key=lambda at: self.spans[at])
        starts = [self.spans[at][0] for at in order]
        for node in self.parsed.nodes("throw_statement") if order else []:
            at = bisect_right(starts, node.start_byte) - 1
            if at < 0 or node.start_byte >= self.spans[order[at]][1] or not node.named_children:
                continue
            what = node.named_children[0]
            if what.type == "new_expression":
                name = self.text(what.child_by_field_name("constructor"))
                if re.fullmatch(r"[\w.$]{3,60}", name):
                    found.setdefault(order[at], {})[name] = None
        return {at: tuple(names) for at, names in found.items()}

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
            if count >= _MOST_MEMBERS:
                return

    def _member(self, node: Node, *, method: bool) -> Member:
        name_node = node.child_by_field_name("name") or node.child_by_field_name("property")
        name = self.text(name_node)
        value = node.child_by_field_name("value")
        if value is not None and value.type in _FUNCTIONS:
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

    def _flat(self, node: Node | None) -> str:
        return "" if node is None or node.end_byte - node.start_byte > 400 else " ".join(self.text(node).split())

    def _brief(self, node: Node | None) -> str:
        if node is None or node.end_byte - node.start_byte > 60 or node.start_point[0] != node.end_point[0]:
            return ""
        return self.text(node)

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
                if text.startswith("/*"):
                    return "" if lines or is_licence(text) else self._block_sentence(text)
                lines.append(text.lstrip("/ "))
            row = sibling.start_point[0]
            sibling = sibling.prev_sibling
        return comment_sentence("\n".join(reversed(lines)))

    def _trails(self, comment: Node) -> bool:
        """Return whether a comment stands behind code on its line, and so belongs to that."""
        before = comment.prev_sibling
        return before is not None and before.is_named and before.end_point[0] == comment.start_point[0]

    def _block_sentence(self, text: str) -> str:
        body = _block_text(text)
        return first_sentence(body) if text.startswith("/**") else comment_sentence(body)

    def _first_comments(self) -> Iterator[tuple[Node, Node | None]]:
        """Yield the comments before the first statement, each with what stands behind it."""
        for child in self.parsed.root.named_children:
            if child.type == "comment":
                yield child, child.next_named_sibling
            elif child.type != "hash_bang_line":
                return

    def _documentation(self) -> str:
        """Return the first sentence of a block that describes the file: tagged so, or apart from the first symbol."""
        for node, behind in self._first_comments():
            text = self.text(node)
            if not text.startswith("/**") or is_licence(text):
                continue
            apart = behind is None or behind.type == "comment" or behind.start_point[0] > node.end_point[0] + 1
            if apart or re.search(r"@(file|fileoverview|module|packageDocumentation)\b", text):
                return first_sentence(_block_text(text))
        return ""

    def _leading(self) -> tuple[str, ...]:
        """Return the prose of the first comments; one that touches a declaration belongs to it and is left out."""
        kept: list[str] = []
        for node, behind in self._first_comments():
            text = self.text(node)
            touches = behind is not None and behind.start_point[0] <= node.end_point[0] + 1
            if touches and behind is not None and behind.type not in ("comment", "import_statement"):
                break
            body = _block_text(text) if text.startswith("/*") else text.lstrip("/ ")
            kept.append(body if not text.startswith("/*") else f"\n{body}\n")
        return leading_prose("\n".join(kept))[:3]


def _block_text(text: str) -> str:
    inner = text.removesuffix("*/").lstrip("/").lstrip("*!")
    return "\n".join(re.sub(r"^\s*\*+ ?", "", line).rstrip() for line in inner.splitlines())

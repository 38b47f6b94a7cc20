"""The outline of a Python file, from the nodes of its tree."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleet.jobs.document.languages.outline import Call, Import, Item, Kind, Member, Outline, Symbol
from fleet.jobs.document.languages.outline_text import comment_sentence, first_sentence, leading_prose
from replay_rules.parsing import Parsed, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_MEMBERS = 80
_MOST_ITEMS = 14
_MOST_CHILDREN = 6
_DEEPEST = 6
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_PREFIX = re.compile(r"^[rRuUbBfF]*(\"\"\"|'''|\"|')")
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


class _Reader:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.lines = parsed.content.split(b"\n")
        self.symbols: list[Symbol] = []
        self.spans: list[tuple[int, int]] = []
        self.imports: list[Import] = []
        self.calls: list[Call] = []
        self.main_calls: list[str] = []
        self.main = False
        self.exports: list[str] | None = None
        self.documentation = ""
        self.tests = 0

    def read(self) -> Outline:
        for node, depth in self._statements():
            self._statement(node, depth)
        raised = self._raised()
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

    def text(self, node: Node | None) -> str:
        return "" if node is None else self.parsed.text(node).decode(errors="replace")

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
        asynchronous: bool = False,
    ) -> None:
        if not name or "\ufffd" in name:
            return
        self.spans.append((node.start_byte, node.end_byte))
        self.symbols.append(
            Symbol(
                name=name,
                kind=kind,
                line=node.start_point[0] + 1,
                public=not name.startswith("_"),
                summary=summary,
                bases=bases,
                members=members,
                decorators=decorators,
                signature=signature,
                returns=returns,
                value=value,
                items=items,
                size=size,
                asynchronous=asynchronous,
            )
        )

    def _finished(
        self, at: int, symbol: Symbol, raised: dict[int, tuple[str, ...]], exports: tuple[str, ...] | None
    ) -> Symbol:
        from dataclasses import replace

        listed = exports is not None and symbol.name in exports
        public = listed if exports is not None else symbol.public
        errors = raised.get(at, ())
        if (public, listed, errors) == (symbol.public, symbol.exported, symbol.raises):
            return symbol
        return replace(symbol, public=public, exported=listed, raises=errors)

    def _raised(self) -> dict[int, tuple[str, ...]]:
        """Return the names of the errors that each function or class raises, by its number."""
        found: dict[int, dict[str, None]] = {}
        order = sorted(range(len(self.spans)), key=lambda at: self.spans[at])
        starts = [self.spans[at][0] for at in order]
        for node in self.parsed.nodes("raise_statement") if order else []:
            at = bisect_right(starts, node.start_byte) - 1
            if at < 0 or node.start_byte >= self.spans[order[at]][1] or not node.named_children:
                continue
            what = node.named_children[0]
            name = self.text(what.child_by_field_name("function") if what.type == "call" else what)
            if re.fullmatch(r"[\w.]*\b[A-Z]\w+", name):
                found.setdefault(order[at], {})[name.rpartition(".")[2]] = None
        return {at: tuple(names) for at, names in found.items()}

    def _bases(self, node: Node | None) -> tuple[str, ...]:
        if node is None:
            return ()
        kept = (child for child in node.named_children if child.type not in ("comment", "keyword_argument"))
        return tuple(text for child in kept if (text := self._flat(child)) and text != "object")

    def _members(self, body: Node | None) -> Iterator[Member]:
        count = 0
        for child in [] if body is None else body.named_children:
            definition = child
            if child.type == "decorated_definition":
                definition = child.child_by_field_name("definition") or child
            if definition.type == "function_definition":
                yield self._method(child, definition)
                count += 1
            elif definition.type == "expression_statement" and definition.named_children:
                first = definition.named_children[0]
                if first.type == "assignment":
                    yield from self._field(first, definition)
                    count += 1
            if count >= _MOST_MEMBERS:
                return

    def _method(self, node: Node, definition: Node) -> Member:
        name = self.text(definition.child_by_field_name("name"))
        return Member(
            name=name,
            method=True,
            signature=self._signature(definition.child_by_field_name("parameters")),
            summary=self._docstring(definition.child_by_field_name("body")) or self._comment_above(node),
            public=not name.startswith("_"),
        )

    def _field(self, assignment: Node, statement: Node) -> Iterator[Member]:
        left = assignment.child_by_field_name("left")
        if left is None or left.type != "identifier":
            return
        name = self.text(left)
        right = assignment.child_by_field_name("right")
        if right is not None and right.type == "parenthesized_expression" and right.named_children:
            right = right.named_children[0]
        items, size = self._items(right)
        value = self._joined(right) or self._brief(right) or self._flat(assignment.child_by_field_name("type"))
        if not value and right is not None and right.type == "call":
            value = self._flat(right.child_by_field_name("function")) + "(...)"
        yield Member(
            name=name,
            method=False,
            summary=self._comment_above(statement),
            public=not name.startswith("_"),
            value=value,
            items=items,
            size=size,
        )

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

    def _arguments(self, node: Node) -> tuple[str, ...]:
        """Return a call's plain arguments: strings by their content, names as they are; ``name=`` counts too."""
        arguments = node.child_by_field_name("arguments")
        found = []
        for child in [] if arguments is None else arguments.named_children:
            if child.type == "keyword_argument":
                key = self.text(child.child_by_field_name("name"))
                value = child.child_by_field_name("value")
                if key in ("name", "model_name") and value is not None and value.type == "string":
                    found.append(self._string(value))
            elif child.type == "string":
                found.append(self._string(child))
            elif child.type in ("identifier", "attribute"):
                found.append(self.text(child))
        return tuple(found[:_MOST_CHILDREN])

    def _given(self, node: Node) -> Iterator[Node]:
        """Yield the values of a call's arguments, named ones too."""
        arguments = node.child_by_field_name("arguments")
        for child in [] if arguments is None else arguments.named_children:
            value = child.child_by_field_name("value") if child.type == "keyword_argument" else child
            if value is not None:
                yield value

    def _inner_call(self, node: Node) -> str:
        """Return the name of the first function that is called among a call's arguments."""
        inner = next((one for one in self._given(node) if one.type == "call"), None)
        return "" if inner is None else self.text(inner.child_by_field_name("function"))

    def _inner_list(self, node: Node) -> tuple[int, tuple[str, ...]]:
        """Return the length of the first list among a call's arguments, and the first string of each element."""
        inner = next((one for one in self._given(node) if one.type == "list"), None)
        if inner is None:
            return 0, ()
        children = [child for child in inner.named_children if child.type != "comment"]
        names = []
        for child in children[:_MOST_CHILDREN]:
            first = child.named_children[0] if child.type == "tuple" and child.named_children else child
            if first.type == "string":
                names.append(self._string(first))
        return len(children), tuple(names)

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

    def _items(self, node: Node | None, depth: int = 0) -> tuple[tuple[Item, ...], int]:
        if node is None or depth > 1 or node.type not in ("list", "tuple", "set", "dictionary"):
            return (), 0
        children = [child for child in node.named_children if child.type != "comment"]
        found = (self._item(child, depth) for child in children[:_MOST_ITEMS])
        return tuple(item for item in found if item is not None), len(children)

    def _item(self, node: Node, depth: int) -> Item | None:
        if node.type == "pair":
            key = node.child_by_field_name("key")
            value = node.child_by_field_name("value")
            name = "" if key is None else self._string(key) if key.type == "string" else self._flat(key)
            items, size = self._items(value, depth + 1)
            return Item(name=name, value=self._brief(value), children=tuple(i.name for i in items), size=size)
        if node.type == "call":
            name = self.text(node.child_by_field_name("function"))
            size, inner = self._inner_list(node)
            called = self._inner_call(node)
            return Item(name=name, children=self._arguments(node), value=called, size=size, inner=inner)
        if node.type == "string":
            return Item(name=self._string(node))
        if node.type in ("tuple", "list"):
            items, size = self._items(node, depth + 1)
            return Item(name=items[0].name if items else "", children=tuple(i.name for i in items), size=size)
        if node.type in ("identifier", "attribute", "integer", "float"):
            return Item(name=self.text(node))
        return None

    def _signature(self, node: Node | None) -> str:
        """Return parameters without annotations and with short defaults, ``self`` and ``cls`` left out."""
        if node is None:
            return ""
        shown = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            name_node = child.child_by_field_name("name")
            if child.type == "typed_parameter":
                name_node = child.named_children[0] if child.named_children else None
            name = self._flat(name_node if name_node is not None else child)
            default = child.child_by_field_name("value")
            if default is not None:
                value = self._flat(default)
                name += "=" + (value if len(value) <= 16 and "\n" not in value else "...")
            shown.append(name)
        if shown and shown[0] in ("self", "cls"):
            shown = shown[1:]
        return f"({', '.join(shown)})"

    def _flat(self, node: Node | None) -> str:
        return "" if node is None or node.end_byte - node.start_byte > 400 else " ".join(self.text(node).split())

    def _brief(self, node: Node | None) -> str:
        """Return the text of a short plain value: a number, a string, a name, a call of a few names."""
        if node is None or node.end_byte - node.start_byte > 60 or node.start_point[0] != node.end_point[0]:
            return ""
        return self.text(node)

    def _joined(self, node: Node | None) -> str:
        """Return a long string, or several that stand side by side, as one in double quotes."""
        if node is None or node.type not in ("string", "concatenated_string") or node.end_byte - node.start_byte < 60:
            return ""
        parts = [node] if node.type == "string" else [one for one in node.named_children if one.type == "string"]
        text = " ".join("".join(self._string(one) for one in parts).split())
        return f'"{text}"' if len(text) < 400 else ""

    def _docstring(self, body: Node | None) -> str:
        for child in [] if body is None else body.named_children:
            if child.type == "comment":
                continue
            if child.type == "expression_statement" and child.named_children:
                first = child.named_children[0]
                if first.type == "string":
                    return first_sentence(self._string(first))
                if first.type == "concatenated_string":
                    return first_sentence("".join(self._string(part) for part in first.named_children))
            return ""
        return ""

    def _string(self, node: Node) -> str:
        """Return what stands between a string's quotes; escapes stay as written, joined lines are joined."""
        text = self.text(node)
        found = _PREFIX.match(text)
        if found is None:
            return ""
        return text[found.end() :].removesuffix(found[1]).replace("\\\n", "")

    def _comment_above(self, node: Node) -> str:
        """Return the first sentence of the comment lines that touch ``node`` from above at its own indentation."""
        row, column = node.start_point
        block: list[str] = []
        while row > 0:
            line = self.lines[row - 1]
            stripped = line.lstrip()
            if not stripped.startswith(b"#") or len(line) - len(stripped) != column:
                break
            block.append(stripped.lstrip(b"#:").decode(errors="replace").rstrip())
            row -= 1
        if not block or row == 0 or block[-1].startswith("!"):
            return ""
        return comment_sentence("\n".join(reversed(block)))

    def _leading(self) -> tuple[str, ...]:
        """Return the prose of the comments before the first statement."""
        rows = []
        for line in self.lines[:200]:
            stripped = line.strip().removeprefix(b"\xef\xbb\xbf")
            if stripped and not stripped.startswith(b"#"):
                break
            rows.append("" if stripped.startswith(b"#!") else stripped.lstrip(b"#").decode(errors="replace").strip())
        return leading_prose("\n".join(rows))[:3]

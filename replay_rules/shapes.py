"""What syntax nodes mean to the structure rules: which are sequences, what an element is called, what is literal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from replay_rules.parsing import Parsed
from replay_rules.sequences import SEQUENCES, label_in, literal_in, role_in

if TYPE_CHECKING:
    from tree_sitter import Node

_ROLES = {
    "module": "body",
    "program": "body",
    "block": "body",
    "statement_block": "body",
    "class_body": "class",
    "interface_body": "members",
    "object_type": "members",
    "dictionary": "pairs",
    "object": "pairs",
    "list": "list",
    "array": "list",
    "set": "set",
    "parameters": "params",
    "formal_parameters": "params",
    "object_pattern": "params",
    "import_from_statement": "names",
    "named_imports": "names",
    "switch_body": "cases",
    "enum_body": "enum-list",
}

_DEFINITIONS = frozenset(
    {
        "function_definition",
        "class_definition",
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "abstract_class_declaration",
        "interface_declaration",
        "type_alias_declaration",
        "enum_declaration",
        "method_definition",
        "method_signature",
        "abstract_method_signature",
        "property_signature",
    }
)
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function", "class"})
_HOLDERS = frozenset({"dictionary", "object", "list", "array", "set", "tuple", "call", "new_expression"})
_TESTS = frozenset({b"test", b"it", b"describe", b"suite", b"context"})
_ENUM = re.compile(rb"\b\w*(Enum|Flag)\b")
_ESCAPES = re.compile(rb"[\\\n]")


IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})


def is_import(parsed: Parsed, node: Node) -> bool:
    """Return whether a node is an import statement; C's includes are none, for a text may be meant twice."""
    if parsed.language in SEQUENCES:
        return node.type != "preproc_include" and node.type in SEQUENCES[parsed.language].imports
    return node.type in IMPORTS


def is_loose(node: Node) -> bool:
    """Return whether a node may belong to the one that follows: a comment, or an attribute that stands alone."""
    return is_comment(node) or node.type == "attribute_item"


def is_comment(node: Node) -> bool:
    """Return whether a node is a comment, of any kind."""
    return node.type.endswith("comment")


def role_of(parsed: Parsed, node: Node) -> str | None:
    """Return what kind of sequence a node's children are, or None."""
    if parsed.language in SEQUENCES:
        return role_in(parsed, node)
    kind = node.type
    if kind == "if_statement":
        return "chain" if parsed.language == "python" and node.parent is not None else None
    role = _ROLES.get(kind)
    if kind == "block" and node.parent is not None:
        if node.parent.type == "match_statement":
            return "cases"
        if node.parent.type == "class_definition":
            above = node.parent.child_by_field_name("superclasses")
            return "enum" if above is not None and _ENUM.search(parsed.text(above)) else "class"
    return role


def label(parsed: Parsed, node: Node, role: str) -> tuple[str, bytes]:
    """Return an element's kind and name; the name is empty where only its text says what it is."""
    if parsed.language in SEQUENCES:
        return label_in(parsed, node, role)
    match role:
        case "body" | "class" | "members" | "enum":
            return _statement(parsed, node, role)
        case "pairs":
            return _pair(parsed, node)
        case "params":
            return _parameter(parsed, node)
        case "names":
            return "name", b" ".join(parsed.text(node).split())
        case "enum-list":
            named = node.child_by_field_name("name") or node
            return "member", parsed.text(named).strip(b"\"'")
        case "cases" | "chain":
            return "clause", b""
    return "element", b""


def literal(parsed: Parsed, node: Node) -> bytes | None:
    """Return a form of a literal that is equal exactly for equal values, or None where it is no plain literal.

    Strings with escapes, prefixes or interpolation, and numbers written otherwise than in decimal digits, are not
    plain.
    """
    if parsed.language in SEQUENCES:
        return literal_in(parsed, node)
    text = parsed.text(node)
    if node.type == "string":
        quote = text[:1]
        if quote not in (b'"', b"'") or text[:3] in (b'"""', b"'''") or _ESCAPES.search(text):
            return None
        return b"s" + text[1:-1]
    if node.type in ("integer", "number"):
        return b"n" + text if re.fullmatch(rb"0|[1-9][0-9]{0,99}", text) else None
    if node.type == "unary_operator" or node.type == "unary_expression":
        return b"n" + text if re.fullmatch(rb"-[1-9][0-9]{0,99}", text) else None
    return None


def inner(node: Node) -> Node:
    """Return the definition within decorators and exports, or the node itself."""
    while True:
        below = None
        if node.type == "decorated_definition":
            below = node.child_by_field_name("definition")
        elif node.type == "export_statement":
            below = node.child_by_field_name("declaration")
        if below is None:
            return node
        node = below


def tokens(parsed: Parsed, node: Node) -> Iterator[tuple[str, bytes]]:
    """Yield kind and bytes of a node's leaves in order, comments left out."""
    cursor = node.walk()
    while True:
        here = cursor.node
        if here is not None and here.type == "string":
            yield here.type, parsed.text(here)
        elif cursor.goto_first_child():
            continue
        elif here is not None and not is_comment(here):
            yield here.type, parsed.text(here)
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def structure(parsed: Parsed, node: Node) -> Iterator[tuple[int, str, bytes]]:
    """Yield depth, kind and, of leaves, bytes of a node and all below it in order, comments left out.

    Tokens alone are not enough where the end of a line may end a statement.
    """
    cursor = node.walk()
    depth = 0
    while True:
        here = cursor.node
        if here is not None and not is_comment(here):
            yield depth, here.type, b"" if here.child_count else parsed.text(here)
            if cursor.goto_first_child():
                depth += 1
                continue
        while not cursor.goto_next_sibling():
            depth -= 1
            if not cursor.goto_parent():
                return


def identifiers(parsed: Parsed, node: Node) -> set[bytes]:
    """Return the plain names that a node mentions; attributes and property names are not plain names."""
    known = SEQUENCES.get(parsed.language)
    words = known.words if known is not None else ("identifier", "type_identifier")
    return {text for kind, text in _named_leaves(parsed, node) if kind in words}


def _named_leaves(parsed: Parsed, node: Node) -> Iterator[tuple[str, bytes]]:
    before = b""
    for kind, text in tokens(parsed, node):
        if before != b".":
            yield kind, text
        before = text


def _statement(parsed: Parsed, node: Node, role: str) -> tuple[str, bytes]:
    if node.type in IMPORTS:
        return "import", _import_key(parsed, node)
    core = inner(node)
    if core.type in _DEFINITIONS:
        name = core.child_by_field_name("name")
        if name is None:
            return "other", b""
        return "def", _accessor(parsed, node, core) + parsed.text(name)
    if core.type in ("expression_statement", "lexical_declaration"):
        return _assigned(parsed, core, role)
    return "other", b""


def _accessor(parsed: Parsed, node: Node, core: Node) -> bytes:
    """Return what tells a property's getter from its setter, or one overload from the next."""
    if node.type == "decorated_definition":
        for child in node.named_children:
            text = parsed.text(child)
            if child.type == "decorator" and text.endswith((b".setter", b".deleter", b".getter", b"overload")):
                return text + b" "
    first = core.children[0].type if core.children else ""
    return first.encode() + b" " if first in ("get", "set", "static") else b""


def _assigned(parsed: Parsed, core: Node, role: str) -> tuple[str, bytes]:
    if core.named_child_count != 1:
        return "other", b""
    only = core.named_children[0]
    if only.type == "assignment":
        left, right = only.child_by_field_name("left"), only.child_by_field_name("right")
    elif only.type == "variable_declarator":
        left, right = only.child_by_field_name("name"), only.child_by_field_name("value")
    elif only.type == "call_expression" and role == "body":
        return _test_call(parsed, only)
    else:
        return "other", b""
    if left is None or right is None or left.type != "identifier":
        return "other", b""
    if role == "enum":
        return "member", parsed.text(left)
    if right.type in _FUNCTIONS:
        return "def", parsed.text(left)
    return ("bound", parsed.text(left)) if role == "body" and right.type in _HOLDERS else ("other", b"")


def _test_call(parsed: Parsed, call: Node) -> tuple[str, bytes]:
    called, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if called is None or arguments is None or parsed.text(called) not in _TESTS or not arguments.named_children:
        return "other", b""
    title = literal(parsed, arguments.named_children[0])
    return ("def", parsed.text(called) + b" " + title) if title else ("other", b"")


def _import_key(parsed: Parsed, node: Node) -> bytes:
    text = b" ".join(parsed.text(node).split())
    if node.type == "import_from_statement":
        module = node.child_by_field_name("module_name")
        if module is not None and b"*" not in text:
            return b"from " + parsed.text(module)
    source = node.child_by_field_name("source")
    if source is not None:
        head = text[: text.find(b"{")] if b"{" in text else None
        if head in (b"import ", b"import type "):
            return head + parsed.text(source)[1:-1]
    return text.rstrip(b";")


def _pair(parsed: Parsed, node: Node) -> tuple[str, bytes]:
    if node.type == "pair":
        key = node.child_by_field_name("key")
        if key is None:
            return "other", b""
        if key.type == "property_identifier":
            return "pair", b"s" + parsed.text(key)
        plain = literal(parsed, key)
        if plain is not None:
            return "pair", plain
        if key.type == "attribute" and re.fullmatch(rb"[\w.]+", parsed.text(key)):
            return "pair", b"a" + parsed.text(key)
        return "other", b""
    if node.type == "shorthand_property_identifier":
        return "pair", b"s" + parsed.text(node)
    if node.type == "method_definition":
        name = node.child_by_field_name("name")
        accessor = bool(node.children) and node.children[0].type in ("get", "set")
        if name is not None and name.type == "property_identifier" and not accessor:
            return "pair", b"s" + parsed.text(name)
    return "other", b""


def _parameter(parsed: Parsed, node: Node) -> tuple[str, bytes]:
    name = node.child_by_field_name("name") or node.child_by_field_name("pattern") or node.child_by_field_name("left")
    if name is None and node.type == "typed_parameter":
        name = node.children[0]
    if name is None and node.type in ("identifier", "shorthand_property_identifier_pattern"):
        name = node
    if name is None or name.type not in ("identifier", "shorthand_property_identifier_pattern"):
        return "other", b""
    return "param", parsed.text(name)


def bound_name(parsed: Parsed, node: Node) -> bytes | None:
    """Return the one plain name that a statement binds to a value computed without calls, or None."""
    core = inner(node)
    if core.type not in ("expression_statement", "lexical_declaration") or core.named_child_count != 1:
        return None
    only = core.named_children[0]
    if only.type not in ("assignment", "variable_declarator"):
        return None
    left = only.child_by_field_name("left") or only.child_by_field_name("name")
    right = only.child_by_field_name("right") or only.child_by_field_name("value")
    if left is None or right is None or left.type != "identifier":
        return None
    acts = [kind for kind in _kinds(right) if kind in _CALLS or kind in _ACTS]
    called = parsed.text(right).partition(b"(")[0]
    pure = not acts or (called in _PURE and len(acts) == 1 and acts[0] in _CALLS)
    return parsed.text(left) if pure else None


_ACTS = frozenset({"await", "await_expression", "yield", "yield_expression", "assignment", "assignment_expression"})
_CALLS = frozenset({"call", "call_expression", "new_expression"})
_PURE = frozenset(
    {b"re.compile", b"frozenset", b"set", b"tuple", b"TypeVar", b"logging.getLogger", b"Decimal", b"Path"}
)


def _kinds(node: Node) -> Iterator[str]:
    cursor = node.walk()
    while True:
        if cursor.node is not None:
            yield cursor.node.type
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return

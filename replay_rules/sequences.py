"""What syntax nodes mean in Go, Rust, Java, Kotlin, C, C++, C#, Swift and Ruby, as data and a few readers.

In these languages the rules know what stands at the top of a file, in a class and in a list whose order is known to
mean nothing, or to mean no more than a member's place. The statements of a function are no sequence here: where two
sides change one function body, only lines that merge cleanly merge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from replay_rules.grammars import GRAMMARS
from replay_rules.parsing import Parsed
from replay_rules.symbols import parameters_of, plain_name, receiver_of

if TYPE_CHECKING:
    from tree_sitter import Node

PATHS: tuple[str, ...] = (
    *("*.go", "*.rs", "*.java", "*.kt", "*.kts", "*.c", "*.h", "*.cc", "*.cpp", "*.cxx", "*.hh", "*.hpp", "*.hxx"),
    *("*.cs", "*.swift", "*.rb", "*.rake"),
)
"""The paths of these languages, for a rule's ``APPLIES``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences:
    """The sequences of one language.

    Attributes:
        roles: node kind, or the kinds of a node and of its parent, to what `replay_rules.shapes.role_of` says of it.
        imports: node kinds of import statements.
        words: kinds of the leaves that are names.
    """

    roles: Mapping[str | tuple[str, str], str]
    imports: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset({"identifier", "type_identifier"})


_C_ROLES: dict[str | tuple[str, str], str] = {"translation_unit": "body", "enumerator_list": "enum-list"}

SEQUENCES: Mapping[str, Sequences] = {
    "go": Sequences(
        roles={
            "source_file": "body",
            "import_spec_list": "imports",
            "const_declaration": "enum",
            "interface_type": "members",
            ("composite_literal", "literal_value"): "pairs",
        },
        imports=frozenset({"import_declaration", "import_spec"}),
    ),
    "rust": Sequences(
        roles={
            "source_file": "body",
            ("mod_item", "declaration_list"): "body",
            ("impl_item", "declaration_list"): "class",
            ("trait_item", "declaration_list"): "members",
            "enum_variant_list": "enum-list",
            "use_list": "names",
        },
        imports=frozenset({"use_declaration"}),
    ),
    "java": Sequences(
        roles={
            "program": "body",
            "class_body": "class",
            "interface_body": "members",
            "enum_body": "enum-list",
        },
        imports=frozenset({"import_declaration"}),
    ),
    "kotlin": Sequences(
        roles={
            "source_file": "body",
            "class_body": "class",
            "enum_class_body": "enum-list",
            ("call_expression", "value_arguments"): "pairs",
        },
        imports=frozenset({"import"}),
    ),
    "c": Sequences(roles=_C_ROLES, imports=frozenset({"preproc_include"})),
    "cpp": Sequences(
        roles={
            **_C_ROLES,
            ("namespace_definition", "declaration_list"): "body",
            ("class_specifier", "field_declaration_list"): "class",
            ("struct_specifier", "field_declaration_list"): "class",
        },
        imports=frozenset({"preproc_include"}),
    ),
    "c_sharp": Sequences(
        roles={
            "compilation_unit": "body",
            ("namespace_declaration", "declaration_list"): "body",
            "declaration_list": "class",
            "enum_member_declaration_list": "enum-list",
        },
        imports=frozenset({"using_directive"}),
        words=frozenset({"identifier"}),
    ),
    "swift": Sequences(
        roles={"source_file": "body", "class_body": "class", "protocol_body": "members", "enum_class_body": "enum"},
        imports=frozenset({"import_declaration"}),
        words=frozenset({"simple_identifier", "type_identifier"}),
    ),
    "ruby": Sequences(
        roles={
            "program": "body",
            ("class", "body_statement"): "class",
            ("module", "body_statement"): "class",
            ("do_block", "body_statement"): "body",
            "hash": "pairs",
        },
        words=frozenset({"identifier", "constant"}),
    ),
}

_WRAPPERS = frozenset({"type_declaration", "template_declaration"})
_WHOLE = frozenset({"function", "class", "type", "space"})
_MEMBERS = frozenset(
    {"const_spec", "enum_variant", "enum_constant", "enum_entry", "enumerator", "enum_member_declaration"}
)
_MAPS = frozenset({b"mapOf", b"mutableMapOf", b"hashMapOf", b"linkedMapOf"})
_TESTS = frozenset({b"describe", b"context", b"it", b"specify", b"test", b"feature", b"scenario"})
_MACRO = re.compile(rb"[A-Z][A-Z0-9_]*")
_STRINGS = frozenset({"interpreted_string_literal", "string", "string_literal", "line_string_literal"})
_ESCAPED = re.compile(rb"[\\\n]")
_FILLED = {"ruby": b"#{", "kotlin": b"$"}
"""What begins a place in a string that is filled in when it is read."""


def role_in(parsed: Parsed, node: Node) -> str | None:
    """Return what kind of sequence a node's children are, or None."""
    roles = SEQUENCES[parsed.language].roles
    above = node.parent
    role = roles.get((above.type, node.type)) if above is not None else None
    role = role or roles.get(node.type)
    if role == "pairs" and node.type in ("literal_value", "value_arguments"):
        return role if above is not None and _is_map(parsed, above) else None
    if node.type == "const_declaration":
        return role if any(child.type == "(" for child in node.children) else None
    return role


def label_in(parsed: Parsed, node: Node, role: str) -> tuple[str, bytes]:
    """Return an element's kind and name; see `replay_rules.shapes.label`."""
    known = SEQUENCES[parsed.language]
    if node.type in known.imports:
        return "import", b" ".join(parsed.text(node).split()).partition(b"{")[0].rstrip(b"; ")
    if role == "names":
        return "name", b" ".join(parsed.text(node).split())
    if role == "pairs":
        key = _key(parsed, node)
        return ("pair", key) if key else ("other", b"")
    if role in ("enum", "enum-list") and node.type in _MEMBERS:
        names = node.children_by_field_name("name") or node.named_children[:1]
        return ("member", parsed.text(names[0])) if len(names) == 1 else ("other", b"")
    name = _defined(parsed, node)
    return ("def", name) if name else ("other", b"")


def _defined(parsed: Parsed, node: Node) -> bytes:
    """Return a definition's name, last behind a blank: before that its receiver or its parameters; else nothing."""
    core = node
    while core.type in _WRAPPERS:
        inner = [child for child in core.named_children if child.type != "template_parameter_list"]
        if len(inner) != 1:
            return b""
        core = inner[0]
    if core.type == "call" and parsed.language == "ruby":
        return _test(parsed, core)
    if core.type == "declaration":
        return _prototype(parsed, core)
    grammar = GRAMMARS[parsed.language]
    if core.type == "property_declaration":
        return plain_name(parsed, core) if parsed.language == "c_sharp" and not _initialised(core) else b""
    if core.type == "method_elem":
        return plain_name(parsed, core)
    if grammar.kinds.get(core.type) not in _WHOLE or core.type == "preproc_function_def":
        return b""
    if core.type == "impl_item":
        return b"".join(parsed.content[core.start_byte : core.end_byte].partition(b"{")[0].split())
    name = plain_name(parsed, core)
    if core.type == "function_definition" and core.child_by_field_name("type") is None and _MACRO.fullmatch(name):
        return b"".join(parameters_of(parsed, core).split())
    if core.type in ("init_declaration", "companion_object"):
        name = core.type.partition("_")[0].encode()
    if not name:
        return b""
    declared = core.child_by_field_name("name")
    if declared is not None and declared.type == "user_type":
        return b"extension " + name
    if core.type == "singleton_method":
        return b"self " + name
    before = b"".join(parameters_of(parsed, core).split()) if core.type in grammar.overloads else b""
    return b" ".join([*filter(None, (before, *receiver_of(parsed, core))), name])


def literal_in(parsed: Parsed, node: Node) -> bytes | None:
    """Return a form of a literal that is equal exactly for equal values, or None; see `replay_rules.shapes.literal`."""
    text = parsed.text(node)
    if node.type in _STRINGS:
        filled = _FILLED.get(parsed.language)
        plain = len(text) > 1 and text[:1] in (b'"', b"'") and text[:3] != b'"""' and not _ESCAPED.search(text)
        return b"s" + text[1:-1] if plain and not (filled and filled in text) else None
    if node.type in ("hash_key_symbol", "simple_symbol"):
        return b"y" + text.lstrip(b":")
    if node.type in ("int_literal", "integer_literal", "number_literal", "integer"):
        return b"n" + text if re.fullmatch(rb"0|[1-9][0-9]{0,99}", text) else None
    return None


def member_value(parsed: Parsed, node: Node) -> bytes | None:
    """Return an enumeration member's literal; None where its place gives the value; nothing where it is neither."""
    value = node.child_by_field_name("value") or node.child_by_field_name("raw_value")
    if value is None:
        return None
    if value.type == "expression_list":
        if value.named_child_count != 1:
            return b""
        value = value.named_children[0]
    if re.search(rb"\biota\b", parsed.text(value)):
        return None
    return literal_in(parsed, value) or b""


def _is_map(parsed: Parsed, above: Node) -> bool:
    if above.type == "composite_literal":
        kind = above.child_by_field_name("type")
        return kind is not None and kind.type == "map_type"
    called = above.named_children[0] if above.named_children else None
    return called is not None and parsed.text(called) in _MAPS


def _key(parsed: Parsed, node: Node) -> bytes | None:
    key = node.child_by_field_name("key")
    if node.type == "value_argument" and node.named_child_count == 1:
        pair = node.named_children[0]
        parts = pair.named_children if pair.type == "infix_expression" else []
        key = parts[0] if len(parts) == 3 and parsed.text(parts[1]) == b"to" else None
    if key is not None and key.type == "literal_element" and key.named_child_count == 1:
        key = key.named_children[0]
    return literal_in(parsed, key) if key is not None else None


def _test(parsed: Parsed, call: Node) -> bytes:
    method, arguments = call.child_by_field_name("method"), call.child_by_field_name("arguments")
    named = method is not None and call.child_by_field_name("receiver") is None and parsed.text(method) in _TESTS
    if not named or method is None or arguments is None or not arguments.named_children:
        return b""
    title = literal_in(parsed, arguments.named_children[0])
    return parsed.text(method) + b" " + title if title and call.child_by_field_name("block") is not None else b""


def _prototype(parsed: Parsed, node: Node) -> bytes:
    declarators = node.children_by_field_name("declarator")
    if len(declarators) != 1:
        return b""
    at: Node | None = declarators[0]
    while at is not None and at.type in ("pointer_declarator", "reference_declarator"):
        at = at.child_by_field_name("declarator")
    if at is None or at.type != "function_declarator":
        return b""
    return b"".join(parsed.text(at).split()) + b" " + plain_name(parsed, node)


def _initialised(node: Node) -> bool:
    return any(child.type == "=" for child in node.children)

"""What defines a name in each language, as data: node kinds of the grammars and how they are read.

A definition's kind is one of ``function``, ``class``, ``variable`` (a constant or field, outside of functions),
``member`` (of an enumeration), ``type``, ``test`` (a call of a test runner) and ``space`` (a namespace, an extension or
an ``impl``, which may be opened many times).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """How the definitions of one language are found.

    Attributes:
        kinds: node kind to the definition's kind.
        patterns: query patterns beside those, their node captured as ``n``; ``kinds`` names the kind of that node.
        overloads: node kinds of which several with different parameters may bear one name.
        once: query patterns of what must differ within one node, captured as ``n`` within ``h``: the keys of a literal,
            the names in a call or a signature, the fields of a type, the cases of a decision.
    """

    kinds: Mapping[str, str]
    patterns: tuple[str, ...] = ()
    overloads: frozenset[str] = field(default_factory=frozenset)
    once: tuple[str, ...] = ()

    @property
    def query(self) -> str:
        """Return the query that finds every node that may define a name."""
        own = {kind for pattern in self.patterns for kind in self.kinds if f"({kind}" in pattern}
        plain = [f"({kind}) @n" for kind in self.kinds if kind not in own]
        return " ".join([*plain, *self.patterns])


_SCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "function",
    "variable_declarator": "variable",
    "assignment_expression": "variable",
    "call_expression": "test",
}
_SCRIPT_PATTERNS = (
    "(expression_statement (assignment_expression left: (member_expression)) @n)",
    "(expression_statement (call_expression function: (identifier) arguments: (arguments . (string))) @n)",
)
_SCRIPT_ONCE = (
    "(object (pair key: (_) @n)) @h",
    "(object (method_definition name: (_) @n)) @h",
    "(switch_body (switch_case value: (_) @n)) @h",
)
_PLAIN_ONCE = (
    *_SCRIPT_ONCE,
    "(formal_parameters (identifier) @n) @h",
    "(formal_parameters (assignment_pattern left: (identifier) @n)) @h",
)
_TYPED_ONCE = (
    *_SCRIPT_ONCE,
    "(formal_parameters (required_parameter pattern: (identifier) @n)) @h",
    "(formal_parameters (optional_parameter pattern: (identifier) @n)) @h",
)
_TAG_ONCE = tuple(
    f"({kind} (jsx_attribute (property_identifier) @n)) @h"
    for kind in ("jsx_opening_element", "jsx_self_closing_element")
)
_TYPED = Grammar(
    kinds={
        **_SCRIPT,
        "abstract_class_declaration": "class",
        "interface_declaration": "type",
        "type_alias_declaration": "type",
        "enum_declaration": "class",
        "enum_assignment": "member",
        "function_signature": "function",
        "method_signature": "function",
        "abstract_method_signature": "function",
        "public_field_definition": "variable",
        "property_signature": "variable",
        "internal_module": "space",
        "module": "space",
    },
    patterns=(*_SCRIPT_PATTERNS, "(enum_body name: (property_identifier) @n)"),
    overloads=frozenset({"function_signature", "method_signature", "abstract_method_signature"}),
    once=_TYPED_ONCE,
)
_C = {
    "function_definition": "function",
    "struct_specifier": "class",
    "union_specifier": "class",
    "enum_specifier": "class",
    "enumerator": "member",
    "type_definition": "type",
    "preproc_def": "variable",
    "preproc_function_def": "function",
}
_C_PATTERNS = tuple(f"({kind} body: (_)) @n" for kind in ("struct_specifier", "union_specifier", "enum_specifier"))
_C_ONCE = (
    "(field_declaration_list (field_declaration declarator: (field_identifier) @n)) @h",
    "(compound_statement (case_statement value: (_) @n)) @h",
)

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        kinds={"function_definition": "function", "class_definition": "class", "assignment": "variable"},
        patterns=("(expression_statement (assignment left: (identifier)) @n)",),
        once=(
            "(dictionary (pair key: (_) @n)) @h",
            "(argument_list (keyword_argument name: (identifier) @n)) @h",
            "(parameters (identifier) @n) @h",
            "(parameters (typed_parameter . (identifier) @n)) @h",
            "(parameters (default_parameter name: (identifier) @n)) @h",
            "(parameters (typed_default_parameter name: (identifier) @n)) @h",
        ),
    ),
    "javascript": Grammar(
        kinds={**_SCRIPT, "field_definition": "variable"},
        patterns=_SCRIPT_PATTERNS,
        once=(*_PLAIN_ONCE, *_TAG_ONCE),
    ),
    "typescript.typescript": _TYPED,
    "typescript.tsx": replace(_TYPED, once=(*_TYPED_ONCE, *_TAG_ONCE)),
    "go": Grammar(
        kinds={
            "function_declaration": "function",
            "method_declaration": "function",
            "type_spec": "type",
            "type_alias": "type",
            "const_spec": "variable",
            "var_spec": "variable",
        },
        once=(
            "(literal_value (keyed_element . (literal_element) @n)) @h",
            "(field_declaration_list (field_declaration name: (field_identifier) @n)) @h",
            "(parameter_list (parameter_declaration name: (identifier) @n)) @h",
            "(expression_switch_statement (expression_case value: (expression_list (_) @n))) @h",
        ),
    ),
    "rust": Grammar(
        kinds={
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "class",
            "union_item": "class",
            "enum_item": "class",
            "enum_variant": "member",
            "trait_item": "class",
            "type_item": "type",
            "const_item": "variable",
            "static_item": "variable",
            "macro_definition": "function",
            "mod_item": "class",
            "impl_item": "space",
        },
        once=(
            "(field_initializer_list (field_initializer field: (field_identifier) @n)) @h",
            "(field_declaration_list (field_declaration name: (field_identifier) @n)) @h",
            "(match_block (match_arm pattern: (match_pattern) @n)) @h",
        ),
    ),
    "java": Grammar(
        kinds={
            "class_declaration": "class",
            "interface_declaration": "class",
            "enum_declaration": "class",
            "record_declaration": "class",
            "annotation_type_declaration": "class",
            "method_declaration": "function",
            "constructor_declaration": "function",
            "variable_declarator": "variable",
            "enum_constant": "member",
        },
        overloads=frozenset({"method_declaration", "constructor_declaration"}),
        once=(
            "(formal_parameters (formal_parameter name: (identifier) @n)) @h",
            "(switch_block (switch_block_statement_group (switch_label (_) @n))) @h",
            "(switch_block (switch_rule (switch_label (_) @n))) @h",
        ),
    ),
    "kotlin": Grammar(
        kinds={
            "class_declaration": "class",
            "object_declaration": "class",
            "companion_object": "class",
            "function_declaration": "function",
            "property_declaration": "variable",
            "type_alias": "type",
            "enum_entry": "member",
        },
        overloads=frozenset({"function_declaration"}),
        once=(
            "(class_parameters (class_parameter . (identifier) @n)) @h",
            "(class_parameters (class_parameter . (modifiers) . (identifier) @n)) @h",
            "(when_expression (when_entry condition: (_) @n)) @h",
        ),
    ),
    "c_sharp": Grammar(
        kinds={
            "namespace_declaration": "space",
            "class_declaration": "class",
            "interface_declaration": "class",
            "struct_declaration": "class",
            "record_declaration": "class",
            "enum_declaration": "class",
            "delegate_declaration": "type",
            "method_declaration": "function",
            "constructor_declaration": "function",
            "property_declaration": "variable",
            "variable_declarator": "variable",
            "enum_member_declaration": "member",
        },
        overloads=frozenset({"method_declaration", "constructor_declaration"}),
        once=(
            "(parameter_list (parameter name: (identifier) @n)) @h",
            "(switch_body (switch_section (constant_pattern) @n)) @h",
        ),
    ),
    "swift": Grammar(
        kinds={
            "class_declaration": "class",
            "protocol_declaration": "class",
            "function_declaration": "function",
            "protocol_function_declaration": "function",
            "init_declaration": "function",
            "property_declaration": "variable",
            "protocol_property_declaration": "variable",
            "typealias_declaration": "type",
            "enum_entry": "member",
        },
        overloads=frozenset({"function_declaration", "protocol_function_declaration", "init_declaration"}),
        once=(
            "(dictionary_literal key: (_) @n) @h",
            "(switch_statement (switch_entry (switch_pattern) @n)) @h",
        ),
    ),
    "c": Grammar(kinds=_C, patterns=_C_PATTERNS, once=_C_ONCE),
    "cpp": Grammar(
        kinds={**_C, "class_specifier": "class", "alias_declaration": "type", "namespace_definition": "space"},
        patterns=(*_C_PATTERNS, "(class_specifier body: (_)) @n"),
        overloads=frozenset({"function_definition"}),
        once=_C_ONCE,
    ),
    "ruby": Grammar(
        kinds={
            "class": "class",
            "module": "class",
            "method": "function",
            "singleton_method": "function",
            "assignment": "variable",
        },
        patterns=("(assignment left: (constant)) @n", "(class name: (_)) @n", "(module name: (_)) @n"),
        once=(
            "(hash (pair key: (_) @n)) @h",
            "(argument_list (pair key: (_) @n)) @h",
            "(case (when pattern: (pattern) @n)) @h",
        ),
    ),
}

_SUFFIXES: Mapping[bytes, str] = {
    b".py": "python",
    b".pyi": "python",
    b".pyw": "python",
    b".js": "javascript",
    b".jsx": "javascript",
    b".mjs": "javascript",
    b".cjs": "javascript",
    b".ts": "typescript.typescript",
    b".mts": "typescript.typescript",
    b".cts": "typescript.typescript",
    b".tsx": "typescript.tsx",
    b".go": "go",
    b".rs": "rust",
    b".java": "java",
    b".kt": "kotlin",
    b".kts": "kotlin",
    b".cs": "c_sharp",
    b".swift": "swift",
    b".c": "c",
    b".h": "c",
    b".cc": "cpp",
    b".cpp": "cpp",
    b".cxx": "cpp",
    b".hh": "cpp",
    b".hpp": "cpp",
    b".hxx": "cpp",
    b".rb": "ruby",
    b".rake": "ruby",
}


def language_of(path: bytes) -> str | None:
    """Return the grammar of a path by its suffix (the name that `replay_rules.parsing.parse` takes), or None.

    >>> language_of(b"src/App.tsx")
    'typescript.tsx'
    """
    _, dot, suffix = path.rpartition(b"/")[2].lower().rpartition(b".")
    return _SUFFIXES.get(dot + suffix)

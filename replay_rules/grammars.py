"""What defines a name in each language, as data: node kinds of the grammars and how they are read.

A definition's kind is one of ``function``, ``class``, ``variable`` (a constant or field, outside of functions),
``member`` (of an enumeration), ``type``, ``test`` (a call of a test runner) and ``space`` (a namespace, an extension or
an ``impl``, which may be opened many times).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """How the definitions of one language are found.

    Attributes:
        kinds: node kind to the definition's kind.
        patterns: query patterns beside those, their node captured as ``n``; ``kinds`` names the kind of that node.
        overloads: node kinds of which several with different parameters may bear one name.
        pairs: node kind of a literal's entry with a field ``key``, where the literal's keys must differ.
    """

    kinds: Mapping[str, str]
    patterns: tuple[str, ...] = ()
    overloads: frozenset[str] = field(default_factory=frozenset)
    pairs: str = ""

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
    pairs="pair",
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

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        kinds={"function_definition": "function", "class_definition": "class", "assignment": "variable"},
        patterns=("(expression_statement (assignment left: (identifier)) @n)",),
        pairs="pair",
    ),
    "javascript": Grammar(kinds={**_SCRIPT, "field_definition": "variable"}, patterns=_SCRIPT_PATTERNS, pairs="pair"),
    "typescript.typescript": _TYPED,
    "typescript.tsx": _TYPED,
    "go": Grammar(
        kinds={
            "function_declaration": "function",
            "method_declaration": "function",
            "type_spec": "type",
            "type_alias": "type",
            "const_spec": "variable",
            "var_spec": "variable",
        }
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
        }
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
    ),
    "c": Grammar(kinds=_C, patterns=_C_PATTERNS),
    "cpp": Grammar(
        kinds={**_C, "class_specifier": "class", "alias_declaration": "type", "namespace_definition": "space"},
        patterns=(*_C_PATTERNS, "(class_specifier body: (_)) @n"),
        overloads=frozenset({"function_definition"}),
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

"""What C and C++ share: where comments end in spite of splices, what speaks to their tools, and their outline."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages._commented import Commented, Marks
from fleet.jobs.document.languages._leading_comments import SPLICED_SLASHES, Lexis
from fleet.jobs.document.languages.outline import Import, Kind
from fleet.jobs.document.languages.outline_declared import Declared
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from tree_sitter import Node

C_LEXIS = Lexis(line=SPLICED_SLASHES, unsafe=re.compile(rb"\*(?:\\|\?\?/)[ \t]*\r?\n|\?\?/[ \t]*(?:\r?\n|\Z)"))
_DIRECTIVE = re.compile(
    rb"\A[/*\s]*(?:clang-format\s+off|NOLINTBEGIN|IWYU\s+pragma|RUN\s*:|REQUIRES\s*:|UNSUPPORTED\s*:|expected-|"
    rb"\{\s*dg-|lint\s+-|-\*-|(?:vim?|ex):|LCOV_EXCL|GCOV_EXCL|coverity\[|cppcheck-suppress-file|@ts-)|"
    rb"-\*-\s*(?:mode|c)\b",
    re.IGNORECASE,
)
_HEADER = re.compile(rb"[@\\](?:file|brief|addtogroup|defgroup|mainpage|headerfile)\b")
_NEXT = re.compile(rb"[/*\s]*(?:NOLINTNEXTLINE|cppcheck-suppress\b|coverity\[|static\s*\Z)", re.IGNORECASE)
_FILE_CODE = re.compile(rb"#\s*(?:include|import|pragma|if|ifdef|ifndef)\b|module\s*;|export\s+module\b")
_DEEPEST = 12
_NO_NAMES = frozenset(
    {
        "bool",
        "char",
        "const",
        "double",
        "float",
        "int",
        "long",
        "short",
        "signed",
        "size_t",
        "struct",
        "unsigned",
        "void",
    }
)
"""What the grammar takes for a name where a macro stands before the type."""

_MACRO = re.compile(
    rb"^[ \t]*[A-Z_][A-Z0-9_]{3,}[ \t]*$|(?<=\bclass )[A-Z][A-Z0-9_]{3,}(?:\([^()\n]*\))?(?=\s+\w)|"
    rb"(?<=\bstruct )[A-Z][A-Z0-9_]{3,}(?:\([^()\n]*\))?(?=\s+\w)|"
    rb"(?:(?<=\))|(?<=\)[ \n]const)|(?<=\bnoexcept)|(?<=\boverride))(?:[ \t]|\n[ \t]+)"
    rb"[A-Z][A-Z0-9]{1,20}_[A-Z0-9_]{1,60}\b(?:\([^()\n]*\))?(?=\s*(?:;|\{|=|override\b|final\b))",
    re.MULTILINE,
)
C_RULES = (
    rule("spliced line", "\\", r"\\+(?=\s|\Z)", ""),
    rule("trigraph", "??", r"\?{2,}(?=[=/'()!<>-])", "?"),
    rule("file command", "@ \\", r"[@\\](?=(?:file|brief|addtogroup|defgroup|mainpage)\b)", ""),
    rule("coverage mark", "_excl_", r"\b([LG]COVR?)_EXCL_", r"\1 EXCL "),
    rule("formatter switch", "clang-format", r"\bclang-format\s+(?=on|off)", "clang-format, "),
    rule("include mark", "iwyu", r"\bIWYU\s+pragma\s*:", "IWYU pragma "),
    rule("suppression", "cppcheck-suppress", r"\bcppcheck-suppress", "cppcheck suppress"),
)


class CFamily(Commented):
    """The header goes below the licence and above the include guard."""

    lexis = C_LEXIS
    ahead = frozenset({"comment"})

    def imported_paths(self, path: bytes, one: Import) -> Iterator[bytes]:
        """Yield the path beside the file, then any that ends so."""
        module = one.module.encode(errors="replace")
        yield posixpath.normpath(posixpath.join(path.rpartition(b"/")[0], module))
        yield b"/" + module

    marks = Marks(
        directive=_DIRECTIVE,
        next_line=_NEXT,
        header=_HEADER,
        tied=re.compile(rb"///(?!/)|//!"),
        file_code=_FILE_CODE,
    )


class CReader(Declared):
    """Read C and C++ alike; what only C++ has does not occur in C."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "function_definition": Kind.FUNCTION,
        "declaration": Kind.CONSTANT,
        "type_definition": Kind.TYPE,
        "struct_specifier": Kind.CLASS,
        "class_specifier": Kind.CLASS,
        "union_specifier": Kind.CLASS,
        "enum_specifier": Kind.ENUM,
        "alias_declaration": Kind.TYPE,
        "preproc_def": Kind.CONSTANT,
        "preproc_function_def": Kind.FUNCTION,
    }
    scopes = frozenset(
        {
            *("preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "linkage_specification"),
            *("namespace_definition", "declaration_list", "template_declaration"),
        }
    )
    members: ClassVar[Mapping[str, bool]] = {
        "function_definition": True,
        "field_declaration": False,
        "declaration": True,
        "enumerator": False,
    }
    imported = frozenset({"preproc_include"})
    documents = ("/**", "/*!", "///", "//!")

    @classmethod
    def plainer(cls, content: bytes) -> bytes:
        """Blank out macros that stand for a keyword, an attribute or a line of their own."""
        return _MACRO.sub(lambda found: re.sub(rb"\S", b" ", found[0]), content)

    def imports_of(self, node: Node) -> Iterator[Import]:
        path = self.text(node.child_by_field_name("path")).strip('<>"')
        if path:
            yield Import(module=path, line=node.start_point[0] + 1)

    def declare(self, node: Node) -> None:
        kind = self.kinds.get(node.type)
        if kind is None or self._is_test(node):
            return
        inner = node.child_by_field_name("type")
        if node.type in ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier"):
            if node.child_by_field_name("body") is None:
                return
        elif node.type == "type_definition":
            body = None if inner is None else inner.child_by_field_name("body")
            if body is not None and inner is not None:
                kind = self.kinds.get(inner.type, kind)
            self.add(node, kind, self.text_name(node), inside=body)
            return
        elif node.type == "declaration":
            self._declaration(node)
            return
        elif node.type == "preproc_def" and node.child_by_field_name("value") is None:
            return
        self.add(node, kind, self.text_name(node).rpartition("::")[2] if kind is Kind.CLASS else self.text_name(node))

    def _is_test(self, node: Node) -> bool:
        """Count a test that a macro declares."""
        found = node.type == "function_definition" and re.match(r"(?:TYPED_)?TEST(?:_\w+)?\(", self.text(node)[:40])
        self.tests += bool(found)
        return bool(found)

    def _declaration(self, node: Node) -> None:
        """Add a prototype, or a variable that has a value; a type that is declared on the way is added too."""
        inner = node.child_by_field_name("type")
        if inner is not None and inner.child_by_field_name("body") is not None:
            self.declare(inner)
        at = node.child_by_field_name("declarator")
        while at is not None and at.type in ("pointer_declarator", "reference_declarator"):
            at = at.child_by_field_name("declarator") or next(iter(at.named_children), None)
        if at is not None and at.type == "function_declarator":
            self.add(node, Kind.FUNCTION, self.text_name(node))
        elif at is not None and at.type == "init_declarator" and "::" not in self.text_name(node):
            self.add(node, Kind.CONSTANT, self.text_name(node))

    def shows(self, node: Node, name: str) -> bool:
        static = any(
            child.type == "storage_class_specifier" and self.text(child) == "static" for child in node.children
        )
        guard = node.type == "preproc_def" and name.endswith(("_H", "_H_", "_HPP", "_INCLUDED"))
        return not static and not guard and self.is_public(name) and not self._is_hidden(node)

    def is_public(self, name: str) -> bool:
        return name not in _NO_NAMES and super().is_public(name)

    def _is_hidden(self, node: Node) -> bool:
        """Return whether a node stands in a namespace without a name."""
        at = node.parent
        for _ in range(_DEEPEST):
            if at is None:
                break
            if at.type == "namespace_definition" and at.child_by_field_name("name") is None:
                return True
            at = at.parent
        return False

    def bases(self, node: Node) -> Iterator[str]:
        for part in self.named(node, "base_class_clause"):
            for one in part.named_children:
                if one.type in ("type_identifier", "qualified_identifier", "template_type"):
                    yield self._flat(one).partition("<")[0].rpartition("::")[2]

    def signature(self, node: Node) -> str:
        if node.type == "preproc_function_def":
            return self._flat(node.child_by_field_name("parameters"))
        called = self._called(node)
        return "" if called is None else self._flat(called.child_by_field_name("parameters"))

    def is_method(self, node: Node) -> bool:
        return self._called(node) is not None

    def _called(self, node: Node) -> Node | None:
        """Return the declarator that holds a function's parameters."""
        at = node.child_by_field_name("declarator")
        while at is not None and at.type != "function_declarator":
            nested = (child for child in at.named_children if child.type.endswith("declarator"))
            at = at.child_by_field_name("declarator") or next(nested, None)
        return at

    def member_nodes(self, body: Node | None) -> list[Node]:
        """Return the public members: all of a struct's, and those of a class below ``public:``."""
        if body is None or body.parent is None:
            return []
        shown = body.parent.type != "class_specifier"
        kept = []
        for child in body.named_children:
            if child.type == "access_specifier":
                shown = self.text(child).startswith("public")
            elif shown:
                kept.append(child)
        return kept

    def member_names(self, node: Node) -> Iterator[str]:
        """Yield a member's name; constructors and destructors are told by the class."""
        name = self.text_name(node)
        owner = node.parent.parent if node.parent is not None else None
        if owner is None or name.removeprefix("~") != self.text_name(owner):
            yield name

"""Rust: inner documentation (``//!``) of the module that the file is, ahead of inner attributes and items."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.language import Ending, NoPlace, Place
from fleet.jobs.document.languages._commented import Commented, Frame, Marks
from fleet.jobs.document.languages._leading_comments import SLASHES, Lexis, leading_comments
from fleet.jobs.document.languages.outline import Import, Kind, Member
from fleet.jobs.document.languages.outline_declared import Declared, merged_members
from fleet.jobs.document.text_rules import Rule, rule

if TYPE_CHECKING:
    from tree_sitter import Node

    from replay_rules.parsing import Parsed

_SHEBANG = re.compile(rb"#!(?!\s*+(?:(?://[^\n]*+\n|/\*(?:[^*]|\*(?!/))*+\*/)\s*+)*+\[).*?(?=\n|\r|\Z)", re.DOTALL)
_OUTSIDE_CODE = r"(?=(?:[^`]*`[^`]*`)*[^`]*\Z)"
"""An even number of backquotes follow; rustdoc takes brackets for links and angles for HTML, and warns."""

_INCLUDE = re.compile(rb"\binclude!\s*[(\[{]\s*\"([^\"\\]+)\"\s*[)\]}]")
_OWN_DOC = re.compile(rb"#!\[\s*(?:doc\s*=|cfg_attr\([^\]]{1,200}doc\s*=)")
_ITEM = re.compile(
    rb"#(?:!\s*)?\[|(?:pub|use|mod|fn|struct|enum|union|trait|impl|type|const|static|extern|unsafe|async|macro_rules|macro|"
    rb"auto|default|safe|crate|gen|r#\w+)\b|::|\$?(?:\w|::)+\s*!"
)


class _Reader(Declared):
    kinds: ClassVar[Mapping[str, Kind]] = {
        "function_item": Kind.FUNCTION,
        "macro_definition": Kind.FUNCTION,
        "struct_item": Kind.CLASS,
        "union_item": Kind.CLASS,
        "enum_item": Kind.ENUM,
        "trait_item": Kind.INTERFACE,
        "type_item": Kind.TYPE,
        "const_item": Kind.CONSTANT,
        "static_item": Kind.CONSTANT,
        "mod_item": Kind.NAMESPACE,
    }
    members: ClassVar[Mapping[str, bool]] = {
        "function_item": True,
        "function_signature_item": True,
        "field_declaration": False,
        "enum_variant": False,
    }
    imported = frozenset({"use_declaration"})
    attached = frozenset({"attribute_item"})
    documents = ("///", "/**")

    def __init__(self, parsed: Parsed, marks: Marks) -> None:
        super().__init__(parsed, marks)
        self._implemented: dict[str, list[Member]] = {}
        self._traits: dict[str, list[str]] = {}

    def imports_of(self, node: Node) -> Iterator[Import]:
        written = re.sub(r"\s+as\s+\w+|\s", "", self._flat(node.child_by_field_name("argument")))
        head, brace, rest = written.partition("{")
        if brace:
            names = tuple(name for name in re.findall(r"\w+", re.sub(r"\w+::", "", rest)) if name != "self")
            yield Import(module=head.removesuffix("::") or "crate", names=names, line=node.start_point[0] + 1)
        elif written:
            module, _, name = written.rpartition("::")
            yield Import(module=module or name, names=(name,) if module else (), line=node.start_point[0] + 1)

    def declare(self, node: Node) -> None:
        if node.type == "impl_item":
            name = self.text(node.child_by_field_name("type")).partition("<")[0].rpartition("::")[2]
            trait = node.child_by_field_name("trait")
            if trait is None:
                self._implemented.setdefault(name, []).extend(self._members(node.child_by_field_name("body")))
            else:
                self._traits.setdefault(name, []).append(self.text(trait).partition("<")[0].rpartition("::")[2])
            return
        if node.type == "mod_item" and self.text_name(node) in ("tests", "test"):
            return
        if node.type == "function_item" and "#[test]" in self._attributes(node):
            self.tests += 1
        super().declare(node)

    def _attributes(self, node: Node) -> str:
        found: list[str] = []
        before = node.prev_named_sibling
        while before is not None and before.type in ("attribute_item", "line_comment") and len(found) < 20:
            found.append(self._flat(before))
            before = before.prev_named_sibling
        return " ".join(found)

    def finish(self) -> None:
        self.symbols[:] = merged_members(self.symbols, self._implemented)
        for at, symbol in enumerate(self.symbols):
            if symbol.name in self._traits:
                self.symbols[at] = replace(symbol, bases=tuple(dict.fromkeys(self._traits[symbol.name])))

    def shows(self, node: Node, name: str) -> bool:
        if node.type == "macro_definition":
            return "macro_export" in self._attributes(node)
        return any(child.type == "visibility_modifier" for child in node.children)

    def member_shows(self, node: Node, name: str) -> bool:
        return node.type in ("function_signature_item", "enum_variant") or self.shows(node, name)

    def returns(self, node: Node) -> str:
        return self._flat(node.child_by_field_name("return_type"))


class Rust(Commented):
    """Code blocks in ``//!`` text are compiled as tests, so the text holds none.

    A file whose first code is no item is pulled in by ``include!``, where inner documentation is an error.
    """

    name = "rust"
    pulls_in = True
    grammars: ClassVar[Mapping[bytes, str]] = {b".rs": "rust"}
    ahead = frozenset({"line_comment", "block_comment", "shebang", "//", "/*", "*/", "!", "/"})
    reader = _Reader
    lexis = Lexis(line=SLASHES, nests=True, shebang=_SHEBANG)
    frame = Frame(prefix="//!")
    marks = Marks(
        directive=re.compile(
            rb"\A//(?:@|[ \t]*(?:compile-flags|edition|run-pass|build-pass|check-pass|ignore-|only-|aux-build|"
            rb"rustfmt-|tidy-|revisions|min-|error-pattern|normalize-)[\w-]*\s*:?|[ \t]*(?:check|build|run)-pass\b)",
            re.MULTILINE,
        ),
        header=re.compile(rb"\A(?://!|/\*!)"),
        tied=re.compile(rb"///(?!/)|/\*\*(?![*/])"),
        file_code=re.compile(rb"#!\[|use\b|mod\b|extern\s+crate\b|pub\s+(?:use|mod)\b"),
    )
    rules = (
        rule("code block", "``` ~~~", r"`{3,}|~{3,}", "'''"),
        Rule(name="code block", needles=("    ",), pattern=re.compile(r"(?m)^ {4,}(?=\S)"), harmless="   "),
        rule("link", "[", r"\[([^\[\]()`\n]*)\](?![(\[])" + _OUTSIDE_CODE, r"(\1)"),
        rule("link", "[`", r"\[(`[^`]*`)\](?![(\[])", r"\1"),
        rule("markup", "<", r"((?:\w+::)*\w*<[\w\s:,&'<>/-]*>)" + _OUTSIDE_CODE, r"`\1`"),
    )

    def find_place(self, content: bytes) -> Place | NoPlace:
        """Return where the header goes, or why it takes none."""
        found = super().find_place(content)
        if isinstance(found, NoPlace):
            return found
        if _OWN_DOC.search(content):
            return NoPlace(ending=Ending.DOCUMENTED, reason="it has a doc attribute")
        ahead = leading_comments(content, found.offset, self.lexis)
        if isinstance(ahead, NoPlace) or not _ITEM.match(content, ahead[1]):
            return NoPlace(ending=Ending.NO_PLACE, reason="it begins with no item, as a file that others include")
        return found

    def pulled_in(self, path: bytes, content: bytes) -> Iterator[bytes]:
        """Yield the files that ``include!`` names, beside this one."""
        for found in _INCLUDE.finditer(content):
            yield posixpath.normpath(posixpath.join(path.rpartition(b"/")[0], found[1]))

    def imported_paths(self, path: bytes, one: Import) -> Iterator[bytes]:
        """Yield the files of a module of this crate, the innermost first."""
        parts = one.module.split("::")
        if parts[0] != "crate":
            return
        parts = [*parts[1:], *one.names[:1]]
        for count in range(len(parts), 0, -1):
            place = "/".join(parts[:count]).encode(errors="replace")
            yield b"/src/" + place + b".rs"
            yield b"/src/" + place + b"/mod.rs"

    def lines(self, text: str) -> list[str]:
        """Return the lines of a header; four blanks would begin a code block."""
        return [re.sub(r"^ {4,}", "   ", line) for line in super().lines(text)]


LANGUAGE = Rust()

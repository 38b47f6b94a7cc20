"""Ruby: line comments below all magic comments, which count only in the first comments of a file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages._commented import Commented, Frame, Marks
from fleet.jobs.document.languages._leading_comments import HASHES, SHEBANG, Lexis
from fleet.jobs.document.languages.outline import Import, Kind
from fleet.jobs.document.languages.outline_declared import Declared
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from tree_sitter import Node

_KEYS = r"frozen[_-]string[_-]literal|warn[_-]indent|warn[_-]past[_-]scope|shareable[_-]constant[_-]value"
_MAGIC = re.compile(
    rb"\A(?:#.*?-\*-|#[ \t]*(?:" + _KEYS.encode() + rb")[ \t]*:|#.*?\b(?:en)?coding[:=]|"
    rb"#[ \t]*(?:typed:[ \t]*\w|rubocop:(?:disable|enable|todo)\b|standard:disable\b|:\w+:|(?:vim?|ex):|"
    rb"steep:ignore|rbs_inline:|@oldrubydoc)|#(?:--|\+\+)\s*\Z)",
    re.IGNORECASE,
)
_YARD_LINK = re.compile(r"\{#?([A-Za-z]\w*[?!]?(?:(?:::|[.#])\w+[?!]?)*)\}")


class _Reader(Declared):
    kinds: ClassVar[Mapping[str, Kind]] = {
        "class": Kind.CLASS,
        "module": Kind.NAMESPACE,
        "method": Kind.FUNCTION,
        "singleton_method": Kind.FUNCTION,
    }
    members: ClassVar[Mapping[str, bool]] = {"method": True, "singleton_method": True, "assignment": False}
    imported = frozenset({"call"})
    documents = ("#", "=begin")
    gap = 2

    def imports_of(self, node: Node) -> Iterator[Import]:
        method = self.text(node.child_by_field_name("method"))
        arguments = node.child_by_field_name("arguments")
        first = next(iter(arguments.named_children), None) if arguments is not None else None
        if method in ("require", "require_relative") and first is not None and first.type == "string":
            path = self.text(first).strip("'\"")
            beside = method == "require_relative" and not path.startswith(".")
            yield Import(module=f"./{path}" if beside else path, line=node.start_point[0] + 1)

    def declare(self, node: Node) -> None:
        """Add a definition; modules around a single definition only say where it belongs."""
        around: list[str] = []
        at = node
        for _ in range(8):
            inner = at.child_by_field_name("body")
            found = [] if inner is None else [one for one in inner.named_children if one.type in ("class", "module")]
            others = [] if inner is None else [one for one in inner.named_children if self.members.get(one.type)]
            if at.type != "module" or not found or others or self.summary(at):
                break
            around.append(self.text_name(at))
            if len(found) > 1:
                for one in found[:20]:
                    self._define(one, around)
                return
            at = found[0]
        self._define(at, around)

    def _define(self, node: Node, around: list[str]) -> None:
        if node.type == "assignment":
            for name in self.member_names(node):
                self.add(node, Kind.CONSTANT, name)
            return
        kind = self.kinds.get(node.type)
        if kind is None:
            return
        self.add(node, kind, "::".join([*around, self.text_name(node)]))
        self.tests += len(re.findall(r"^\s*(?:def test_|test ['\"]|it ['\"])", self.text(node), re.MULTILINE))

    def _sentence(self, comment: str) -> str:
        return super()._sentence(_YARD_LINK.sub(r"\1", comment))

    def before(self, node: Node) -> Node | None:
        """Return what stands before a node; the first comments of a body stand before the body itself."""
        around = node.parent
        first = around is not None and around.type == "body_statement" and node.prev_sibling is None
        return around.prev_sibling if first and around is not None else node.prev_sibling

    def member_names(self, node: Node) -> Iterator[str]:
        left = node.child_by_field_name("left")
        if left is None or left.type == "constant":
            yield self.text_name(node)

    def member_value(self, node: Node) -> str:
        return self._brief(node.child_by_field_name("right"))

    def member_shows(self, node: Node, name: str) -> bool:
        return name != "initialize" and self.is_public(name)

    def bases(self, node: Node) -> Iterator[str]:
        base = self._flat(node.child_by_field_name("superclass")).removeprefix("<").strip()
        if base:
            yield base

    def member_nodes(self, body: Node | None) -> list[Node]:
        """Return the members above ``private``."""
        kept = []
        for child in [] if body is None else body.named_children:
            if child.type == "identifier" and self.text(child) in ("private", "protected"):
                break
            kept.append(child)
        return kept


class Ruby(Commented):
    """Each magic line is a comment of its own, so that the text of the first class below it is told apart."""

    name = "ruby"
    grammars: ClassVar[Mapping[bytes, str]] = {b".rb": "ruby", b".rake": "ruby"}
    ahead = frozenset({"comment"})
    reader = _Reader
    lexis = Lexis(
        line=HASHES,
        start=re.compile(rb"^=begin\b", re.MULTILINE),
        block=re.compile(rb"^=begin\b.*?^=end\b[^\r\n]*", re.MULTILINE | re.DOTALL),
        shebang=SHEBANG,
    )
    frame = Frame(prefix="#")
    marks = Marks(
        directive=_MAGIC,
        alone=_MAGIC,
        file_code=re.compile(rb"require(?:_relative)?\b|\$:|\$LOAD_PATH|load\b|autoload\b"),
    )
    rules = (
        rule("magic comment", "frozen warn shareable", rf"\b({_KEYS})\s*:\s*", r"\1 "),
        rule("magic comment", "typed:", r"\btyped:\s*(?=\w)", "typed "),
        rule("encoding line", "coding: coding=", r"coding[:=]\s*", "coding "),
        rule("directive", "rubocop: standard: steep:", r"\b(rubocop|standard|steep):\s*(?=\w)", r"\1 "),
        rule("documentation switch", "doc: seq: cov: :markup: :title: :main: :section:", r":([a-z][\w-]*):", r"\1"),
    )

    def imported_paths(self, path: bytes, one: Import) -> Iterator[bytes]:
        """Yield the file beside this one, or any that ends so."""
        module = one.module.encode(errors="replace").removesuffix(b".rb") + b".rb"
        if module.startswith(b"."):
            yield posixpath.normpath(posixpath.join(path.rpartition(b"/")[0], module))
        else:
            yield b"/" + module

    def bare(self, line: bytes) -> bytes:
        """Return a line of a comment without its marks."""
        return line.removeprefix(b"=begin").removeprefix(b"=end").strip(b" \t\r\n\v\f#")


LANGUAGE = Ruby()

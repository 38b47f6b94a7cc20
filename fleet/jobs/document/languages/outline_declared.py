"""The outline of a language that declares its names: a table of node kinds, read by one walk.

A language derives from `Declared`, names its node kinds, and says what the table cannot: which symbols are public,
what an import names. Nothing recurses, and no bytes make it raise.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.languages.outline import Import, Kind, Member, Outline, Symbol
from fleet.jobs.document.languages.outline_ecmascript_parts import block_text
from fleet.jobs.document.languages.outline_reader import MOST_MEMBERS, Reader
from fleet.jobs.document.languages.outline_text import comment_sentence, first_sentence, is_licence, leading_prose
from replay_rules.parsing import parse
from replay_rules.symbols import plain_name

if TYPE_CHECKING:
    from tree_sitter import Node

    from fleet.jobs.document.languages._commented import Marks
    from replay_rules.parsing import Parsed

_NAME = re.compile(r"~?[\w$][\w$.:?!]*")
_MOST_SYMBOLS = 400
_MOST_CHILDREN = 200
_MOST_AROUND = 4
_LONGEST_COMMENT = 8000
_REFERENCE = re.compile(r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/>")
_LINKED = re.compile(r"(?<!\w)\[(`[^`\]]*`|[\w.:]+(?:\(\))?|[^\[\]]+(?=\]\[))\](?:\([^)]*\)|\[[^\]]*\])?")
_SWITCH = re.compile(r"^\s*(?::[\w-]+:.*|--|\+\+)$", re.MULTILINE)
_HEADING = re.compile(r"//[ \t]*MARK:|//[ \t]?#?(?:end)?region\b")
_NOTHING_SAID = re.compile(r"\{?@?inheritdoc|<inheritdoc", re.IGNORECASE)


class Declared(Reader):
    """Read the declarations of one parsed file.

    ``kinds`` says what a node at the top declares; ``scopes`` are nodes whose children stand at the top too, as those
    of a namespace do, and so do those of an erroneous part. ``members`` are the node kinds inside of a declaration's
    body, True for methods. ``attached`` may stand between a declaration and its comment. ``documents`` are the marks
    that make a comment documentation; other comments count only where they read as a sentence.
    ``blocks`` are the marks that begin a block comment.
    ``gap`` is how many lines further down a comment's declaration may begin.
    """

    kinds: ClassVar[Mapping[str, Kind]]
    scopes: ClassVar[frozenset[str]] = frozenset()
    members: ClassVar[Mapping[str, bool]] = {}
    imported: ClassVar[frozenset[str]] = frozenset()
    attached: ClassVar[frozenset[str]] = frozenset()
    documents: ClassVar[tuple[str, ...]] = ("/**", "///")
    blocks: ClassVar[tuple[str, ...]] = ("/*", "=begin")
    gap: ClassVar[int] = 1

    def __init__(self, parsed: Parsed, marks: Marks) -> None:
        super().__init__(parsed)
        self.marks = marks

    @classmethod
    def plainer(cls, content: bytes) -> bytes:
        """Return the content as it is parsed for an outline: of the same length, without what the grammar trips on."""
        return content

    def read(self) -> Outline:
        """Return the outline of the file."""
        for node in self._top():
            if node.type in self.imported:
                self.imports.extend(self.imports_of(node))
            elif len(self.symbols) < _MOST_SYMBOLS:
                self.declare(node)
        self.finish()
        content = self.parsed.content
        return Outline(
            language=self.parsed.language,
            symbols=tuple(self.symbols),
            imports=tuple(self.imports),
            shebang=content.startswith(b"#!"),
            tests=self.tests,
            lines=content.count(b"\n") + (not content.endswith(b"\n")),
            has_error=self.parsed.has_error,
        )

    def imports_of(self, node: Node) -> Iterator[Import]:
        """Yield what a node of the kinds ``imported`` imports."""
        raise NotImplementedError

    def declare(self, node: Node) -> None:
        """Add what a top-level node declares."""
        kind = self.kinds.get(node.type)
        if kind is not None:
            self.add(node, kind, self.text_name(node))

    def finish(self) -> None:
        """Look at the symbols again once all are known."""

    def shows(self, node: Node, name: str) -> bool:
        """Return whether a declaration of this name is seen from other files."""
        return self.is_public(name)

    def add(self, node: Node, kind: Kind, name: str, *, inside: Node | None = None) -> None:
        """Add a symbol with its members; ``inside`` holds these, by default the node's body."""
        if not _NAME.fullmatch(name):
            return
        known = len(self.symbols)
        body = inside or self.body(node)
        self._add(
            name,
            kind,
            node,
            summary=self.summary(node),
            bases=tuple(self.bases(node)),
            members=tuple(self._members(body)) if kind not in (Kind.FUNCTION, Kind.CONSTANT) else (),
            signature=self.signature(node) if kind is Kind.FUNCTION else "",
            returns=self.returns(node) if kind is Kind.FUNCTION else "",
            value=self._brief(node.child_by_field_name("value")) if kind is Kind.CONSTANT else "",
        )
        if len(self.symbols) > known:
            self.symbols[-1] = replace(self.symbols[-1], public=self.shows(node, name))

    def text_name(self, node: Node) -> str:
        """Return the name that a node declares."""
        return plain_name(self.parsed, node).decode(errors="replace")

    def body(self, node: Node) -> Node | None:
        """Return what holds the members of a declaration."""
        found = node.child_by_field_name("body") or node.child_by_field_name("type")
        return found or next((child for child in node.named_children if child.type.endswith("_body")), None)

    def bases(self, node: Node) -> Iterator[str]:
        """Yield the names that a declaration derives from."""
        yield from ()

    def signature(self, node: Node) -> str:
        """Return a function's parameters as they are written, on one line."""
        return self._flat(node.child_by_field_name("parameters"))

    def returns(self, node: Node) -> str:
        """Return the type that a function gives back, as it is written."""
        return ""

    def is_method(self, node: Node) -> bool:
        """Return whether a member is called."""
        return self.members[node.type]

    def member_names(self, node: Node) -> Iterator[str]:
        """Yield the names that a member declares."""
        yield self.text_name(node)

    def member_value(self, node: Node) -> str:
        """Return what a member is set to, where a reader would want to see it."""
        return ""

    def member_shows(self, node: Node, name: str) -> bool:
        """Return whether a member is seen from outside."""
        return self.shows(node, name)

    def _members(self, body: Node | None) -> Iterator[Member]:
        count = 0
        for child in self.member_nodes(body):
            if child.type not in self.members:
                continue
            for name in self.member_names(child):
                if not _NAME.fullmatch(name):
                    continue
                yield Member(
                    name=name,
                    method=self.is_method(child),
                    signature=self.signature(child) if self.is_method(child) else "",
                    summary=self.summary(child),
                    public=self.member_shows(child, name),
                    value=self.member_value(child),
                )
                count += 1
                if count >= MOST_MEMBERS:
                    return

    def member_nodes(self, body: Node | None) -> Sequence[Node]:
        """Return the nodes in a body that may be members."""
        return [] if body is None else body.named_children

    def _top(self) -> Iterator[Node]:
        stack = list(reversed(self.parsed.root.named_children))
        while stack:
            node = stack.pop()
            if node.type in self.scopes or node.type == "ERROR":
                inner = node.child_by_field_name("body") or node
                stack.extend(reversed(inner.named_children))
            elif not node.type.endswith("comment"):
                yield node

    def named(self, node: Node, kind: str) -> list[Node]:
        """Return the children of one kind."""
        return [child for child in node.named_children if child.type == kind]

    def modifiers(self, node: Node) -> str:
        """Return a declaration's modifiers as they are written."""
        found = [child for child in node.named_children if child.type.endswith(("modifier", "modifiers"))]
        return " ".join(self._flat(child) for child in found)

    def summary(self, node: Node) -> str:
        """Return the first sentence of the comment that touches a declaration from above."""
        lines: list[str] = []
        at = self._outermost(node)
        row = at.start_point[0]
        before = self.before(at)
        for _ in range(_MOST_CHILDREN):
            if before is None or _last_row(before) < row - self.gap:
                break
            if before.type.endswith("comment"):
                if self._trails(before):
                    break
                text = self.text(before)[:_LONGEST_COMMENT].rstrip()
                documents = text.startswith(self.documents)
                documented = any(line.startswith(self.documents) for line in lines)
                if _HEADING.match(text) or (documented and not documents):
                    break
                for_tools = self._for_tools(text)
                if text.startswith(self.blocks) and (documents or not for_tools):
                    lines = [text] if documents or not any(lines) else lines
                    break
                lines.append("" if for_tools else text)
            elif before.type not in self.attached:
                break
            row = before.start_point[0]
            before = before.prev_sibling
        return self._sentence("\n".join(reversed(lines)).strip())

    def before(self, node: Node) -> Node | None:
        """Return what stands before a node."""
        return node.prev_sibling

    def _outermost(self, node: Node) -> Node:
        """Return the node around a declaration that begins where it does, and stands beside its comment."""
        at = node
        for _ in range(_MOST_AROUND):
            parent = at.parent
            if parent is None or parent.parent is None:
                break
            first = at.prev_named_sibling is None and parent.start_point[0] == at.start_point[0]
            if not first and parent.type != "template_declaration":
                break
            at = parent
        return at

    @classmethod
    def plain(cls, comment: str) -> str:
        """Return what comments of this language say, without their marks."""
        return plain_comment(comment)

    def _for_tools(self, comment: str) -> bool:
        return comment.startswith("#!") or self.marks.for_tools(comment.encode())

    def _trails(self, comment: Node) -> bool:
        before = comment.prev_sibling
        return before is not None and before.is_named and _last_row(before) == comment.start_point[0]

    def _sentence(self, comment: str) -> str:
        if not comment or is_licence(comment) or _NOTHING_SAID.search(comment):
            return ""
        text = self.plain(comment)
        return first_sentence(text) if comment.startswith(self.documents) else comment_sentence(text)


def outlined(reader: type[Declared], marks: Marks, grammar: str, content: bytes, prose: str) -> Outline:
    """Return the outline that a reader makes of a file; any bytes give one, poorer where they do not fit.

    Args:
        reader: the language's.
        marks: the language's, which tell a comment for a tool from documentation.
        grammar: see `replay_rules.parsing.parse`.
        content: the file.
        prose: what its first comments say about it.
    """
    try:
        content.decode()
    except UnicodeDecodeError:
        content = content.decode("latin-1").encode()
    read = reader(parse(grammar, reader.plainer(content)), marks).read()
    return replace(read, leading=leading_prose(prose)[:3])


def plain_comment(text: str) -> str:
    """Return what comments say, without their marks, XML tags and links.

    >>> plain_comment("/// <summary>\\n/// Gets <see cref=\\"T:A\\"/>.\\n/// </summary>")
    'Gets `A`.'
    """
    if text.startswith("/*"):
        inner = block_text(text)
    else:
        inner = re.sub(r"(?m)^[ \t]*(?://[/!]?|#+|=begin|=end)[ \t]?", "", text)
    _, told, rest = inner.partition("<summary>")
    summary, ends, _ = rest.partition("</summary>")
    inner = html.unescape(_REFERENCE.sub(r"`\1`", summary if told and ends else inner))
    return _SWITCH.sub("", _LINKED.sub(r"\1", inner)).strip("\n").strip()


def _last_row(node: Node) -> int:
    """Return the row of a node's last byte; some comments end behind their newline."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def merged_members(symbols: Sequence[Symbol], more: Mapping[str, Sequence[Member]]) -> list[Symbol]:
    """Return the symbols with the members that were declared outside of them."""
    return [
        replace(one, members=(*one.members, *more[one.name])[:MOST_MEMBERS]) if one.name in more else one
        for one in symbols
    ]

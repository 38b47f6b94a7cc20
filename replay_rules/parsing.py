"""Trees of source files: the one door to tree-sitter.

A grammar is named after its wheel: ``python`` is the function ``language`` of the package ``tree_sitter_python``. A
wheel that carries several grammars is named with a dot: ``typescript.tsx`` is ``language_tsx`` of
``tree_sitter_typescript``. A language more is a wheel more; nothing is listed here.

Nothing here recurses: a hostile file nests a hundred thousand levels deep, and tree-sitter's own ``str(node)`` then
ends the process, so do not call it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from qodebase.errors import QodebaseError
from replay_rules.kept import kept

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query, Tree

_parsers = threading.local()
_TORN = 1000
_KEPT_BYTES = 2 << 20
"""A tree takes about 40 times the memory of its content."""


class NoGrammar(QodebaseError):
    """Report that no installed wheel carries a grammar of this name."""


class Leaf(NamedTuple):
    """One node without children: its kind as the grammar names it, and its bytes ``start`` to ``end``.

    A tuple and no dataclass: a file has tens of thousands of them.
    """

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The tree of one content. Offsets are bytes of ``content``; nodes stay valid as long as this object lives."""

    language: str
    content: bytes
    tree: Tree

    @property
    def root(self) -> Node:
        """Return the root node, which spans the file."""
        return self.tree.root_node

    @property
    def has_error(self) -> bool:
        """Return whether the grammar could not take every byte as it stands; healthy files have errors too."""
        return self.tree.root_node.has_error

    def text(self, node: Node) -> bytes:
        """Return the bytes of a node."""
        return self.content[node.start_byte : node.end_byte]

    def comments(self) -> list[Node]:
        """Return every comment in order, those inside of erroneous parts included."""
        kinds = _comment_kinds(self.language)
        return [node for node in self._walk() if node.type in kinds]

    def nodes(self, *kinds: str) -> list[Node]:
        """Return every named node of these kinds in order of its start; kinds that the grammar lacks are skipped.

        Time grows with the square of the erroneous part of a file, so bound the size of what you ask this of.
        """
        known = _known_kinds(self.language, kinds)
        return self.matching(" ".join(f"({kind}) @n" for kind in known)) if known else []

    def matching(self, pattern: str) -> list[Node]:
        """Return every node that a tree-sitter query captures as ``n``, in order of its start, the outer one first.

        Time grows with the square of the erroneous part of a file, so bound the size of what you ask this of.
        """
        from tree_sitter import QueryCursor

        found = QueryCursor(_query(self.language, pattern)).captures(self.root).get("n", [])
        return sorted(found, key=lambda node: (node.start_byte, -node.end_byte))

    def paired(self, pattern: str) -> Iterator[tuple[Node, Node]]:
        """Yield what a tree-sitter query captures as ``h`` and as ``n`` together."""
        from tree_sitter import QueryCursor

        for _, found in QueryCursor(_query(self.language, pattern)).matches(self.root):
            yield found["h"][0], found["n"][0]

    def faults(self) -> int:
        """Return how many parts the grammar could not take, or took only by making up a token."""
        return sum(1 for _ in self._faulty())

    @property
    def is_torn(self) -> bool:
        """Return whether an erroneous part is so large that questions about the file take too long."""
        return any(node.child_count > _TORN for node in self._faulty())

    def _faulty(self) -> Iterator[Node]:
        cursor = self.tree.walk()
        while (node := cursor.node) is not None:
            if node.is_error or node.is_missing:
                yield node
            if node.has_error and cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return

    def leaves(self) -> Iterator[Leaf]:
        """Yield every node without children in order; missing ones that the parser made up have no bytes."""
        cursor = self.tree.walk()
        while True:
            if cursor.goto_first_child():
                continue
            node = cursor.node
            if node is not None:
                yield Leaf(node.type, node.start_byte, node.end_byte)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return

    def _walk(self) -> Iterator[Node]:
        cursor = self.tree.walk()
        while cursor.node is not None:
            yield cursor.node
            if cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return


def parse(language: str, content: bytes) -> Parsed:
    """Parse ``content`` with the grammar ``language``; any bytes give a tree, with errors where they do not fit.

    A parser is kept for each thread and grammar, so threads may call this at the same time.

    Raises:
        NoGrammar: no installed wheel carries the grammar.
    """
    return Parsed(language=language, content=content, tree=_parser(language).parse(content))


@kept(_KEPT_BYTES)
def parsed_once(language: str, content: bytes) -> Parsed:
    """Return the tree of a content, kept for the rules and invariants that look at it one after the other."""
    return parse(language, content)


def _parser(language: str) -> Parser:
    from tree_sitter import Parser

    held: dict[str, Parser] = _parsers.__dict__
    if language not in held:
        held[language] = Parser(_grammar(language))
    return held[language]


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    package, _, variant = language.partition(".")
    try:
        wheel = import_module(f"tree_sitter_{package}")
    except ImportError as error:
        raise NoGrammar(
            f"no grammar for {language}", hint=f"Install the wheel tree-sitter-{package.replace('_', '-')}."
        ) from error
    names = [f"language_{variant}"] if variant else ["language", f"language_{package}"]
    load = next((getattr(wheel, name) for name in names if hasattr(wheel, name)), None)
    if load is None:
        raise NoGrammar(f"the wheel tree-sitter-{package} has no grammar {language}")
    return Language(load())


@cache
def _comment_kinds(language: str) -> frozenset[str]:
    grammar = _grammar(language)
    kinds = (grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count))
    return frozenset(kind for kind in kinds if kind and kind.endswith("comment"))


@cache
def _known_kinds(language: str, kinds: tuple[str, ...]) -> tuple[str, ...]:
    grammar = _grammar(language)
    return tuple(kind for kind in kinds if grammar.id_for_node_kind(kind, True) is not None)


@cache
def _query(language: str, pattern: str) -> Query:
    from tree_sitter import Query

    return Query(_grammar(language), pattern)

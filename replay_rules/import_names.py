"""What an import binds, and whether its place matters, in the languages of `replay_rules.sequences`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from replay_rules.parsing import Parsed
from replay_rules.sequences import SEQUENCES

if TYPE_CHECKING:
    from tree_sitter import Node

_C_HEADERS = frozenset(
    b"assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic"
    b" stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype".split()
)


def imported(parsed: Parsed, node: Node) -> set[bytes]:
    """Return the names that an import statement binds in its file; a superset where aliases nest."""
    if parsed.language in ("c", "cpp", "swift"):
        return set()
    if parsed.language == "go":
        return {_go_name(parsed, spec) for spec in _specs(node)}
    words = SEQUENCES[parsed.language].words
    leaves = [(leaf.type, parsed.text(leaf)) for leaf in _leaves(node)]
    followed = [text for _, text in leaves[1:]] + [b""]
    if parsed.language == "c_sharp":
        return {text for (kind, text), after in zip(leaves, followed, strict=True) if kind in words and after == b"="}
    return {
        text
        for (kind, text), after in zip(leaves, followed, strict=True)
        if kind in words and after not in (b".", b"::", b"as")
    }


def acts(parsed: Parsed, node: Node) -> bool:
    """Return whether an import takes all names there are, or is made for what it does."""
    if parsed.language == "go":
        return any(_go_name(parsed, spec) in (b".", b"_") for spec in _specs(node))
    return any(parsed.text(leaf) == b"*" for leaf in _leaves(node))


def is_ordered(parsed: Parsed, node: Node) -> bool:
    """Return whether an import's place may matter.

    A header of C may change what the next one means; only those of the standard library stand in any order, as the
    standard says: C's by their names, C++'s by having no dot and no slash.
    """
    if node.type != "preproc_include":
        return False
    path = node.child_by_field_name("path")
    found = re.fullmatch(rb"<([a-z0-9_]+)(\.h)?>", parsed.text(path)) if path is not None else None
    return found is None or (found[2] is not None and found[1] not in _C_HEADERS)


def _specs(node: Node) -> list[Node]:
    return [node] if node.type == "import_spec" else [one for one in node.named_children if one.type == "import_spec"]


def _go_name(parsed: Parsed, spec: Node) -> bytes:
    name, path = spec.child_by_field_name("name"), spec.child_by_field_name("path")
    if name is not None:
        return parsed.text(name)
    return parsed.text(path).strip(b'"`').rpartition(b"/")[2] if path is not None else b""


def _leaves(node: Node) -> Iterator[Node]:
    cursor = node.walk()
    while True:
        if cursor.goto_first_child():
            continue
        if cursor.node is not None:
            yield cursor.node
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return

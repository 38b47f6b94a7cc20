"""The definitions of a file, by name, for the languages that `replay_rules.grammars` describes.

One tree-sitter query finds every node that may define a name; from its place follow what it belongs to and where its
text begins. Nothing recurses, and no bytes make it raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from replay_rules.grammars import GRAMMARS
from replay_rules.kept import kept
from replay_rules.parsing import Parsed
from replay_rules.pieces import asked

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = frozenset({b"test", b"it", b"describe", b"suite", b"context", b"bench"})
_WRAPPERS = frozenset(
    {"export_statement", "decorated_definition", "template_declaration", "expression_statement", "ambient_declaration"}
)
_GROUPS = frozenset(
    {
        "lexical_declaration",
        "variable_declaration",
        "const_declaration",
        "var_declaration",
        "type_declaration",
        "field_declaration",
    }
)
_OPEN = frozenset(
    {
        *_WRAPPERS,
        *_GROUPS,
        "block",
        "body_statement",
        "class_body",
        "declaration_list",
        "enum_body",
        "enum_body_declarations",
        "event_field_declaration",
        "field_declaration_list",
        "interface_body",
        "object_type",
        "protocol_body",
        "statement_block",
        "var_spec_list",
        "enum_class_body",
    }
)
_BODIES = frozenset({"block", "statement_block", "body_statement"})
_CLASSES = frozenset({"class", "space", "type"})
_ATTACHED = frozenset({"attribute_item", "decorator"})
_REPEATED = frozenset({b"", b"_"})


class Definition(NamedTuple):
    """One definition; offsets are bytes.

    Attributes:
        name: as it is written.
        kind: see `replay_rules.grammars`.
        start, end: its text with decorators, attributes, ``export`` and the semicolon behind it.
        head: where the comments that stand directly above it begin; ``start`` where there are none.
        parent: the names of the definitions around it, outermost first.
        parameters: where the language tells definitions of one name apart by them, their text; else empty.
    """

    name: bytes
    kind: str
    start: int
    end: int
    head: int
    parent: tuple[bytes, ...]
    parameters: bytes = b""

    @property
    def key(self) -> tuple[tuple[bytes, ...], bytes, bytes]:
        """Return what must stand once: parent, name and parameters."""
        return (self.parent, self.name, self.parameters)

    @property
    def qualified(self) -> str:
        """Return the name with those around it, joined by dots."""
        return b".".join([*self.parent, self.name]).decode(errors="replace")


@kept(1 << 20)
def definitions(language: str, content: bytes) -> tuple[Definition, ...]:
    r"""Return every definition in order of its start, the outer one first.

    Args:
        language: see `replay_rules.grammars.language_of`; one without a description has no definitions.
        content: any bytes.

    >>> [(one.qualified, one.kind) for one in definitions("python", b"class A:\n    def f(self): pass\n")]
    [('A', 'class'), ('A.f', 'function')]
    """
    if language not in GRAMMARS:
        return ()
    return tuple(_moved(one, by) for by, found in asked(language, content, definitions_in) for one in found)


def definitions_in(parsed: Parsed) -> tuple[Definition, ...]:
    """Return every definition of a parsed file, none where it is torn; see `definitions`."""
    grammar = GRAMMARS.get(parsed.language)
    if grammar is None or parsed.is_torn:
        return ()
    found: list[Definition] = []
    around: list[tuple[int, bytes, str]] = []
    for node in parsed.matching(grammar.query):
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        kind = grammar.kinds.get(node.type, "member")
        inside = around[-1][2] if around else ""
        if kind in ("variable", "test") and (inside == "function" or not _is_open(node, grammar.kinds)):
            continue
        if inside in ("function", "test") and _in_literal(node):
            continue
        name, kind = _named(parsed, node, kind)
        if name in _REPEATED:
            continue
        outer = _whole(node)
        start = _attached(outer)
        found.append(
            Definition(
                name,
                kind,
                start.start_byte,
                _end(outer),
                _commented(parsed, start),
                (*receiver_of(parsed, node), *(one[1] for one in around)),
                parameters_of(parsed, node) if node.type in grammar.overloads else b"",
            )
        )
        around.append((node.end_byte, name, kind))
    return tuple(found)


def _moved(one: Definition, by: int) -> Definition:
    name, kind, start, end, head, parent, parameters = one
    return Definition(name, kind, start + by, end + by, head + by, parent, parameters)


def doubled_keys(parsed: Parsed) -> Counter[bytes]:
    """Count what stands in one node more than once where it must differ, beyond the first, by its text.

    That is what `replay_rules.grammars.Grammar.once` names: keys, arguments, parameters, fields, cases.
    """
    grammar = GRAMMARS.get(parsed.language)
    found: Counter[bytes] = Counter()
    if grammar is None or not grammar.once or parsed.is_torn:
        return found
    seen: set[tuple[int, bytes]] = set()
    for holder, key in parsed.paired(" ".join(grammar.once)):
        mark = (holder.id, parsed.text(key))
        if mark in seen and mark[1] not in _REPEATED:
            found[mark[1]] += 1
        seen.add(mark)
    return found


def _in_literal(node: Node) -> bool:
    """Return whether a method stands in an object's literal: in a function several may have one of that name."""
    return node.type == "method_definition" and node.parent is not None and node.parent.type == "object"


def _is_open(node: Node, kinds: Mapping[str, str]) -> bool:
    """Return whether a node stands at the top of its file or class, and not inside of a statement or a call."""
    at = node.parent
    while at is not None and at.parent is not None:
        if kinds.get(at.type) in _CLASSES:
            return True
        if at.type not in _OPEN or (at.type in _BODIES and kinds.get(at.parent.type) not in _CLASSES):
            return False
        at = at.parent
    return True


def _named(parsed: Parsed, node: Node, kind: str) -> tuple[bytes, str]:
    """Return a definition's name, and its kind where the node does not decide it alone."""
    if node.type == "call_expression":
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        first = next(iter(arguments.named_children), None) if arguments else None
        is_test = called is not None and parsed.text(called) in _TESTS
        return (parsed.text(first), kind) if is_test and first is not None else (b"", kind)
    if node.type == "impl_item":
        sides = [node.child_by_field_name(field) for field in ("trait", "type")]
        return b" for ".join(parsed.text(side) for side in sides if side is not None), kind
    if node.type in ("init_declaration", "companion_object"):
        return node.type.partition("_")[0].encode(), kind
    if node.type == "singleton_method":
        return b"self." + plain_name(parsed, node), kind
    name = node.child_by_field_name("name")
    if name is not None and name.type == "user_type":
        return parsed.text(name), "space"
    if parsed.language == "go" and plain_name(parsed, node) == b"init":
        return b"", kind
    return plain_name(parsed, node), kind


def plain_name(parsed: Parsed, node: Node) -> bytes:
    """Return the name that a node defines, without what tells it from others of that name; empty where it has none."""
    if not node.child_count:
        return parsed.text(node)
    name = node.child_by_field_name("name") or node.child_by_field_name("left") or node.child_by_field_name("property")
    if name is not None:
        return parsed.text(name) if name.type not in ("array_pattern", "object_pattern") else b""
    at = node.child_by_field_name("declarator")
    while at is not None:
        inner = at.child_by_field_name("declarator")
        if inner is None:
            nested = [child for child in at.named_children if child.type.endswith("declarator")]
            inner = nested[0] if nested else None
        if inner is None:
            return parsed.text(at)
        at = inner
    for child in node.named_children:
        if child.type in ("variable_declaration", "identifier", "type_identifier", "simple_identifier"):
            return parsed.text(next(iter(child.named_children), child))
    return b""


def receiver_of(parsed: Parsed, node: Node) -> tuple[bytes, ...]:
    """Return the type that a method outside of it belongs to, or nothing."""
    receiver = node.child_by_field_name("receiver")
    if receiver is None:
        return ()
    words = parsed.text(receiver).strip(b"() ").partition(b"[")[0].split()
    return (words[-1].lstrip(b"*"),) if words else ()


def parameters_of(parsed: Parsed, node: Node) -> bytes:
    """Return what tells a definition from others of its name: the text between its name and its body."""
    name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    body = node.child_by_field_name("body") or next(
        (child for child in node.named_children if child.type == "function_body"), None
    )
    start = name.start_byte if name is not None else node.start_byte
    return b" ".join(parsed.content[start : body.start_byte if body is not None else node.end_byte].split()).rstrip(
        b" ;"
    )


def _whole(node: Node) -> Node:
    """Return the outermost node that is this definition and nothing else."""
    at = node
    while (parent := at.parent) is not None:
        alone = parent.type in _GROUPS and sum(1 for child in parent.named_children if child.type == at.type) == 1
        if not alone and parent.type not in _WRAPPERS:
            break
        at = parent
    return at


def _end(node: Node) -> int:
    behind = node.next_sibling
    grouped = node.parent is not None and node.parent.type in _GROUPS
    return behind.end_byte if behind is not None and behind.type == ";" and not grouped else node.end_byte


def _attached(node: Node) -> Node:
    at = node
    while (before := at.prev_named_sibling) is not None and before.type in _ATTACHED:
        at = before
    return at


def _commented(parsed: Parsed, node: Node) -> int:
    """Return where the comments begin that stand on the lines directly above a node."""
    at, start = node, node.start_byte
    while (before := at.prev_sibling) is not None and before.type.endswith("comment"):
        between = parsed.content[before.end_byte : at.start_byte]
        line = parsed.content.rfind(b"\n", 0, before.start_byte) + 1
        if between.strip() or between.count(b"\n") > 1 or parsed.content[line : before.start_byte].strip():
            break
        ends_line = parsed.content[before.start_byte : before.end_byte].endswith(b"\n")
        if ends_line and b"\n" in between:
            break
        at, start = before, before.start_byte
    return start

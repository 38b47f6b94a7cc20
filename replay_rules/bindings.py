"""The names that a file's own top binds: by its imports, and by its constants.

Two imports at different places of a file merge clean and may bind one name to two things, and one side may take an
import away while the other begins to use it; neither shows in lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from replay_rules.import_names import imported
from replay_rules.kept import kept
from replay_rules.parsing import Parsed
from replay_rules.pieces import asked
from replay_rules.sequences import SEQUENCES
from replay_rules.shapes import inner

if TYPE_CHECKING:
    from tree_sitter import Node

_EACH_ONCE = frozenset({"javascript", "typescript.typescript", "typescript.tsx", "go"})
"""Here even the same import twice is an error."""

_OVERLOADED = frozenset({"java", "kotlin"})
"""Here functions of one name may come from several places, and types begin with a capital."""

_SCRIPT = frozenset({"javascript", "typescript.typescript", "typescript.tsx"})
_READ = frozenset({"python", *_SCRIPT})
_OURS = frozenset({"function_definition", "class_definition", "function_declaration", "class_declaration"})


def clashing(language: str, bound: Iterable[tuple[bytes, bytes]]) -> Counter[bytes]:
    """Count the different things that one name is bound to by imports at the top of a file, where these are several.

    In Python and JavaScript a function or class of that name is one of them.

    Args:
        language: of the file.
        bound: what `bound_in` yields for it.
    """
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for name, origin in bound:
        found[name].append(origin)
    names = found.items()
    counts = {name: len(all_) if language in _EACH_ONCE else len(set(all_)) for name, all_ in names}
    return Counter({name: count for name, count in counts.items() if count > 1 and set(found[name]) != {b""}})


@kept(1 << 20)
def held(language: str, content: bytes) -> frozenset[bytes]:
    """Return what the imports and the plain assignments at the top of a Python or JavaScript file bind."""
    if language not in _READ:
        return frozenset()
    return frozenset().union(*(names for _, names in asked(language, content, _held_in)))


def _held_in(parsed: Parsed) -> frozenset[bytes]:
    names = {name for name, origin in bound_in(parsed) if origin}
    for node in parsed.root.named_children:
        core = inner(node)
        for only in core.named_children if core.type in ("expression_statement", "lexical_declaration") else ():
            left = only.child_by_field_name("left") or only.child_by_field_name("name")
            if only.type in ("assignment", "variable_declarator") and left is not None and left.type == "identifier":
                names.add(parsed.text(left))
    return frozenset(names)


def imported_anywhere(language: str, content: bytes) -> frozenset[bytes]:
    """Return what any import statement of a Python or JavaScript file binds, those in functions included."""
    if language not in _READ:
        return frozenset()
    return frozenset().union(*(names for _, names in asked(language, content, _imported_in)))


def _imported_in(parsed: Parsed) -> frozenset[bytes]:
    nodes = parsed.nodes("import_statement", "import_from_statement")
    return frozenset(name for node in nodes for name, _ in _imports(parsed, node))


def bound_in(parsed: Parsed) -> Iterator[tuple[bytes, bytes]]:
    """Yield each name with what it is bound to; nothing where that is a definition of the file's own."""
    known = SEQUENCES.get(parsed.language)
    for node in parsed.root.named_children:
        if known is not None:
            if node.type in known.imports:
                yield from _listed(parsed, node)
        elif node.type in ("import_statement", "import_from_statement"):
            yield from _imports(parsed, node)
        elif inner(node).type in _OURS and (name := inner(node).child_by_field_name("name")) is not None:
            yield parsed.text(name), b""


def _listed(parsed: Parsed, node: Node) -> Iterator[tuple[bytes, bytes]]:
    if parsed.language != "go":
        origin = b"".join(parsed.text(node).split())
        types = parsed.language in _OVERLOADED
        yield from ((name, origin) for name in imported(parsed, node) if not types or name[:1].isupper())
        return
    for child in node.named_children:
        for spec in child.named_children if child.type == "import_spec_list" else [child]:
            if spec.type == "import_spec":
                yield from ((name, parsed.text(spec)) for name in imported(parsed, spec) - {b"_", b".", b""})


def _imports(parsed: Parsed, node: Node) -> Iterator[tuple[bytes, bytes]]:
    if parsed.language == "python":
        yield from _of_python(parsed, node)
        return
    source = node.child_by_field_name("source")
    origin = parsed.text(source) if source is not None else b""
    for clause in (child for child in node.named_children if child.type == "import_clause"):
        for child in clause.named_children:
            if child.type == "identifier":
                yield parsed.text(child), origin
            elif child.type == "namespace_import" and child.named_children:
                yield parsed.text(child.named_children[0]), origin + b" *"
            elif child.type == "named_imports":
                for one in child.named_children:
                    name = one.child_by_field_name("alias") or one.child_by_field_name("name")
                    if name is not None:
                        yield parsed.text(name), origin + b" " + parsed.text(one)


def _of_python(parsed: Parsed, node: Node) -> Iterator[tuple[bytes, bytes]]:
    module = node.child_by_field_name("module_name")
    origin = parsed.text(module) + b" " if module is not None else b""
    for child in node.children_by_field_name("name"):
        name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
        if name is not None and alias is not None:
            yield parsed.text(alias), origin + parsed.text(name)
        elif origin:
            yield parsed.text(child), origin + parsed.text(child)
        else:
            package = parsed.text(child).partition(b".")[0]
            yield package, package

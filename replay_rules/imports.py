"""Rule ``imports``: imports of both sides united, statement by statement and name by name.

A statement that spans lines stays whole; names that both sides add to one ``from`` become one statement. Invariant:
nothing that either side imports is lost, no name is bound to two things, and nothing whose order may matter (star
imports, imports for their effect) is put at one place by both. One side deleting what the other extends is declined.
"""

from __future__ import annotations

import re

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import Additions, additions, arranged
from replay_rules.import_names import acts, imported, is_ordered
from replay_rules.layouts import one_layout
from replay_rules.parsing import Parsed
from replay_rules.parts import Container, Item, cut, join
from replay_rules.places import Place, Policy, Region, Undecided
from replay_rules.sequences import PATHS, SEQUENCES
from replay_rules.shapes import tokens
from replay_rules.weave import weave

APPLIES = ("*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts", *PATHS)
ORDER = 110


def rule(collision: Collision) -> Resolved | Declined:
    r"""Unite imports.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"import os\nfrom x import a\n"
    >>> main, change = b"import os\nimport re\nfrom x import a, b\n", base.replace(b"a", b"a, c")
    >>> sides = [Side(content=text) for text in (base, main, change)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> print(result.content.decode(), end="")
    import os
    import re
    from x import a, b, c
    """
    return weave(collision, POLICIES)


def united(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return both sides' imports, in order where both keep one."""
    if place.role not in ("body", "names", "imports"):
        return Declined(why="no place for imports")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    if place.role == "names":
        return _names(place, region, found)
    if any(item.kind not in ("import", "comment") for item in (*found.main, *found.change)):
        return Declined(why="more than imports is added at one place: model")
    sides = ((place.main.parsed, found.main), (place.change.parsed, found.change))
    if any(item.node is not None and is_ordered(parsed, item.node) for parsed, items in sides for item in items):
        return Declined(why="headers whose order may matter are added at one place: model")
    if all(any(_effects(parsed, item) for item in items) for parsed, items in sides):
        return Declined(why="imports whose order may matter are added at one place: model")
    ours, theirs = (_bound(side.parsed, place.new_in(side)) for side in (place.main, place.change))
    packages = _packages(place.main.parsed, place.new_in(place.main))
    others = _packages(place.change.parsed, place.new_in(place.change))
    clashing = (ours & theirs) | (packages & (theirs - others)) | (others & (ours - packages))
    if clashing:
        return Declined(why=f"both sides bind {min(clashing).decode(errors='replace')} by other imports: model")
    if any(b"__future__" in item.text for item in found.change) and found.main:
        return Declined(why="a __future__ import must come first: model")
    return arranged(place, region, found, _ORDERS)


def joined(place: Place, main: Item, change: Item) -> Item | Declined:
    """Return one statement with the names of both sides', or the one that both sides wrote."""
    if main.kind == "name":
        return main
    if main.kind != "import" or main.node is None or change.node is None:
        return Declined(why=f"both sides added {main.name.decode(errors='replace')}: model")
    if list(tokens(place.main.parsed, main.node)) == list(tokens(place.change.parsed, change.node)):
        return main
    ours, theirs = _list(place.main.parsed, main), _list(place.change.parsed, change)
    if ours is None or theirs is None:
        return Declined(why="both sides import one module in different ways: model")
    try:
        _, ours, theirs = one_layout(ours, ours, theirs)
    except Undecided as undecided:
        return Declined(why=str(undecided))
    known = {item.key for item in ours.items}
    items = (*ours.items, *(item for item in theirs.items if item.key not in known))
    if _repeats([item.name for item in items]):
        return Declined(why="both sides bind a name by other imports: model")
    names = [item.name.lower() for item in ours.items], [item.name.lower() for item in theirs.items]
    if all(one == sorted(one) for one in names):
        items = tuple(sorted(items, key=lambda item: item.name.lower()))
    start = main.at + ours.node.start_byte - main.node.start_byte
    stop = main.at + ours.node.end_byte - main.node.start_byte
    return main._replace(text=main.text[:start] + join(ours, items) + main.text[stop:], node=None)


def _names(place: Place, region: Region, found: Additions) -> tuple[Item, ...] | Declined:
    if _repeats([item.name for side in (place.main, place.change) for item in place.new_in(side)]):
        return Declined(why="both sides bind a name by other imports: model")
    return arranged(place, region, found, _ORDERS)


def _repeats(names: list[bytes]) -> bool:
    bound = [name.split(b" ")[-1].rpartition(b"::")[2] for name in names]
    return len(bound) != len(set(bound))


def _by_name(item: Item) -> bytes:
    return item.name or item.text


def _by_text(item: Item) -> bytes:
    return item.text.strip()


def _plain_first(item: Item) -> bytes:
    """Order ``import a`` before ``from a import b``, and either by its words, as the common sorters do."""
    text = item.text.strip().lower()
    return b"%d %s" % (text.startswith(b"from "), text)


def _by_module(item: Item) -> bytes:
    return b" ".join(item.text.strip().lower().split(b" ")[1:])


_ORDERS = (_by_text, _by_name, _plain_first, _by_module)


def _effects(parsed: Parsed, item: Item) -> bool:
    """Return whether an import is for its effect, or takes whatever is there."""
    if parsed.language in SEQUENCES:
        return item.node is not None and acts(parsed, item.node)
    return bool(re.match(rb"import\s+[\"']", item.text.lstrip()) or re.search(rb"\bimport\s+\*\s*$", item.text))


def _list(parsed: Parsed, item: Item) -> Container | None:
    node = item.node
    if node is not None and node.type == "import_statement":
        clause = next((child for child in node.named_children if child.type == "import_clause"), None)
        named = [child for child in clause.named_children if child.type == "named_imports"] if clause else []
        node = named[0] if clause is not None and len(named) == clause.named_child_count == 1 else None
    if node is not None and node.type == "use_declaration":
        argument = node.child_by_field_name("argument")
        node = argument.child_by_field_name("list") if argument is not None else None
    found = cut(parsed, node) if node is not None else None
    return found if found is not None and found.role == "names" else None


def _packages(parsed: Parsed, items: list[Item]) -> set[bytes]:
    """Return the packages that Python's ``import a`` and ``import a.b`` bind by their first name."""
    nodes = [item.node for item in items if item.kind == "import" and item.node is not None]
    modules = (
        child
        for node in nodes
        if node.type == "import_statement" and parsed.language == "python"
        for child in node.named_children
    )
    return {parsed.text(child).partition(b".")[0] for child in modules if child.type == "dotted_name"}


def _bound(parsed: Parsed, items: list[Item]) -> set[bytes]:
    names: set[bytes] = set()
    for item in items:
        if item.kind != "import" or item.node is None:
            continue
        if parsed.language in SEQUENCES:
            names |= imported(parsed, item.node)
            continue
        leaves = [text for kind, text in tokens(parsed, item.node) if kind in ("identifier", "type_identifier")]
        if item.node.type == "import_statement" and parsed.language == "python":
            for child in item.node.named_children:
                text = parsed.text(child)
                names.add(text.split()[-1] if b" as " in text else text)
            continue
        container = _list(parsed, item)
        if container is not None:
            names |= {each.name.split(b" ")[-1] for each in container.items}
        else:
            names |= set(leaves)
    return names


POLICIES = (Policy(region=united, twin=joined),)

"""Rule ``key-sets``: entries that both sides added to a dictionary, a set or ``__all__``, united by key.

Invariant: every new key is a literal (or a member of one enumeration), and no key is there twice; the order of such
entries chooses nothing. An entry whose value counts (``auto()``, ``next(...)``) is declined, and so is one key with two
values. Where both sides keep the entries sorted, the result is sorted too.
"""

from __future__ import annotations

import re

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import additions, arranged, counts, is_sorted
from replay_rules.parsing import Parsed
from replay_rules.parts import Item
from replay_rules.places import Place, Policy, Region
from replay_rules.sequences import PATHS
from replay_rules.shapes import literal
from replay_rules.weave import weave

APPLIES = ("*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts", *PATHS)
ORDER = 120

_SETS = frozenset({b"set", b"frozenset", b"Set"})


def rule(collision: Collision) -> Resolved | Declined:
    r"""Unite the entries of both sides.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"HANDLERS = {\n    'a': run_a,\n}\n"
    >>> b, c = b"    'b': run_b,\n", b"    'c': run_c,\n"
    >>> sides = [Side(content=base.replace(b"}", text + b"}")) for text in (b"", b, c)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == base.replace(b"}", b + c + b"}")
    True
    """
    return weave(collision, POLICIES)


def united(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return both sides' entries."""
    unordered = place.role in ("pairs", "set") or (place.role == "list" and _is_set(place))
    if not unordered:
        return Declined(why="no place for keys")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    new = (*found.main, *found.change)
    if counts(new):
        return Declined(why="an entry's value depends on when it is computed: model")
    keys = [_key(place.main.parsed if item in found.main else place.change.parsed, item, place.role) for item in new]
    if any(key is None for key in keys):
        return Declined(why="an entry's key is no literal: model")
    all_keys = {_key(place.base.parsed, item, place.role) for item in place.base.items}
    if len(set(keys)) != len(keys) or not all_keys.isdisjoint(keys):
        return Declined(why="one key is added twice: model")
    if len({key[:1] if key[:1] != b"a" else key.rpartition(b".")[0] for key in keys if key is not None}) > 1:
        return Declined(why="keys of different kinds cannot be told apart for sure: model")
    return arranged(place, region, found, (_order,) if is_sorted(place, _order) else ())


def _order(item: Item) -> bytes:
    return item.name or item.text.strip()


def _key(parsed: Parsed, item: Item, role: str) -> bytes | None:
    if role == "pairs":
        return item.name or None
    if item.node is None:
        return None
    text = parsed.text(item.node)
    return literal(parsed, item.node) or (b"a" + text if re.fullmatch(rb"\w+(\.\w+)+", text) else None)


def _is_set(place: Place) -> bool:
    """Return whether a list is ``__all__`` or the argument of a set."""
    node, parsed = place.main.node, place.main.parsed
    above = node.parent
    if above is None:
        return False
    if above.type in ("assignment", "augmented_assignment"):
        left = above.child_by_field_name("left")
        return left is not None and parsed.text(left) == b"__all__"
    call = above.parent
    if above.type not in ("argument_list", "arguments") or call is None:
        return False
    called = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    return called is not None and parsed.text(called) in _SETS and above.named_child_count == 1


POLICIES = (Policy(region=united),)

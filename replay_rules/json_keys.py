"""Rule ``json-keys``: merge JSON objects key by key, formatting kept.

New keys are put behind the key that they stood behind, or in order where all three sides are sorted. Arrays merge
only as sets of scalars; objects within arrays, a key that both sides set, conditions that both sides add to a package's
exports, and text with comments are declined.
Invariant: the result parses, has no doubled key, and its value is what both sides' edits make of the base's.
"""

from __future__ import annotations

import json
import re
from typing import Any

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.keyed import CannotMerge, Keyed, Leaf, Member, Node, replayed

APPLIES: tuple[str, ...] = ("*.json", "*.jsonc", "*.webmanifest", "*.ipynb", "*.geojson")
ORDER: int = 610

_DEEPEST = 100
_CONDITIONAL = ("exports", "imports")
_PATHS = (".", "#")
_TOKEN = re.compile(rb'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[-+.0-9A-Za-z]+|[\[\]{}:,])', re.DOTALL)


def rule(collision: Collision) -> Resolved | Declined:
    r"""Merge by key.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base, main, change = (Side(content=text) for text in (b'{"a": 1}', b'{"a": 1, "b": 2}', b'{"a": 1, "c": 3}'))
    >>> rule(Collision(path=RepoPath(b"x.json"), base=base, main=main, change=change)).content
    b'{"a": 1, "b": 2, "c": 3}'
    """
    if collision.path.endswith(b".ipynb"):
        return Declined(why="a notebook has cells, not keys: author")
    outcome = replayed(collision, read, load)
    if isinstance(outcome, Resolved) and collision.path.rpartition(b"/")[2] == b"package.json":
        sides = [load(side.content or b"") for side in (collision.base, collision.main, collision.change)]
        known = [side if isinstance(side, dict) else {} for side in sides]
        if any(_both_add_conditions(*(side.get(name) for side in known)) for name in _CONDITIONAL):
            return Declined(why="of a package's exports the first condition that holds counts: model")
    return outcome


def _both_add_conditions(base: Any, main: Any, change: Any) -> bool:
    """Return whether some object got keys from both sides that are no paths, which begin with a dot or a hash."""
    if not isinstance(main, dict) or not isinstance(change, dict):
        return False
    before = base if isinstance(base, dict) else {}
    new = [{key for key in side if key not in before and key[:1] not in _PATHS} for side in (main, change)]
    if all(new):
        return True
    return any(_both_add_conditions(before.get(key), main[key], change[key]) for key in main if key in change)


def load(content: bytes) -> Any:
    """Return the value of strict JSON.

    Raises:
        CannotMerge: the content is no UTF-8, no JSON, too deep, or has a key twice in one object.
    """
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CannotMerge(f"not plain JSON ({error}): model") from None


def read(content: bytes) -> Node:
    """Return the tree of JSON that `load` accepts."""
    tokens = _Tokens(content)
    node, _ = _value(tokens, 0, 0)
    if isinstance(node, Leaf):
        return Leaf(text=content, data=content)
    blank = content[tokens.ends[-1] :]
    begin = content[: tokens.starts[0]] + node.begin
    return Keyed(begin=begin, members=node.members, end=node.end + blank, separator=b",", items=node.items)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise CannotMerge("an object has a key twice: author")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(text)


class _Tokens:
    """The tokens of strict JSON, read once; a token is known by its number."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        found = [match.span(1) for match in _TOKEN.finditer(content, 3 if content.startswith(b"\xef\xbb\xbf") else 0)]
        self.texts = [content[start:end] for start, end in found]
        self.starts = [start for start, _ in found]
        self.ends = [end for _, end in found]


def _value(tokens: _Tokens, at: int, depth: int) -> tuple[Node, int]:
    """Return the value that begins with a token, and the number of the token behind it."""
    if depth > _DEEPEST:
        raise CannotMerge("nested too deep: model")
    token = tokens.texts[at]
    if token not in (b"{", b"["):
        return Leaf(text=token, data=token), at + 1
    keyed = token == b"{"
    content, start = tokens.content, tokens.starts[at]
    members: list[Member] = []
    behind = tokens.ends[at]
    at += 1
    while tokens.texts[at] not in (b"}", b"]"):
        if tokens.texts[at] == b",":
            behind = tokens.ends[at]
            at += 1
            continue
        member, at = _member(tokens, at, behind, depth, keyed=keyed)
        members.append(member)
        behind = tokens.ends[at - 1] + len(member.tail)
    end = tokens.ends[at]
    separated = Keyed(begin=token, members=tuple(members), end=content[behind:end], separator=b",", items=not keyed)
    if not keyed and not _is_set(separated):
        whole = content[start:end]
        return Leaf(text=whole, data=whole), at + 1
    return separated, at + 1


def _member(tokens: _Tokens, at: int, behind: int, depth: int, *, keyed: bool) -> tuple[Member, int]:
    content, begin, name = tokens.content, tokens.starts[at], tokens.texts[at]
    key: Any = None
    if name[:1] == b'"':
        key = name[1:-1].decode() if b"\\" not in name else json.loads(name)
    value_at = at + 2 if keyed else at
    node, after = _value(tokens, value_at, depth + 1)
    if not keyed and isinstance(node, Leaf) and key is None:
        key = _scalar(node.text)
    head = content[begin : tokens.starts[value_at]] if keyed else b""
    tail = content[tokens.ends[after - 1] : tokens.starts[after]] if tokens.texts[after] == b"," else b""
    return Member(key=key, lead=content[behind:begin], head=head, value=node, tail=tail), after


def _scalar(text: bytes) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_set(array: Keyed) -> bool:
    keys = [member.key for member in array.members]
    scalars = all(isinstance(member.value, Leaf) for member in array.members)
    return scalars and None not in keys and len(set(keys)) == len(keys)

"""Rule ``json-keys``: merge JSON objects key by key, formatting kept.

New keys are put behind the key that they stood behind, or in order where all three sides are sorted. Arrays merge
only as sets of scalars; objects within arrays, a key that both sides set, and text with comments are declined.
Invariant: the result parses, has no doubled key, and its value is what both sides' edits make of the base's.
"""

from __future__ import annotations

import json
import re
from typing import Any

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.keyed import CannotMerge, Keyed, Leaf, Member, Node, render, replayed

APPLIES: tuple[str, ...] = ("*.json", "*.jsonc", "*.webmanifest", "*.ipynb", "*.geojson")
ORDER: int = 610

_DEEPEST = 100
_BLANK = re.compile(rb"[ \t\r\n]+")
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
    return replayed(collision, read, load)


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
    node, at = _value(content, 0, 0)
    blank = content[at:]
    start = len(content) - len(content.removeprefix(b"\xef\xbb\xbf").lstrip())
    if isinstance(node, Leaf):
        return Leaf(text=content, data=content)
    begin = content[:start] + node.begin
    return Keyed(begin=begin, members=node.members, end=node.end + blank, separator=b",", items=node.items)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise CannotMerge("an object has a key twice: author")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(text)


def _token(content: bytes, at: int) -> tuple[bytes, int]:
    if at == 0 and content.startswith(b"\xef\xbb\xbf"):
        at = 3
    match = _TOKEN.match(content, at)
    if match is None:
        raise CannotMerge("not plain JSON: model")
    return match.group(1), match.end()


def _value(content: bytes, at: int, depth: int) -> tuple[Node, int]:
    """Return the value at an offset, blanks before it skipped, and the offset behind it."""
    if depth > _DEEPEST:
        raise CannotMerge("nested too deep: model")
    token, end = _token(content, at)
    if token not in (b"{", b"["):
        return Leaf(text=token, data=token), end
    start = end - 1
    members: list[Member] = []
    at = end
    closing = b"}" if token == b"{" else b"]"
    while True:
        found, end = _token(content, at)
        if found == closing:
            break
        if found == b",":
            at = end
            continue
        member = _member(content, at, depth, keyed=token == b"{", first=not members)
        members.append(member[0])
        at = member[1]
    separated = Keyed(begin=token, members=tuple(members), end=content[at:end], separator=b",", items=token == b"[")
    if token == b"[" and not _is_set(separated):
        whole = content[start:end]
        return Leaf(text=whole, data=whole), end
    return separated, end


def _member(content: bytes, at: int, depth: int, *, keyed: bool, first: bool) -> tuple[Member, int]:
    name, behind = _token(content, at)
    begin = behind - len(name)
    key: Any = json.loads(name) if name[:1] == b'"' else None
    value_at = _token(content, behind)[1] if keyed else at
    node, end = _value(content, value_at, depth + 1)
    value_start = end - len(render(node))
    if not keyed and isinstance(node, Leaf) and key is None:
        key = _scalar(node.text)
    head = content[begin:value_start] if keyed else b""
    blank = _BLANK.match(content, end)
    behind = blank.end() if blank else end
    tail = content[end:behind] if content[behind : behind + 1] == b"," else b""
    return Member(key=key, lead=content[at:begin], head=head, value=node, tail=tail), end + len(tail)


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

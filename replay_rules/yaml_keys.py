"""Rule ``yaml-keys``: merge YAML block mappings key by key, formatting kept.

The text is read as blocks of lines by their indentation; flow style, block scalars and lists of mappings are taken
whole. Lists of plain scalars merge as sets. Anchors, aliases, tags, merge keys and several documents are declined.
Invariant: the result parses, has no doubled key, and its value is what both sides' edits make of the base's, as
ruamel.yaml reads them.
"""

from __future__ import annotations

import io
import re
from typing import Any

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.keyed import CannotMerge, Keyed, Leaf, Member, Node, render, replayed

APPLIES: tuple[str, ...] = ("*.yaml", "*.yml", ".clang-format", "CITATION.cff")
ORDER: int = 630

_DEEPEST = 60
_LARGEST = 200_000
_MARKED = re.compile(rb"(?:^|[\s\[{,])[&*!][\w.!-]|<<\s*:|^%|^\.\.\.|^[ ]*\?[ ]|^[ ]*\t", re.MULTILINE)
_KEY = re.compile(
    rb"""("(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*'"""
    rb"""|[^\s"'#\[\]{},&*!|>%@`?:-](?:[^\s#:]|[^\S\r\n]++|:(?=\S)|(?<=\S)#)*?)\s*:(?=\s|$)[ ]*"""
)
_QUOTING = re.compile(rb"""^[^"'\[\]{}\n]*["'\[\]{}].*$""", re.MULTILINE)
_BRACKET = re.compile(rb"[\[\]{}]")
_ITEM = re.compile(rb"-(?=\s|$)[ ]*")


def rule(collision: Collision) -> Resolved | Declined:
    r"""Merge by key.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> texts = (b"a:\n  x: 1\n", b"a:\n  x: 1\n  y: 2\n", b"a:\n  x: 1\n  z: 3\n")
    >>> base, main, change = (Side(content=text) for text in texts)
    >>> print(rule(Collision(path=RepoPath(b"x.yaml"), base=base, main=main, change=change)).content.decode())
    a:
      x: 1
      y: 2
      z: 3
    <BLANKLINE>
    """
    return replayed(collision, read, load, _stand_alone)


def load(content: bytes) -> Any:
    """Return the value.

    Raises:
        CannotMerge: the content is no UTF-8, no YAML, too large, or has a key twice in one mapping.
    """
    _bounded(content)
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(io.StringIO(content.decode(), newline=""))
    except (YAMLError, ValueError, RecursionError) as error:
        raise CannotMerge(f"not plain YAML ({str(error).splitlines()[0]}): model") from None


def read(content: bytes) -> Node:
    """Return the tree of a YAML document.

    Raises:
        CannotMerge: it has what keys alone do not tell: anchors, tags, tabs, several documents.
    """
    _bounded(content)
    marked = _MARKED.search(content)
    if marked:
        raise CannotMerge("anchors, aliases, tags, directives or tabs: model")
    lines = content.splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if line.rstrip() == b"---" or line.startswith(b"--- ")]
    first = next((at for at, line in enumerate(lines) if not _is_blank(line)), len(lines))
    if len(starts) > 1 or (starts and starts[0] != first):
        raise CannotMerge("several documents: model")
    begin = b"".join(lines[: first + 1]) if starts else b""
    if starts and lines[first].rstrip() != b"---":
        raise CannotMerge("a document that starts on its marker's line: model")
    return _block(lines[first + 1 :] if starts else lines, 0, begin)


def _bounded(content: bytes) -> None:
    if len(content) > _LARGEST or _nesting(content) > _DEEPEST:
        raise CannotMerge("too large or nested too deep: model")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise CannotMerge(f"not plain YAML ({error}): model") from None


def _stand_alone(content: bytes) -> bool:
    """Return whether no string and no bracket goes over a line end, so that a block of lines is read by itself."""
    return not any(
        line.count(b'"') % 2
        or line.count(b"'") % 2
        or line.count(b"[") != line.count(b"]")
        or line.count(b"{") != line.count(b"}")
        for line in _QUOTING.findall(content)
    )


def _nesting(content: bytes) -> int:
    """Return how deep brackets nest at most, those in strings counted too: the parser's time grows with its square."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(content):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _block(lines: list[bytes], depth: int, begin: bytes = b"") -> Node:
    """Return the mapping, the set of scalars, or else the text that these lines are; ``begin`` stands before them."""
    first = next((line for line in lines if not _is_blank(line)), b"")
    indent = _indent(first)
    whole = begin + b"".join(lines)
    members = None
    if first and depth < _DEEPEST:
        is_list = _ITEM.match(first, indent) is not None
        members = _items(lines, indent) if is_list else _members(lines, indent, depth)
        if members is not None:
            end = whole[len(begin) + sum(len(_text(member)) for member in members) :]
            return Keyed(begin=begin, members=tuple(members), end=end, items=is_list)
    return Leaf(text=whole, data=whole)


def _members(lines: list[bytes], indent: int, depth: int) -> list[Member] | None:
    """Return the members of a mapping, or None where a line at its indentation is no key."""
    found: list[Member] = []
    at = 0
    while True:
        start = at
        while at < len(lines) and _is_blank(lines[at]):
            at += 1
        if at == len(lines):
            return found
        key = _KEY.match(lines[at], indent) if _indent(lines[at]) == indent else None
        if key is None:
            return None
        head, inline = lines[at][: key.end()], lines[at][key.end() :]
        end = _end(lines, at + 1, indent, lists=_is_blank(inline), scalar=inline[:1] in (b"|", b">"))
        lead = b"".join(lines[start:at])
        if _is_blank(inline) and end > at + 1:
            value: Node = _block(lines[at + 1 : end], depth + 1)
            head = lines[at]
        else:
            text = inline + b"".join(lines[at + 1 : end])
            value = Leaf(text=text, data=text.rstrip(b"\r\n"))
        name = key.group(1).decode("utf-8", "replace").strip("\"'")
        found.append(Member(key=name, lead=lead, head=head, value=value))
        at = end


def _items(lines: list[bytes], indent: int) -> list[Member] | None:
    """Return the items of a list of plain scalars without a double, or None where it is something else."""
    found: list[Member] = []
    start = 0
    for at, line in enumerate(lines):
        if _is_blank(line):
            continue
        item = _ITEM.match(line, indent) if _indent(line) == indent else None
        text = line[item.end() :] if item else b""
        word, _, _ = text.partition(b" #")
        name = word.strip()
        if item is None or not name or name[:1] in b"[{|>#" or _KEY.match(text) or _ITEM.match(text):
            return None
        shown = name.decode("utf-8", "replace").strip("\"'")
        key: Any = int(shown) if shown.isdecimal() and len(shown) < 100 else shown
        leaf = Leaf(text=text, data=text.rstrip(b"\r\n"))
        lead = b"".join(lines[start:at])
        found.append(Member(key=key, lead=lead, head=line[: item.end()], value=leaf))
        start = at + 1
    return found if len({member.key for member in found}) == len(found) else None


def _end(lines: list[bytes], at: int, indent: int, *, lists: bool, scalar: bool) -> int:
    """Return where a member ends: before the blanks and comments ahead of the next line that is not further in.

    What is further in and looks like a comment is text of a block scalar.
    """
    end = at
    while at < len(lines):
        line = lines[at]
        if not _is_blank(line) or (scalar and line.strip() and _indent(line) > indent):
            further = _indent(line) > indent or (lists and _indent(line) == indent and _ITEM.match(line, indent))
            if not further:
                return end
            end = at + 1
        at += 1
    return end


def _text(member: Member) -> bytes:
    return member.lead + member.head + render(member.value) + member.tail


def _is_blank(line: bytes) -> bool:
    return not line.strip() or line.lstrip().startswith(b"#")


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))

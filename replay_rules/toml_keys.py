"""Rule ``toml-keys``: merge TOML tables key by key, formatting kept.

The text is read as tables of entries, each with the comments above it, and put together from the lines of the sides.
Arrays merge only as sets of scalars, and only without comments inside; a key that both sides set is declined, but for
versions. Invariant: the result parses (so no key is doubled) and its value is what both sides' edits make of the
base's, as the standard library's parser reads them.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Hashable
from typing import Any

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.keyed import CannotMerge, Keyed, Leaf, Member, Node, render, replayed

APPLIES: tuple[str, ...] = ("*.toml",)
ORDER: int = 620

_BLANK = re.compile(rb"[ \t]*(#[^\r\n]*)?(\r?\n|\Z)")
_HEADER = re.compile(rb"[ \t]*(\[\[?)[ \t]*([^\r\n#]*?)[ \t]*\]\]?[ \t]*(#[^\r\n]*)?(\r?\n|\Z)")
_KEY_PART = re.compile(rb"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*')[ \t]*([.=\]]|\Z)""")
_STRING = re.compile(
    rb'"""(?:[^\\]|\\.)*?"{3,5}|' + rb"'''.*?'{3,5}" + rb'|"(?:[^"\\\r\n]|\\.)*"' + rb"|'[^'\r\n]*'", re.DOTALL
)
_PLAIN = re.compile(rb"[^\r\n#,\]}]+")
_SCALAR = re.compile(rb"[^\s,\[\]{}#'\"=]+")
_PLAIN_STRING = re.compile(rb"""'[^'\r\n]+'|"[^"\\\r\n]+"(?!")""")
_DECIMAL = re.compile(rb"0|[1-9][0-9]{0,15}")
_REST_OF_LINE = re.compile(rb"[ \t]*(#[^\r\n]*)?(\r?\n|\Z)")


def rule(collision: Collision) -> Resolved | Declined:
    r"""Merge by key.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> texts = (b"[a]\nx = 1\n", b"[a]\nx = 1\ny = 2\n", b"[a]\nx = 1\nz = 3\n")
    >>> base, main, change = (Side(content=text) for text in texts)
    >>> print(rule(Collision(path=RepoPath(b"x.toml"), base=base, main=main, change=change)).content.decode())
    [a]
    x = 1
    y = 2
    z = 3
    <BLANKLINE>
    """
    return replayed(collision, read, load)


def load(content: bytes) -> Any:
    """Return the value.

    Raises:
        CannotMerge: the content is no UTF-8 or no TOML.
    """
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise CannotMerge(f"not plain TOML ({error}): model") from None


def read(content: bytes) -> Keyed:
    """Return the tree of TOML that `load` accepts: tables of entries, the first without a header.

    The lines before a table's header, back to its last entry, go with the header.
    """
    tables: list[Member] = []
    entries: list[Member] = []
    head, lead = b"", b""
    key: Hashable = ()
    seen: Counter[Hashable] = Counter()
    at = lead_start = 0
    if content.startswith(b"\xef\xbb\xbf"):
        raise CannotMerge("a byte order mark: model")
    while at < len(content):
        blank = _BLANK.match(content, at)
        if blank:
            at = blank.end()
            continue
        header = _HEADER.match(content, at)
        if header:
            tables.append(Member(key=key, lead=lead, head=head, value=Keyed(members=tuple(entries))))
            lead, head, entries = content[lead_start:at], header.group(0), []
            name = _key(header.group(2), 0)[0]
            key = (*name, seen[name])
            seen[name] += 1
            at = header.end()
        else:
            entry = _entry(content, lead_start, at)
            entries.append(entry)
            at = lead_start + len(render(Keyed(members=(entry,))))
        lead_start = at
    tables.append(Member(key=key, lead=lead, head=head, value=Keyed(members=tuple(entries))))
    return Keyed(members=tuple(tables), end=content[lead_start:])


def _entry(content: bytes, lead_start: int, at: int) -> Member:
    key, value_at = _key(content, at)
    while content[value_at : value_at + 1] in (b" ", b"\t"):
        value_at += 1
    value = _value(content, value_at, 0)
    end = value_at + len(render(value))
    rest = _REST_OF_LINE.match(content, end)
    if rest is None:
        raise CannotMerge("an entry is not read: model")
    shown: Hashable = ".".join(key) if len(key) == 1 else key
    return Member(
        key=shown, lead=content[lead_start:at], head=content[at:value_at], value=value, tail=content[end : rest.end()]
    )


def _key(text: bytes, at: int) -> tuple[tuple[str, ...], int]:
    """Return a dotted key and the offset behind its equals sign, or the text's end."""
    parts: list[str] = []
    while True:
        match = _KEY_PART.match(text, at)
        if match is None:
            raise CannotMerge("a key is not read: model")
        written = match.group(1).decode()
        parts.append(written if written[0] not in "\"'" else next(iter(tomllib.loads(f"{written} = 0"))))
        at = match.end()
        if match.group(2) != b".":
            return tuple(parts), at


def _value(content: bytes, start: int, depth: int) -> Node:
    """Return the value that starts at an offset: an array of scalars by its items, anything else whole."""
    if content[start : start + 1] == b"[" and depth == 0:
        array = _array(content, start)
        if array is not None:
            return array
    end = _end(content, start)
    return Leaf(text=content[start:end], data=content[start:end])


def _array(content: bytes, start: int) -> Keyed | None:
    """Return an array as a set, or None where it is none: other items, comments, or an item twice."""
    whole = content[start : _end(content, start)]
    at = 1
    members: list[Member] = []
    while True:
        blank = len(whole[at:]) - len(whole[at:].lstrip())
        match = _STRING.match(whole, at + blank) or _SCALAR.match(whole, at + blank)
        if match is None:
            break
        text = match.group(0)
        item = _read_scalar(text)
        if not isinstance(item, str | int | float) or isinstance(item, bool):
            return None
        after = len(whole[match.end() :]) - len(whole[match.end() :].lstrip())
        comma = whole[match.end() + after : match.end() + after + 1] == b","
        tail = whole[match.end() : match.end() + after] if comma else b""
        members.append(Member(key=item, lead=whole[at : match.start()], value=Leaf(text=text, data=text), tail=tail))
        at = match.end() + len(tail)
        if not comma:
            break
        at += 1
    trailing = at > 1 and whole[at - 1 : at] == b","
    end = whole[at - trailing :]
    found = Keyed(begin=b"[", members=tuple(members), end=end, separator=b",", items=True)
    plain = not end.replace(b",", b"", 1).strip(b" \t\r\n").removesuffix(b"]")
    unique = len({member.key for member in members}) == len(members)
    return found if plain and unique and render(found) == whole else None


def _read_scalar(text: bytes) -> Any:
    if _PLAIN_STRING.fullmatch(text):
        return text[1:-1].decode()
    return int(text) if _DECIMAL.fullmatch(text) else tomllib.loads(f"x = {text.decode()}")["x"]


def _end(content: bytes, at: int) -> int:
    """Return the offset behind a value, brackets balanced."""
    open_ = 0
    while at < len(content):
        string = _STRING.match(content, at)
        byte = content[at : at + 1]
        if string:
            at = string.end()
        elif byte == b"#":
            line_end = content.find(b"\n", at)
            at = line_end if line_end >= 0 else len(content)
            continue
        elif byte in b"[{":
            open_ += 1
            at += 1
        elif byte in b"]}":
            open_ -= 1
            at += 1
        elif open_:
            at += 1
            continue
        else:
            scalar = _PLAIN.match(content, at)
            at = at + len(scalar.group().rstrip(b" \t")) if scalar else at + 1
        if not open_:
            return at
    raise CannotMerge("a value does not end: model")

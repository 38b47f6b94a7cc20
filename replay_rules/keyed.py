"""Merge keyed text by key: what the rules for JSON, TOML, YAML and tables share.

Each format reads its text into a tree whose parts, put together again, are that text byte for byte. Three such trees
merge key by key; the result is made of pieces of the sides, so formatting and comments stay. `explains` then checks
the result with values that the format's own parser read, independently of how the text was put together.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.file_mode import merged_mode
from replay_rules.version import greater, is_locked

ORDERED_WORDS = frozenset(
    {"arg", "args", "argv", "cmd", "command", "commands", "entrypoint", "extends", "middleware", "middlewares"}
    | {"migrations", "order", "path", "paths", "pipeline", "plugins", "presets", "priority", "script", "scripts"}
    | {"sequence", "stages", "steps"}
)
"""Names of lists whose order means something, so they are no sets."""

MISSING = object()
_LINE_FEED = re.compile(rb"(?<!\r)\n")
_SETTING = re.compile(r"([A-Za-z_][\w.-]*)(?:\[[^\]]*\])?[ ]*[=<>~!]=?")
"""An item that gives a name its value, or a package its versions: of two with one name one would count."""

_COMMENT = re.compile(rb"^[ \t]*(#[^\r\n]*)", re.MULTILINE)


class CannotMerge(Exception):
    """Say why two trees do not merge by key; it stays inside of the rule that asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A value that is taken whole: its bytes, and what two leaves compare by."""

    text: bytes
    data: Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One key with its value; the bytes are ``lead + head + value + tail``. ``lead`` holds blanks and comments."""

    key: Hashable
    lead: bytes = b""
    head: bytes = b""
    value: Node
    tail: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """Values by unique keys; ``items`` marks a set of scalars, each its own key."""

    begin: bytes = b""
    members: tuple[Member, ...]
    end: bytes = b""
    separator: bytes = b""
    items: bool = False


Node = Leaf | Keyed


def replayed(
    collision: Collision,
    read: Callable[[bytes], Node],
    load: Callable[[bytes], Any],
    cuts: Callable[[bytes], bool] = lambda content: False,
) -> Resolved | Declined:
    """Merge a file by key and prove the result.

    Args:
        collision: the three versions.
        read: gives a content's tree, whose bytes are the content.
        load: gives a content's plain value; both raise `CannotMerge` for what they do not take.
        cuts: says of a content that every member's bytes stand for themselves, so that members which are the same in
            all versions and in the result need not be loaded for the proof.
    """
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    if base is None or main is None or change is None:
        return Declined(why="keys are merged only where all three sides have the file: model")
    mode = merged_mode(collision)
    if isinstance(mode, Declined):
        return mode
    if is_locked(collision.path):
        return Declined(why="a lock file is made again by its program: author")
    try:
        sides = (base, main, change)
        by_part = all(map(cuts, sides))
        values = [] if by_part else [load(side) for side in sides]
        trees = [read(side) for side in sides]
        if [render(tree) for tree in trees] != [*sides]:
            return Declined(why="the text is not read byte for byte: model")
        result = render(merged(trees[0], trees[1], trees[2], idempotent=collision.idempotent))
        if all(_windows(side) for side in sides):
            result = _LINE_FEED.sub(b"\r\n", result)
        _comments_stand_once(base, main, change, result)
        if by_part and cuts(result):
            values = [load(render(tree)) for tree in _differing([*trees, read(result)])]
        else:
            values = [*(values or map(load, sides)), load(result)]
    except CannotMerge as reason:
        return Declined(why=str(reason))
    if not explains(values[0], values[1], values[2], values[3]):
        return Declined(why="the merged value is not what both edits make: model")
    return Resolved(content=result, mode=mode)


def _windows(content: bytes) -> bool:
    return b"\n" in content and content.count(b"\n") == content.count(b"\r\n")


def _comments_stand_once(base: bytes, main: bytes, change: bytes, result: bytes) -> None:
    """Decline a comment more than the sides make: no parser sees those, so no proof by values does."""
    before, ours, theirs, now = (Counter(_COMMENT.findall(content)) for content in (base, main, change, result))
    for comment, count in now.items():
        if count > max(ours[comment], theirs[comment], ours[comment] + theirs[comment] - before[comment]):
            raise CannotMerge(f"the comment {_shown(comment)} would stand twice: model")


def render(node: Node) -> bytes:
    """Return a tree's bytes; where lines are joined without a separator, each but the last ends its line."""
    if isinstance(node, Leaf):
        return node.text
    parts = [member.lead + member.head + render(member.value) + member.tail for member in node.members]
    if not node.separator:
        line_end = b"\r\n" if any(part.endswith(b"\r\n") for part in parts) else b"\n"
        more = [*(True for _ in parts[1:]), bool(node.end)]
        parts = [
            part + line_end if after and part and not part.endswith(b"\n") else part
            for part, after in zip(parts, more, strict=False)
        ]
    return node.begin + node.separator.join(parts) + node.end


def _differing(trees: Sequence[Node]) -> list[Node]:
    """Return trees without the members that say the same in the same words in all of them."""
    mappings = [tree for tree in trees if isinstance(tree, Keyed) and not tree.items]
    if len(mappings) < len(trees):
        return list(trees)
    members = [{member.key: member for member in tree.members} for tree in mappings]
    if any(len(found) < len(tree.members) for found, tree in zip(members, mappings, strict=True)):
        return list(trees)
    kept: list[list[Member]] = [[] for _ in trees]
    for key in dict.fromkeys(key for found in members for key in found):
        versions = [found.get(key) for found in members]
        there = [one for one in versions if one is not None]
        if len(there) == len(trees):
            if all(_same_member(there[0], one) for one in there[1:]):
                continue
            inner = _differing([one.value for one in there])
            versions = [replace(one, value=value) for one, value in zip(there, inner, strict=True)]
        for out, version in zip(kept, versions, strict=True):
            out += [version] if version is not None else []
    return [replace(tree, members=tuple(out)) for tree, out in zip(mappings, kept, strict=True)]


def merged(base: Node, main: Node, change: Node, *, idempotent: bool, name: Hashable = b"") -> Node:
    """Return the three-way merge by key.

    Raises:
        CannotMerge: with the reason, which names the key.
    """
    if same(change, base):
        return main
    if same(main, base) and (isinstance(main, Leaf) or render(main) == render(base)):
        return change
    if same(main, change):
        if idempotent:
            return main
        raise CannotMerge(f"both sides made the same change of {_shown(name)}, which may be meant twice: author")
    if isinstance(base, Keyed) and isinstance(main, Keyed) and isinstance(change, Keyed):
        if not base.items == main.items == change.items:
            raise CannotMerge(f"{_shown(name)} changed its type: model")
        return _merged_keyed(base, main, change, idempotent=idempotent, name=name)
    if isinstance(base, Leaf) and isinstance(main, Leaf) and isinstance(change, Leaf):
        chosen = greater(base.text, main.text, change.text, _shown(name).encode())
        if chosen is not None:
            return main if chosen == main.text else change
    raise CannotMerge(f"both sides changed {_shown(name)}: model")


def same(left: Node, right: Node) -> bool:
    """Return whether two trees say the same in the same words."""
    if isinstance(left, Leaf) or isinstance(right, Leaf):
        return isinstance(left, Leaf) and isinstance(right, Leaf) and left.data == right.data
    return (left.begin, left.end, left.items, len(left.members)) == (
        right.begin,
        right.end,
        right.items,
        len(right.members),
    ) and all(_same_member(one, other) for one, other in zip(left.members, right.members, strict=True))


def explains(base: Any, main: Any, change: Any, result: Any) -> bool:
    """Return whether ``result`` is what both sides' edits of ``base`` make, judged by plain values.

    Lists that both sides changed count as sets of scalars; a text that both put for another must be one of the two.
    """
    if _equal(change, base):
        return _equal(result, main)
    if _equal(main, base) or _equal(main, change):
        return _equal(result, change)
    if isinstance(main, dict) and isinstance(change, dict) and isinstance(result, dict):
        before = base if isinstance(base, dict) else {}
        return all(
            explains(*(side.get(key, MISSING) for side in (before, main, change, result)))
            for key in {**before, **main, **change, **result}
        )
    if isinstance(base, list) and isinstance(main, list) and isinstance(change, list) and isinstance(result, list):
        if any(isinstance(item, dict | list) for item in (*base, *main, *change, *result)):
            return False
        before_, ours, theirs, now = (Counter(map(repr, side)) for side in (base, main, change, result))
        return now == (ours | theirs) - (before_ - ours) - (before_ - theirs)
    if MISSING in (base, main, change):
        return False
    return isinstance(result, str) and (_equal(result, main) or _equal(result, change))


def _equal(left: Any, right: Any) -> bool:
    """Compare values without taking 1 for True."""
    if left is MISSING or right is MISSING:
        return left is right
    return type(left) is type(right) and bool(left == right) and repr(left) == repr(right)


def _merged_keyed(base: Keyed, main: Keyed, change: Keyed, *, idempotent: bool, name: Hashable) -> Keyed:
    ours, theirs, before = (_by_key(side, name) for side in (main, change, base))
    for side in (main, change):
        kept = [member.key for member in side.members if member.key in before]
        if kept != [member.key for member in base.members if member.key in (ours if side is main else theirs)]:
            raise CannotMerge(f"the keys of {_shown(name)} were put in another order: model")
    if main.items:
        _must_be_a_set(base, main, change, name)
        struck = [key for key in before if key not in ours and key not in theirs]
        if struck and any(key not in before for key in (*ours, *theirs)):
            raise CannotMerge(f"both sides took {_shown(struck[0])} out of {_shown(name)}, one for another: model")
    result: list[Member] = []
    for member in main.members:
        kept_member = _kept(before.get(member.key), member, theirs.get(member.key), idempotent=idempotent)
        if kept_member is not None:
            result.append(kept_member)
    for key, gone in before.items():
        if key not in ours and key in theirs and not _same_member(gone, theirs[key]):
            raise CannotMerge(f"main deleted {_shown(key)}, which the change edits: author")
    _place(result, base, main, change)
    begin = _pick(base.begin, main.begin, change.begin, name)
    end = _pick(base.end, main.end, change.end, name)
    whole = replace(main, begin=begin, members=tuple(result), end=end, separator=main.separator or change.separator)
    return whole if result or not main.separator else replace(whole, end=end.lstrip())


def _kept(before: Member | None, ours: Member, theirs: Member | None, *, idempotent: bool) -> Member | None:
    """Return a member of main as it stands in the result, or None where the change deleted it."""
    if theirs is None:
        if before is not None and not same(before.value, ours.value):
            raise CannotMerge(f"the change deletes {_shown(ours.key)}, which main edited: author")
        return ours if before is None else None
    if before is None:
        if same(ours.value, theirs.value):
            return ours
        raise CannotMerge(f"both sides added {_shown(ours.key)}: model")
    return Member(
        key=ours.key,
        lead=_pick(before.lead, ours.lead, theirs.lead, ours.key),
        head=_pick(before.head, ours.head, theirs.head, ours.key),
        value=merged(before.value, ours.value, theirs.value, idempotent=idempotent, name=ours.key),
        tail=_pick(before.tail, ours.tail, theirs.tail, ours.key),
    )


def _place(result: list[Member], base: Keyed, main: Keyed, change: Keyed) -> None:
    """Insert what the change added: in order where all sides are sorted, else behind the key that it stood behind."""
    before = {member.key for member in base.members}
    ours = {member.key for member in main.members}
    is_sorted = len(base.members) > 1 and all(_is_sorted(side.members) for side in (base, main, change))
    there = {member.key for member in result}
    behind: Hashable = MISSING
    # Comments above a key of the base, now above a key that main put there; the change may have done so too.
    taken = {one.lead for one in main.members if one.key not in before and one.lead.strip()}
    taken &= {one.lead for one in base.members}
    leads = {member.lead for member in main.members[1:]} or {member.lead for member in change.members[1:]}
    for member in change.members:
        if member.key in before or member.key in ours:
            behind = member.key if member.key in there else behind
            continue
        keys = [one.key for one in result]
        if is_sorted:
            at = bisect_left([str(key) for key in keys], str(member.key))
        else:
            at = keys.index(behind) + 1 if behind is not MISSING else 0
            while at < len(result) and result[at].key in ours and result[at].key not in before:
                at += 1
        placed = replace(member, lead=b"") if member.lead in taken else member
        if change.separator:
            placed = _with_lead(result, at, member, leads)
        result.insert(at, placed)
        there.add(member.key)
        behind = member.key


def _with_lead(result: list[Member], at: int, member: Member, leads: set[bytes]) -> Member:
    """Give a member of a separated list the blanks of its new place; several ways to lay it out are declined."""
    if not result:
        return member
    # Of two inline members nothing shows the blank between them, but the one behind a colon does.
    usual = leads or {member.lead or (b" " if member.head.endswith(b" ") else b"")}
    if len(usual) > 1 and member.lead not in usual:
        raise CannotMerge(f"the blanks before {_shown(member.key)} follow no custom of main: model")
    lead = next(iter(usual)) if len(usual) == 1 else member.lead
    if b"\n" in member.lead and member.lead != lead and b"\n" in render(member.value):
        raise CannotMerge(f"main lays out {_shown(member.key)} in another way: model")
    if at == 0:
        first = result[0]
        result[0] = replace(first, lead=lead)
        return replace(member, lead=first.lead)
    return replace(member, lead=lead)


def _must_be_a_set(base: Keyed, main: Keyed, change: Keyed, name: Hashable) -> None:
    """Decline lists whose order may mean something: named so, options, exceptions, values, or unsorted numbers."""
    word = _shown(name).rpartition(".")[2].strip("'\"").lower().replace("-", "_")
    if word in ORDERED_WORDS or word.rpartition("_")[2] in ORDERED_WORDS:
        raise CannotMerge(f"the order of {_shown(name)} may matter: model")
    sides = (base, main, change)
    every = {member.key for side in sides for member in side.members}
    if any(str(key).lstrip("\"'").startswith("-") for key in every):
        raise CannotMerge(f"{_shown(name)} holds options, whose order may matter: model")
    if any(str(key).lstrip("\"'").startswith("!") for key in every):
        raise CannotMerge(f"{_shown(name)} holds exceptions, whose order may matter: model")
    if twice := _set_in(main, base) & _set_in(change, base):
        raise CannotMerge(f"both sides set {min(twice)} in {_shown(name)}: author")
    if not all(isinstance(key, str) for key in every) and not all(_is_sorted(side.members) for side in sides):
        raise CannotMerge(f"{_shown(name)} holds numbers, whose order may matter: model")


def _set_in(side: Keyed, base: Keyed) -> set[str]:
    """Return the names that a side's new items give a value."""
    before = {member.key for member in base.members}
    found = (_SETTING.match(str(member.key).lstrip("\"'")) for member in side.members if member.key not in before)
    return {match[1] for match in found if match}


def _by_key(side: Keyed, name: Hashable) -> dict[Hashable, Member]:
    found = {member.key: member for member in side.members}
    if len(found) < len(side.members):
        raise CannotMerge(f"{_shown(name)} holds a key twice: author")
    return found


def _same_member(one: Member, other: Member) -> bool:
    texts = (one.lead, one.head, one.tail) == (other.lead, other.head, other.tail)
    return one.key == other.key and texts and same(one.value, other.value)


def _pick(base: bytes, main: bytes, change: bytes, name: Hashable) -> bytes:
    if change in (base, main):
        return main
    if main == base:
        return change
    raise CannotMerge(f"both sides changed the text around {_shown(name)}: model")


def _is_sorted(members: Iterable[Member]) -> bool:
    keys = [member.key for member in members]
    if all(isinstance(key, int | float) for key in keys):
        return all(one < other for one, other in itertools.pairwise(keys))  # type: ignore[operator]
    return all(str(one) < str(other) for one, other in itertools.pairwise(keys))


def _shown(name: Hashable) -> str:
    """Return a key as text that can be written; JSON's may hold half of a pair of code units."""
    if isinstance(name, bytes):
        return name.decode("utf-8", "replace") or "the file"
    whole = ".".join(str(part) for part in name if not isinstance(part, int)) if isinstance(name, tuple) else str(name)
    return whole.encode(errors="replace").decode() or "the file"

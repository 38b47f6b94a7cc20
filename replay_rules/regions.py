"""Line up the items of three versions: anchors that both sides still have, and the regions between them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from replay_rules.hunks import matched
from replay_rules.parts import Container, Item
from replay_rules.places import Place, Region, Undecided
from replay_rules.shapes import inner

_APART = frozenset({"def", "import", "comment"})
_WORD = re.compile(rb"\w+")
_IMPORT_WORDS = frozenset({b"import", b"from", b"as", b"type", b"use", b"using", b"pub", b"static"})


def parts(place: Place) -> Iterator[Region | tuple[Item, Item, Item]]:
    """Yield regions and anchors in order; regions that are empty in every version are left out."""
    base, main, change = place.base.items, place.main.items, place.change.items
    in_main, in_change = _matches(base, main), _matches(base, change)
    at = (0, 0, 0)
    before: Item | None = None
    anchors = [(one, in_main[one], in_change[one]) for one in range(len(base)) if one in in_main and one in in_change]
    for anchor in [*anchors, None]:
        upto = anchor if anchor is not None else (len(base), len(main), len(change))
        region = Region(
            base[at[0] : upto[0]],
            main[at[1] : upto[1]],
            change[at[2] : upto[2]],
            before,
            base[upto[0]] if anchor is not None else None,
        )
        if region.base or region.main or region.change:
            yield region
        if anchor is not None:
            before = base[anchor[0]]
            yield base[anchor[0]], main[anchor[1]], change[anchor[2]]
            at = (anchor[0] + 1, anchor[1] + 1, anchor[2] + 1)


def no_meeting(place: Place) -> None:
    """Refuse a name that one side defines and the other imports, wherever in the container they do so."""
    old = _imported(place.base)
    for one, other in ((place.main, place.change), (place.change, place.main)):
        names = {item.name for item in place.new_in(one) if item.kind == "def"}
        if names and names & (_imported(other) - old):
            raise Undecided("one side defines a name that the other imports: model")


def _imported(side: Container) -> set[bytes]:
    return {word for item in side.items if item.kind == "import" for word in re.findall(rb"\w+", item.text)}


def beside(part: Region | tuple[Item, Item, Item]) -> bool:
    """Return whether one side alone changed statements here, which may bear on what the other did in the block."""
    runs = (part.base, part.main, part.change) if isinstance(part, Region) else tuple((item,) for item in part)
    base, main, change = (texts(run) for run in runs)
    if (main == base) == (change == base):
        return False
    return any(item.kind not in _APART for run in runs for item in run)


def no_repeats(place: Place) -> None:
    """Refuse a side that repeats an item known by its text alone: which of the two is the old one cannot be told."""
    base, main, change = (
        Counter(item.key for item in side.items if not item.name) for side in (place.base, place.main, place.change)
    )
    for key, count in base.items():
        if max(main[key], change[key]) > count:
            raise Undecided("a side repeats a line that was there: model")


def no_early_use(kept: Mapping[tuple[str, bytes], Item], change: Sequence[Item], result: Sequence[Item]) -> None:
    """Refuse a twin that stands, at main's place, behind what the change uses it for while the file is read."""
    for key, item in kept.items():
        words = (
            set(_WORD.findall(item.text if item.kind == "import" else item.name.rpartition(b" ")[2])) - _IMPORT_WORDS
        )
        before, early = (words & _read_before(key, run) for run in (change, result))
        if early - before:
            raise Undecided(f"{min(early).decode(errors='replace')} would be used before it is there: model")


def _read_before(key: tuple[str, bytes], run: Sequence[Item]) -> set[bytes]:
    above = itertools.takewhile(lambda one: one.key != key, run)
    return set().union(*map(_read_at_once, above))


def _read_at_once(item: Item) -> set[bytes]:
    """Return the words of an item, without those of a function's body, which is run later."""
    text = item.text
    core = inner(item.node) if item.node is not None else None
    body = core.child_by_field_name("body") if core is not None and "class" not in core.type else None
    if item.kind == "def" and item.node is not None and body is not None and body.text is not None:
        head, found, _ = text.rpartition(body.text)
        text = head if found else text
    return set(_WORD.findall(text)) if item.kind != "comment" else set()


def without(place: Place, gone: Mapping[tuple[str, bytes], Item]) -> tuple[Item, ...]:
    """Return the change's items without some; what stood behind one has its blank lines of the base again."""
    leads = {item.key: item.lead for item in place.base.items}
    rest: list[Item] = []
    behind = False
    for item in place.change.items:
        if item.key in gone:
            behind = True
            continue
        rest.append(item._replace(lead=leads.get(item.key, item.lead)) if behind else item)
        behind = False
    return tuple(rest)


def texts(items: Sequence[Item]) -> list[tuple[bytes, bytes]]:
    return [(item.text, item.note) for item in items]


def _matches(base: Sequence[Item], side: Sequence[Item]) -> dict[int, int]:
    blocks = matched([item.key for item in base], [item.key for item in side])
    return {block.base + step: block.side + step for block in blocks for step in range(block.size)}

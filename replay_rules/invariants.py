"""What must hold of every automatic result, whatever made it.

- I1: a file that parses on both sides parses; no result has more faults than the worse side, and a clean merge no more
  than both sides brought.
- I2: no definition stands more often than in either side, no literal, mapping, call or signature holds more doubled
  keys, no list of data more doubled texts, and no name is bound by imports to more things.
- I3: lines add up. Of a clean merge exactly: what main holds, plus what the change added, less what it removed. A rule
  may write lines that are on neither side, so there: what nobody touched is still there, and no new word is lost.
- I4, for clean merges: a second, different diff puts every hunk at the same place.
- astray, for clean merges: nothing stands below another key, section or class than on its side.
- alike, for clean merges: no hunk was made by both sides, unless the job says that it is meant once, or
  `replay_rules.meant_once` shows that it cannot be meant twice.
- swept, for rules on code: no word comes back that one side took out of all the places where it stood.

A doubt begins with the invariant's name and a colon.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.bindings import bound_in, clashing
from replay_rules.clean_merge import merge
from replay_rules.data_keys import reader_of
from replay_rules.grammars import GRAMMARS, language_of
from replay_rules.hunks import Hunk, hunks, lines_of, whole_hunks
from replay_rules.kept import kept
from replay_rules.meant_once import is_meant_once
from replay_rules.parsing import Parsed
from replay_rules.pieces import asked
from replay_rules.symbols import definitions_in, doubled_keys

PARSED_BYTES = 1 << 20
"""Larger files are data; I1 and I2 do not look at them."""

Placed = tuple[tuple[bytes, ...], bytes]
_WHOLE_DIFF_LINES = 4000
_CLOSE = 6
_WORD = re.compile(rb"(?<![\w\x80-\xff])[A-Za-z_\x80-\xff][\w\x80-\xff]*")


def objection(collision: Collision, result: bytes) -> str:
    """Return why no rule's result may be this content, or the empty text: I1, I2, swept, and what rules keep of I3."""
    base, main, change = (side.content or b"" for side in (collision.base, collision.main, collision.change))
    lost = _losses(base, main, change, result)
    if not lost and language_of(collision.path) is not None:
        lost = _swept(base, main, change, result)
    return lost or ("" if result in (main, change) else _structure(collision.path, main, change, result))


def merge_objection(collision: Collision, result: bytes) -> str:
    """Return why a clean merge is not believed, or the empty text: all invariants."""
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    if base is None or main is None or change is None or base in (main, change):
        return ""
    lines, ours, theirs = lines_of(base), lines_of(main), lines_of(change)
    left, right = _second_diff(lines, ours), _second_diff(lines, theirs)
    alike = set(left) & set(right)
    once = alike if collision.idempotent else {hunk for hunk in alike if is_meant_once(collision.path, lines, hunk)}
    if twice := alike - once:
        where = min(hunk.start for hunk in twice) + 1
        return f"alike: both sides made the same hunk at line {where}, which may be meant twice"
    return (
        _placement(lines, left, right, result)
        or _sum(lines, ours, theirs, result, once)
        or ("" if result in (main, change) else _structure(collision.path, main, change, result, base))
        or _astray(collision.path, (base, main, change, result), vague=_is_vague((lines, ours, theirs), left, right))
    )


def sound_merge(collision: Collision) -> Resolved | Declined:
    """Return the clean merge where every invariant allows it: what a rule asks for beside the places it decides."""
    outcome = merge(collision)
    doubt = merge_objection(collision, outcome.content) if isinstance(outcome, Resolved) else ""
    return Declined(why=doubt) if doubt else outcome


def _placement(base: list[bytes], left: list[Hunk], right: list[Hunk], result: bytes) -> str:
    both = sorted({*left, *right}, key=lambda hunk: (hunk.start, hunk.end))
    for before, after in itertools.pairwise(both):
        if after.start < before.end or (after.start == before.start and before.end == after.end):
            return f"I4: a second diff finds both sides at line {after.start + 1}"
    at = 0
    out: list[bytes] = []
    for hunk in both:
        out += base[at : hunk.start]
        out += hunk.lines
        at = hunk.end
    out += base[at:]
    return "" if b"".join(out) == result else "I4: a second diff places the hunks elsewhere"


def _second_diff(base: list[bytes], side: list[bytes]) -> list[Hunk]:
    """Diff without cutting off the common ends first, as git's diff does: a like-looking twin may lie there."""
    return hunks(base, side) if max(len(base), len(side)) > _WHOLE_DIFF_LINES else whole_hunks(base, side)


def _sum(base: list[bytes], ours: list[bytes], theirs: list[bytes], result: bytes, once: Iterable[Hunk]) -> str:
    if all(not version or version[-1].endswith(b"\n") for version in (base, ours, theirs)):
        # What `_placement` allows is the base with every hunk laid on it once: its lines add up as long as none of them
        # grows together with the next.
        return ""
    wanted = Counter(ours)
    wanted.update(theirs)
    wanted.subtract(base)
    for hunk in once:
        wanted.subtract(hunk.lines)
        wanted.update(base[hunk.start : hunk.end])
    wanted.subtract(lines_of(result))
    wrong = [line for line, count in wanted.items() if count]
    return f"I3: the line {_shown(wrong[0])} does not add up" if wrong else ""


def _is_vague(versions: Sequence[list[bytes]], left: list[Hunk], right: list[Hunk]) -> bool:
    """Return whether hunks of both sides are close, and each line between them is one of several alike."""
    both = sorted([*((hunk.start, hunk.end, 0) for hunk in left), *((hunk.start, hunk.end, 1) for hunk in right)])
    near = [(one[1], two[0]) for one, two in itertools.pairwise(both) if one[2] != two[2] and two[0] - one[1] <= _CLOSE]
    between = [versions[0][start:end] for start, end in near]
    return any(all(any(version.count(line) > 1 for version in versions) for line in lines) for lines in between)


def _astray(path: bytes, versions: Sequence[bytes], *, vague: bool) -> str:
    """Say what stands below something else than on its side, which is still there, or the empty text.

    Lines that merge clean may do that where the line between two hunks is one of many, such as a closing bracket.
    """
    if max(map(len, versions)) > PARSED_BYTES:
        return ""
    read = _placed_by(path, vague=vague)
    if read is None:
        return ""
    found = [read(content) for content in versions]
    if None in found:
        return ""
    base, main, change, result = (Counter(places) for places in found)
    there = _containers(result)
    for place in dict.fromkeys((*main, *change, *base)):
        ours, theirs, now = (side[place] - base[place] for side in (main, change, result))
        least = max(ours, theirs) if min(ours, theirs) > 0 else ours + theirs
        if now < least and place[0] in there:
            entry = place[1]
            if least - now > _taken(entry, base, main, change) + _taken(entry, base, change, main):
                return f"astray: {_shown(entry)} stands elsewhere than on its side"
    return ""


def _containers(places: Iterable[Placed]) -> set[tuple[bytes, ...]]:
    return {around[:depth] for around, _ in places for depth in range(len(around) + 1)}


def _taken(entry: bytes, base: Counter[Placed], side: Counter[Placed], other: Counter[Placed]) -> int:
    """Return how often a side took an entry out of where the other side has nothing any more, for it renamed it."""
    held = _containers(other)
    return sum(
        count - side[place]
        for place, count in base.items()
        if place[1] == entry and count > side[place] and place[0] not in held
    )


def _placed_by(path: bytes, *, vague: bool) -> Callable[[bytes], Mapping[Placed, int] | None] | None:
    language = language_of(path)
    if language is not None and language in GRAMMARS:
        return (lambda content: _code_places(language, content)) if vague else None
    data = reader_of(path)
    return (lambda content: None if (keys := data(content)).faults else keys.places) if data is not None else None


@kept(1 << 20)
def _code_places(language: str, content: bytes) -> Counter[Placed]:
    found: Counter[Placed] = Counter()
    for _, defined in asked(language, content, definitions_in):
        for one in defined:
            found[one.parent, one.name] += 1
            found[(*one.parent, one.name), b""] += 0
    return found


def _losses(base: bytes, main: bytes, change: bytes, result: bytes) -> str:
    kept = Counter(lines_of(base)) & Counter(lines_of(main)) & Counter(lines_of(change))
    # The last line of a file may gain or lose its end without being touched.
    there = Counter(line.rstrip(b"\r\n") for line in lines_of(result))
    untouched: Counter[bytes] = Counter()
    for line, count in kept.items():
        untouched[line.rstrip(b"\r\n")] += count
    if lost := untouched - there:
        return f"I3: the line {_shown(next(iter(lost)))} is lost, which neither side touched"
    words = (_words(main).keys() | _words(change).keys()) - _words(base).keys()
    gone = words - _words(result).keys()
    return f"I3: {_shown(min(gone))} is lost, which a side added" if gone else ""


def _swept(base: bytes, main: bytes, change: bytes, result: bytes) -> str:
    before, ours, theirs, now = (_words(side) for side in (base, main, change, result))
    for side, other in ((ours, theirs), (theirs, ours)):
        back = [word for word, count in before.items() if count > 1 and not side[word] and now[word] and other[word]]
        if back:
            return f"swept: {_shown(min(back))} is back, which one side took out everywhere"
    return ""


def _brought(path: bytes, sides: Sequence[_Structure], base: bytes | None) -> int:
    """Return how many faults there are with those of both sides: a grammar that knows no macros finds some anywhere."""
    before = _read(path, base) if base is not None else None
    return sum(side.faults for side in sides) - before.faults if before is not None and len(sides) == 2 else 0


class _Structure(NamedTuple):
    """What I1 and I2 count in a file."""

    faults: int
    names: Counter[Hashable]

    @property
    def plain(self) -> bool:
        """Return whether there is nothing that the sides would have to excuse."""
        return not self.faults and all(count == 1 for count in self.names.values())


def _structure(path: bytes, main: bytes, change: bytes, result: bytes, base: bytes | None = None) -> str:
    if max(len(main), len(change), len(result)) > PARSED_BYTES:
        return ""
    seen = _read(path, result)
    if seen is None or seen.plain:
        return ""
    sides = [side for side in (_read(path, main), _read(path, change)) if side is not None]
    if seen.faults > max(side.faults for side in sides) and seen.faults > _brought(path, sides, base):
        return "I1: the result has a parse error that neither side has"
    excused: Counter[Hashable] = Counter()
    for side in sides:
        excused |= side.names
    for key, count in seen.names.items():
        if count > max(1, excused[key]):
            return f"I2: {_named(key)} stands more often than on either side"
    return ""


def _read(path: bytes, content: bytes) -> _Structure | None:
    """Return what there is to count; None where nothing here can read the file."""
    language = language_of(path)
    if language is not None and language in GRAMMARS:
        return _read_code(language, content)
    data = reader_of(path)
    if data is None:
        return None
    keys = data(content)
    return _Structure(keys.faults, Counter({("key", text): count for text, count in keys.doubled.items()}))


@kept(1 << 20)
def _read_code(language: str, content: bytes) -> _Structure:
    found = [counted for _, counted in asked(language, content, _counted_in)]
    names: Counter[Hashable] = Counter(key for counted in found for key in counted.keys)
    doubled: Counter[bytes] = Counter()
    for counted in found:
        doubled += counted.doubled
    names.update({("key", text): count + 1 for text, count in doubled.items()})
    bound = (one for counted in found for one in counted.bound)
    names.update({("bound", name): count for name, count in clashing(language, bound).items()})
    return _Structure(sum(counted.faults for counted in found), names)


class _Counted(NamedTuple):
    """What one piece of a file adds to its `_Structure`."""

    faults: int
    keys: tuple[Hashable, ...]
    doubled: Counter[bytes]
    bound: tuple[tuple[bytes, bytes], ...]


def _counted_in(parsed: Parsed) -> _Counted:
    keys = tuple(one.key for one in definitions_in(parsed) if one.kind != "space")
    return _Counted(parsed.faults(), keys, doubled_keys(parsed), () if parsed.is_torn else tuple(bound_in(parsed)))


@kept(1 << 20)
def _words(content: bytes) -> Counter[bytes]:
    return Counter(_WORD.findall(content))


def _named(key: Hashable) -> str:
    match key:
        case ("key", bytes() as text):
            return f"the key {_shown(text)}"
        case ("bound", bytes() as name):
            return f"an import of {_shown(name)}"
        case (tuple() as parent, bytes() as name, bytes()):
            return f"the definition {_shown(b'.'.join([*parent, name]))}"
        case _:
            return str(key)


def _shown(text: bytes) -> str:
    plain = text.strip().decode(errors="replace")
    return f"`{plain[:60]}`" if plain else "that is blank"

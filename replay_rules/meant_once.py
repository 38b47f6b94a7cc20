"""Hunks that two sides made alike and that cannot be meant twice.

Two agents who raise a counter from 5 to 6 meant 7, so a hunk made alike is doubted. These are not, for making them a
second time changes nothing:

- *Lines deleted.* Deleting the same lines twice is the same deletion: what is gone cannot go again. That holds where
  the lines stood nowhere else in the base; of equal lines (a tally) two sides may each have meant to strike one.
- *Blanks.* Blank lines, and blanks at the end of a line, separate; what is separated twice is separated.
- *Imports.* A module's imports are a set: a name that is imported twice is imported. Both the lines that were there
  and the new ones must be whole import statements.
- *New definitions.* A name cannot be defined twice, so functions and classes that both sides wrote to the letter, under
  names that the base does not know, are one. Whatever else the hunk adds is not.
- *Pins.* ``name==1.4.2`` names a release that somebody else made. Who pins it a second time finds it pinned: no pin is
  counted up from the one before. Nothing but the number may change, and only in lines of that form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from qodebase.paths import RepoPath
from replay_rules.grammars import GRAMMARS, language_of
from replay_rules.hunks import Hunk
from replay_rules.parsing import NoGrammar, parse
from replay_rules.shapes import is_import
from replay_rules.symbols import definitions, definitions_in

_PIN = re.compile(rb"([A-Za-z0-9][\w.-]*(?:\[[\w,. -]+\])?)==[0-9][\w.!+]*\s*")
_WHOLE = frozenset({"function", "class", "type"})


def is_meant_once(path: RepoPath, base: Sequence[bytes], hunk: Hunk) -> bool:
    r"""Return whether a hunk of ``base`` that both sides made is the same edit made once.

    >>> deleted, raised = Hunk(1, 2, ()), Hunk(0, 1, (b"n = 6\n",))
    >>> [is_meant_once(RepoPath(b"a.py"), [b"n = 5\n", b"old()\n"], hunk) for hunk in (deleted, raised)]
    [True, False]
    """
    old = base[hunk.start : hunk.end]
    if _plain(old) == _plain(hunk.lines):
        return True
    if not _plain(hunk.lines):
        there = Counter(base)
        return all(there[line] == 1 for line in old if line.strip())
    return _are_pins(old, hunk.lines) or _are_imports(path, old, hunk.lines) or _are_new(path, base, hunk)


def _plain(lines: Sequence[bytes]) -> list[bytes]:
    return [line.rstrip() for line in lines if line.strip()]


def _begins_indented(lines: Sequence[bytes]) -> bool:
    return next((line[:1].isspace() for line in lines if line.strip()), False)


def _are_pins(old: Sequence[bytes], new: Sequence[bytes]) -> bool:
    names = [[match[1] if (match := _PIN.fullmatch(line)) else None for line in lines] for lines in (old, new)]
    return bool(names[0]) and None not in names[0] and names[0] == names[1]


def _are_imports(path: RepoPath, old: Sequence[bytes], new: Sequence[bytes]) -> bool:
    language = language_of(path)
    if language is None or language not in GRAMMARS:
        return False
    if _begins_indented(new):
        return False
    try:
        found = [parse(language, b"".join(lines)) for lines in (old, new)]
    except NoGrammar:
        return False
    if any(one.has_error for one in found):
        return False
    return all(is_import(one, node) for one in found for node in one.root.named_children)


def _are_new(path: RepoPath, base: Sequence[bytes], hunk: Hunk) -> bool:
    language = language_of(path)
    if hunk.start != hunk.end or language is None or language not in GRAMMARS:
        return False
    text = b"".join(hunk.lines)
    if _begins_indented(hunk.lines):
        return False
    try:
        found = parse(language, text)
    except NoGrammar:
        return False
    outer = [one for one in definitions_in(found) if not one.parent]
    if found.has_error or any(one.kind not in _WHOLE for one in outer):
        return False
    bare = text
    for one in reversed(outer):
        bare = bare[: one.head] + bare[one.end :]
    known = {one.name for one in definitions(language, b"".join(base))}
    return bool(outer) and not bare.strip() and known.isdisjoint(one.name for one in outer)

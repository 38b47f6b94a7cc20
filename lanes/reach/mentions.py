"""Which names a test mentions: in its own words, and in those of all that it may come to by a name.

A test that only calls functions can come to another result only where one of these names means something else, or where
a module does something else when it is imported. That is so as long as nothing looks names up by texts that are put
together, and no code from elsewhere, a framework say, looks for names of its own; where that may be, nothing is said.
To select tests by what they can reach is the technique of Rothermel and Harrold, "A safe, efficient regression test
selection technique" (1997).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from lanes.reach.looking import all_simple
from lanes.reach.outline import Outline, Statement, Words, outline_of
from qodebase.paths import RepoPath

Mentioned = tuple[Words, ...]
"""The words of a test and of what it may come to, in parts."""


def mentioned(tests: Collection[str], modules: Mapping[RepoPath, bytes]) -> Mentioned | None:
    """Return what tests mention; None where that cannot be told.

    Args:
        tests: the functions that are run.
        modules: every Python file that is read meanwhile, those of the tests too.
    """
    outlines = [outline_of(content) for content in modules.values()]
    known = [outline for outline in outlines if outline is not None]
    if len(known) < len(outlines):
        return None
    own = frozenset(part.removesuffix(".py") for path in modules for part in path.decode(errors="replace").split("/"))
    imported = [one for outline in known for one in outline.statements if one.imported]
    found = [*_reached(frozenset(tests), known)]
    renamed = {name for one in (*imported, *found) for was, name in one.renames if was in own}
    if any(one.looks or not one.whole.isdisjoint(own | renamed) for one in found):
        return None
    if not all(all_simple(one.imports, own) for one in (*imported, *found)):
        return None
    return (frozenset(tests), *dict.fromkeys(one.words for one in found))


def _reached(tests: Words, outlines: Sequence[Outline]) -> Iterator[Statement]:
    """Yield what runs in any case, and what is bound to a name that is mentioned, in that too."""
    seen: dict[int, Statement] = {id(one): one for outline in outlines for one in outline.always}
    words = [tests, *(one.words for one in seen.values())]
    while words:
        these = words.pop()
        for outline in outlines:
            for name in outline.by_name.keys() & these:
                one = outline.by_name[name]
                if id(one) not in seen:
                    seen[id(one)] = one
                    words.append(one.words)
    yield from seen.values()

"""Which names a test mentions: in its own words, and in those of all that it may come to by a name.

A test that only calls functions can come to another result only where one of these names means something else, or where
a module does something else when it is imported. That is so as long as nothing looks names up by texts that are put
together, and no code from elsewhere, a framework say, looks for names of its own; where that may be, nothing is said.
Nor is anything said where lines of the code may be shown, which move with those before them, but for the texts that
asyncio has about its tasks and handles.
To select tests by what they can reach is the technique of Rothermel and Harrold, "A safe, efficient regression test
selection technique" (1997).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from lanes.reach.looking import all_simple, hides_one_of_python
from lanes.reach.outline import Outline, outline_of
from lanes.reach.statement import Statement, Words
from qodebase.paths import RepoPath

_SEARCH_PATH = frozenset(("sys", "path"))

Mentioned = tuple[Words, ...]
"""The words of a test and of what it may come to, in parts."""


def mentioned(tests: Collection[str], modules: Mapping[RepoPath, bytes]) -> Mentioned | None:
    """Return what tests mention; None where that cannot be told.

    Args:
        tests: the functions that are run.
        modules: every Python file that is read meanwhile, those of the tests too.
    """
    outlines = {path: outline_of(content) for path, content in modules.items()}
    known = [outline for outline in outlines.values() if outline is not None]
    if len(known) < len(outlines):
        return None
    own = _parts(modules)
    imported = [one for outline in known for one in outline.statements if one.imported]
    found = [*_reached(frozenset(tests), known)]
    named = own | _renamed(own, [pair for one in (*imported, *found) for pair in one.renames])
    if any(one.looks or not one.whole.isdisjoint(named) for one in found):
        return None
    searched = any(one.words >= _SEARCH_PATH for one in found)
    if hides_one_of_python(modules.keys(), None if searched else _files_of(frozenset(tests), outlines)):
        return None
    if not all_simple(frozenset[str]().union(*(one.imports for one in (*imported, *found))), own, modules.keys()):
        return None
    # What is new in a package may have the name of a module there, and be imported in its place.
    return (frozenset(tests) | own, *dict.fromkeys(one.words for one in found))


def _files_of(tests: Words, outlines: Mapping[RepoPath, Outline | None]) -> list[bytes]:
    """Return the modules that bind the name of a test."""
    return [path for path, one in outlines.items() if one is not None and not tests.isdisjoint(one.bound)]


def _parts(paths: Collection[RepoPath]) -> Words:
    """Return the names of modules, and of the folders that they are in."""
    parts = {part.removesuffix(".py") for path in paths for part in path.decode(errors="replace").split("/")}
    return frozenset(parts - {"__init__"})


def _renamed(own: Words, renames: Sequence[tuple[str, str]]) -> Words:
    """Return the other names under which modules are imported, by way of others too."""
    found: set[str] = set()
    while more := {name for was, name in renames if was in own or was in found} - found:
        found |= more
    return frozenset(found)


def _reached(tests: Words, outlines: Sequence[Outline]) -> Iterator[Statement]:
    """Yield what runs in any case, and what is bound to a name that is mentioned, in that too."""
    seen = {id(one): one for outline in outlines for one in outline.always}
    named = [outline.by_name for outline in outlines]
    done: set[str] = set()
    todo = [tests, *(one.words for one in seen.values())]
    while todo:
        for name in todo.pop().difference(done):
            done.add(name)
            for names in named:
                one = names.get(name)
                if one is not None and id(one) not in seen:
                    seen[id(one)] = one
                    todo.append(one.words)
    yield from seen.values()

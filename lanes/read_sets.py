"""Read sets: which checks a change concerns, and what has moved since a tree was judged.

A place is a path, or a folder whose names a check listed (it ends with a slash, ``/`` is the root); see
`qodebase.ports.Judgement`. A change touches the paths that it edits and, where a name comes or goes or becomes another
kind of thing, all folders above it: whether they list other names cannot be told without looking at the whole tree. Of
a Python file that a change edits it may be known that only some names mean something else there, and of a check which
names it mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property

from lanes.reach.difference import Named, named_changes
from qodebase.change import EXECUTABLE, REGULAR
from qodebase.collision import Entry
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import Judgement
from qodebase.trunk.folder import Node
from replay_rules.renames import Code

FILES = (REGULAR, EXECUTABLE)


@dataclass(frozen=True)
class Touched:
    """What one or more changes touch.

    Attributes:
        places: paths and folders.
        named: of paths among them that changed in nothing but what some names mean, these names.
    """

    places: frozenset[RepoPath]
    named: Named = field(default_factory=dict)

    @cached_property
    def whole(self) -> frozenset[RepoPath]:
        """Return the places that changed in more than some names."""
        return self.places.difference(self.named)


def touched(edits: Mapping[RepoPath, Edit | None], before: Code, *, named: bool) -> Touched:
    """Return what edits of ``before`` touch; ``named``: look at names."""

    def file_before(path: RepoPath) -> Edit | None:
        entry = before.entry(path)
        return None if entry is None or entry.mode not in FILES else Edit(entry.mode, before.read(path))

    def file_after(path: RepoPath) -> Edit | None:
        edit = edits[path]
        return None if edit is None or edit.mode not in FILES else edit

    moved = (path for path, edit in edits.items() if kind_of(edit) != kind_of(before.entry(path)))
    return Touched(places_of(edits, moved), named_changes(edits, file_before, file_after) if named else {})


def all_touched(several: Iterable[Touched]) -> Touched:
    """Return what changes touch that are laid one behind the other."""
    places: set[RepoPath] = set()
    whole: set[RepoPath] = set()
    named: dict[RepoPath, frozenset[str]] = {}
    for one in several:
        places |= one.places
        whole |= one.whole
        for path, names in one.named.items():
            named[path] = named.get(path, frozenset()) | names
    return Touched(frozenset(places), {path: names for path, names in named.items() if path not in whole})


def places_of(paths: Iterable[RepoPath], moved: Iterable[RepoPath]) -> frozenset[RepoPath]:
    """Return paths, and the folders above those among them that came or went or are of another kind."""
    return frozenset(paths).union(*map(_folders, moved))


def kind_of(entry: Edit | Entry | Node | None) -> int | None:
    """Return what a list of a folder may tell of an entry beside its name."""
    return None if entry is None else entry.mode


def _folders(path: RepoPath) -> Iterable[RepoPath]:
    yield RepoPath(b"/")
    at = path.find(b"/")
    while at >= 0:
        yield RepoPath(path[: at + 1])
        at = path.find(b"/", at + 1)


@dataclass(frozen=True, slots=True)
class Looked:
    """What a check looked at when it was run.

    Attributes:
        read: places; None means everything.
        mentions: the words that it mentions there, in parts, where they are known.
    """

    read: tuple[RepoPath, ...] | None
    mentions: tuple[frozenset[str], ...] | None = None

    @classmethod
    def of(cls, judgement: Judgement, name: str) -> Looked:
        """Return what a check of a judgement looked at; one that was not run looked at everything."""
        return cls(judgement.reads.get(name), judgement.mentions.get(name))

    def meets(self, touched: Touched) -> bool:
        """Return whether a change may make the check come to something else."""
        if self.read is None or not touched.whole.isdisjoint(self.read):
            return True
        return any(path in self.read and self.mention(names) for path, names in touched.named.items())

    def mention(self, names: Set[str]) -> bool:
        """Return whether the check mentions one of these names, or may."""
        return self.mentions is None or any(not names.isdisjoint(words) for words in self.mentions)


class ReadSets:
    """What checks looked at, found by place."""

    def __init__(self) -> None:
        self._looked: dict[str, Looked] = {}
        self._readers: dict[RepoPath, set[str]] = {}
        self._of_everything: set[str] = set()

    def keep(self, name: str, looked: Looked) -> None:
        """Keep what a check looked at when it was run last."""
        known = self._looked.get(name)
        if known is None or known.read != looked.read:
            self.drop(name)
            if looked.read is None:
                self._of_everything.add(name)
            for place in looked.read or ():
                self._readers.setdefault(place, set()).add(name)
        self._looked[name] = looked

    def drop(self, name: str) -> None:
        """Forget a check."""
        known = self._looked.pop(name, None)
        self._of_everything.discard(name)
        for place in () if known is None else known.read or ():
            self._readers[place].discard(name)

    def meeting(self, touched: Touched) -> set[str]:
        """Return the checks that a change may make come to something else."""
        return self._of_everything | self.known_to_meet(touched)

    def known_to_meet(self, touched: Touched) -> set[str]:
        """Return the same without the checks that may have looked at anything."""
        found = set[str]().union(*(self._readers.get(place, ()) for place in touched.whole))
        for path, names in touched.named.items():
            found.update(name for name in self._readers.get(path, ()) if self._looked[name].mention(names))
        return found


class Moved:
    """What landed, in order, as far back as anybody may ask."""

    def __init__(self) -> None:
        self._landed: list[tuple[int, Touched]] = []

    def landed(self, position: int, touched: Touched) -> None:
        """Take in a landing; ``position`` counts main's commits (`lanes.fork.Main`)."""
        self._landed.append((position, touched))

    def since(self, position: int) -> Touched:
        """Return what moved after a position."""
        found: list[Touched] = []
        for at, touched in reversed(self._landed):
            if at <= position:
                break
            found.append(touched)
        return all_touched(found)

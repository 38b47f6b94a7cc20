"""Read sets: which checks a change concerns, and what has moved since a tree was judged.

A place is a path, or a folder whose names a check listed (it ends with a slash, ``/`` is the root); see
`qodebase.ports.Judgement`. A change touches the paths that it edits and, where a name comes or goes, all folders above
it: whether they list other names cannot be told without looking at the whole tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set

from qodebase.collision import Entry
from qodebase.edits import Edit
from qodebase.paths import RepoPath

Read = Collection[RepoPath] | None
"""What a check read; None means everything."""


def touched(edits: Mapping[RepoPath, Edit | None], expects: Mapping[RepoPath, Entry | None]) -> frozenset[RepoPath]:
    """Return the places that edits touch, laid on what ``expects`` says is there."""
    found = set(edits)
    for path, edit in edits.items():
        if (edit is None) != (expects.get(path) is None):
            found.update(_folders(path))
    return frozenset(found)


def _folders(path: RepoPath) -> Iterable[RepoPath]:
    yield RepoPath(b"/")
    at = path.find(b"/")
    while at >= 0:
        yield RepoPath(path[: at + 1])
        at = path.find(b"/", at + 1)


class ReadSets:
    """The read sets of checks, found by place."""

    def __init__(self) -> None:
        self._read: dict[str, Read] = {}
        self._readers: dict[RepoPath, set[str]] = {}
        self._of_everything: set[str] = set()

    def keep(self, name: str, read: Read) -> None:
        """Keep what a check read when it was run last."""
        if name in self._read:
            if self._read[name] == read:
                return
            self.drop(name)
        self._read[name] = read
        if read is None:
            self._of_everything.add(name)
        for place in read or ():
            self._readers.setdefault(place, set()).add(name)

    def drop(self, name: str) -> None:
        """Forget a check."""
        read = self._read.pop(name, ())
        self._of_everything.discard(name)
        for place in read or ():
            self._readers[place].discard(name)

    def meeting(self, places: Iterable[RepoPath]) -> set[str]:
        """Return the checks that read one of the places, or may have."""
        return self._of_everything | self.known_to_read(places)

    def known_to_read(self, places: Iterable[RepoPath]) -> set[str]:
        """Return the checks that read one of the places, without those that may have read anything."""
        return set[str]().union(*(self._readers.get(place, ()) for place in places))


def meets(read: Read, places: Set[RepoPath]) -> bool:
    """Return whether a check that read so much looked at one of the places."""
    return read is None or not places.isdisjoint(read)


class Moved:
    """What landed, in order, as far back as anybody may ask."""

    def __init__(self) -> None:
        self._landed: list[tuple[int, frozenset[RepoPath]]] = []

    def landed(self, position: int, places: frozenset[RepoPath]) -> None:
        """Take in a landing; ``position`` counts main's commits (`lanes.fork.Main`)."""
        self._landed.append((position, places))

    def since(self, position: int) -> set[RepoPath]:
        """Return the places that moved after a position."""
        found: set[RepoPath] = set()
        for at, places in reversed(self._landed):
            if at <= position:
                break
            found |= places
        return found

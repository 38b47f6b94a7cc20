"""Groups of landings that share no path, each for a branch of its own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from qodebase.commands.support.handover.landed import Work
from qodebase.commands.support.handover.owners import owners_in
from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath
from qodebase.ports import Tree

SHARED = "shared"
"""The last branch: landings over several groups, and paths that all groups share."""

ROOT = "root"
NOBODY = "no-owner"
_NO_PART = re.compile(r"[^A-Za-z0-9_+-]+")


class NoOwners(QodebaseError):
    """A commit without a file of owners."""


class By(StrEnum):
    """What landings are grouped by."""

    LANE = "lane"
    OWNER = "owner"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Landings of one branch, in the order of landing; ``name`` is a part of the branch's name."""

    name: str
    works: Sequence[Work]

    @property
    def paths(self) -> set[RepoPath]:
        """Return their own paths."""
        return {path for work in self.works for path in work.own}


Key = Callable[[Work], Iterable[str]]


def key_by(by: By, onto: Tree, name: str) -> Key:
    """Return what a landing is grouped by; more than one name, where its paths are not of one group.

    Args:
        onto: the commit that branches begin on; its file of owners counts.
        name: what the user calls that commit.

    Raises:
        NoOwners: it has none.
    """
    match by:
        case By.LANE:
            return lambda work: [work.record.lane]
        case By.FOLDER:
            return lambda work: {_folder(path) for path in work.own}
        case By.OWNER:
            owner = owners_in(onto)
            if owner is None:
                raise NoOwners(
                    f"{name} has no CODEOWNERS in .github, the root or docs", hint="Group by lane or by folder."
                )
            return lambda work: {"+".join(name.lstrip("@") for name in owner(path)) or NOBODY for path in work.own}


def grouped(works: Sequence[Work], key: Key, most: int) -> list[Group]:
    """Return groups that share no path, the last one `SHARED` where there is need of it.

    Landings that share a path stay together; where they are of different groups, they go into the last one, as do
    those that touch nothing but shared paths.

    Args:
        most: so many files a group; more are split over several. Landings that share a path are never parted.
    """
    by_name: defaultdict[str, list[list[Work]]] = defaultdict(list)
    for together in _together(works):
        names = {name for work in together if work.own for name in key(work)}
        by_name[names.pop() if len(names) == 1 else ""].append(together)
    last = by_name.pop("", [])
    groups = []
    taken = {SHARED}
    for name in sorted(by_name):
        parts = _parts(by_name[name], most)
        for number, part in enumerate(parts, 1):
            plain = _plain(name) + (f"-{number}" if len(parts) > 1 else "")
            groups.append(Group(name=_free(plain, taken), works=_in_order(part)))
    return [*groups, Group(name=SHARED, works=_in_order(last))]


def _together(works: Sequence[Work]) -> list[list[Work]]:
    """Return the landings that share a path, directly or over others (union-find)."""
    above = list(range(len(works)))

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    first: dict[RepoPath, int] = {}
    for place, work in enumerate(works):
        for path in work.own:
            above[top(place)] = top(first.setdefault(path, place))
    found: defaultdict[int, list[Work]] = defaultdict(list)
    for place, work in enumerate(works):
        found[top(place)].append(work)
    return list(found.values())


def _parts(bundles: list[list[Work]], most: int) -> list[list[list[Work]]]:
    """Return bundles of landings in parts of at most so many files, neighbours in the tree together."""
    parts: list[list[list[Work]]] = []
    files = most + 1
    for bundle in sorted(bundles, key=lambda bundle: min(min(work.own) for work in bundle)):
        size = len({path for work in bundle for path in work.own})
        if files + size > most:
            parts.append([])
            files = 0
        parts[-1].append(bundle)
        files += size
    return parts


def _in_order(bundles: list[list[Work]]) -> list[Work]:
    return sorted((work for bundle in bundles for work in bundle), key=lambda work: work.place)


def _folder(path: RepoPath) -> str:
    first, slash, _ = path.partition(b"/")
    return first.decode(errors="replace") if slash else ROOT


def _plain(name: str) -> str:
    """Return a name that can be a part of a ref's and of a file's."""
    return _NO_PART.sub("-", name).strip("-") or "other"


def _free(name: str, taken: set[str]) -> str:
    """Return the name, or one like it that is free, also where case does not count; take it."""
    free, number = name, 1
    while free.lower() in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free.lower())
    return free

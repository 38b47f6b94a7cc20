"""Which checks may run in one process, so that none can tell that the others are there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from lanes.checking.checkout import Laid
from lanes.checking.definition import Definition
from lanes.checking.inside.reads import NOTHING
from lanes.checking.results import Result
from qodebase.paths import RepoPath

Over = Mapping[RepoPath, Laid | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A check that is to be run, and everything that lies in the tree for it instead of what the changes have there."""

    definition: Definition
    over: Over
    others: Hashable

    @classmethod
    def of(cls, definition: Definition, laid: Over) -> Wanted:
        """Return a check with its own files, and with others that it must find."""
        if not laid:
            return cls(definition=definition, over=definition.laid, others=None)
        return cls(definition=definition, over={**laid, **definition.laid}, others=frozenset(laid.items()))


@dataclass(slots=True)
class Group:
    """Checks for one process, what is laid over the tree for all of them, and what they select of the tree itself."""

    names: list[str] = field(default_factory=list)
    over: dict[RepoPath, Laid | None] = field(default_factory=dict)
    bare: set[RepoPath] = field(default_factory=set)

    def takes(self, name: str, one: Wanted) -> bool:
        """Take in a check, unless another one needs something else where it lays or selects a file."""
        for path, laid in one.over.items():
            if path in self.bare or self.over.get(path, laid) != laid:
                return False
        if one.definition.bare:
            bare = one.definition.bare.difference(one.over)
            if not bare.isdisjoint(self.over):
                return False
            self.bare |= bare
        self.names.append(name)
        self.over.update(one.over)
        return True

    def shows(self, one: Wanted, result: Result) -> bool:
        """Return whether a check read or listed what lies there only for another one."""
        if result.read is None or len(one.over) == len(self.over):
            return False
        if any(path not in one.over for path in self.over.keys() & result.read):
            return True
        return bool(result.listed) and any(_folder_of(path) in result.listed for path in self.over.keys() - one.over)


def _folder_of(path: RepoPath) -> bytes:
    return path.rpartition(b"/")[0] + b"/"


def groups_of(wanted: Mapping[str, Wanted], habits: Mapping[str, str]) -> list[Group]:
    """Put checks together that have the same surroundings, and whose own files are nothing but their tests.

    Tests that read or start something themselves are kept from the others, which else would seem to depend on that.
    """
    groups: dict[Hashable, list[Group]] = {}
    for name, one in wanted.items():
        key = one.definition.surroundings, one.others, habits.get(name, NOTHING)
        alike = groups.setdefault(key, [])
        if not any(group.takes(name, one) for group in alike):
            alike.append(Group())
            alike[-1].takes(name, one)
    return [group for alike in groups.values() for group in alike]

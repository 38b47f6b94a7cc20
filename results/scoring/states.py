"""States of the code as tests see them: the base's modules, and what differs in a commit or in a change's own tree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from qodebase.change import SUBMODULE, SYMLINK, Change
from qodebase.collision import Entry
from qodebase.edits import materialise
from qodebase.paths import CommitId, RepoPath
from results.repository import Repository
from results.scoring.reach import Imports, Reach, reach
from results.scoring.suite import File

_MODULES = b".py"

Seen = tuple[tuple[RepoPath, str], ...]
"""Modules with the ids of their contents, sorted."""


class Outcome(NamedTuple):
    """How a test went; ``why`` is what it raised."""

    green: bool
    why: str = ""


class Sight:
    """What a test file reaches, and how its tests went there; states that are the same to it share one.

    Attributes:
        reach: every path that matters to it.
        seen: the modules there, with the ids of their contents.
        outcomes: what is known of its tests, by function.
    """

    __slots__ = ("outcomes", "reach", "seen")

    def __init__(self, reach: Reach, seen: Seen) -> None:
        self.reach = reach
        self.seen = seen
        self.outcomes: dict[str, Outcome] = {}


class State:
    """Which content each module has, by id; ``delta`` is what differs from the base, None where a module is gone."""

    def __init__(self, states: States, delta: Mapping[RepoPath, str | None]) -> None:
        self._states = states
        self.delta = delta
        self._sights: dict[File, Sight] = {}
        self._other: tuple[State, set[RepoPath]] | None = None

    def blob(self, path: RepoPath) -> str | None:
        """Return the id of a module's content, or None."""
        return self.delta[path] if path in self.delta else self._states.base.get(path)

    def sight(self, file: File) -> Sight:
        """Return what a test file reaches."""
        found = self._sights.get(file)
        if found is None:
            found = self._sights[file] = self._from_last(file) or self._look(file)
            self._states.last[file] = self
        return found

    def differs(self, other: State) -> set[RepoPath]:
        """Return the modules in which two states differ."""
        if self._other is None or self._other[0] is not other:
            paths = {*self.delta, *other.delta}
            self._other = other, {path for path in paths if self.blob(path) != other.blob(path)}
        return self._other[1]

    def _from_last(self, file: File) -> Sight | None:
        """Return what the file reached in the state that was last asked, where all of that imports what it did."""
        last = self._states.last.get(file)
        known = None if last is None else last.sight(file)
        if last is None or known is None or known.reach is None:
            return None
        now: dict[RepoPath, str] = {}
        for path in known.reach & self.differs(last):
            id = self.blob(path)
            if id is None or self._imports(path) != last._imports(path):
                return None
            now[path] = id
        return self._shared(file, known.reach, tuple(sorted((dict(known.seen) | now).items()))) if now else known

    def _imports(self, path: RepoPath) -> tuple[RepoPath, ...] | None:
        id = self.blob(path)
        return None if id is None else self._states.imports.of(path, id, self._states.content(id))

    def _shared(self, file: File, found: Reach, seen: Seen) -> Sight:
        return self._states.sights.setdefault((file, seen), Sight(found, seen))

    def _look(self, file: File) -> Sight:
        states = self._states
        found = reach(file.path, file.source, self.blob, states.content, states.imports)
        paths = {*states.base, *self.delta} if found is None else found
        seen = tuple(sorted((path, id) for path in paths if (id := self.blob(path)) is not None))
        return self._shared(file, found, seen)


class States:
    """Make states of a run's commits and changes.

    Args:
        repository: where commits and contents are.
        base: the run's base.
    """

    def __init__(self, repository: Repository, base: CommitId) -> None:
        self._repository = repository
        self._base = base
        self._commits: dict[CommitId, State] = {}
        self._made: dict[str, bytes] = {}
        self.imports = Imports()
        self.sights: dict[tuple[File, Seen], Sight] = {}
        self.last: dict[File, State] = {}
        """The state that a file was last looked for in: the next one is often much the same."""

    @cached_property
    def base(self) -> dict[RepoPath, str]:
        """Return the modules of the base."""
        return {path: entry.id for path, entry in self._repository.view(self._base).walk() if _is_module(path, entry)}

    def content(self, id: str) -> bytes:
        """Return what an id names."""
        made = self._made.get(id)
        return self._repository.blob(id) if made is None else made

    def of(self, commit: CommitId) -> State:
        """Return a commit's state.

        Raises:
            MissingObject: the repository does not hold it.
        """
        if commit not in self._commits:
            base, tree = self._repository.view(self._base).tree, self._repository.view(commit).tree
            differs = self._repository.trees.diff(base, tree)
            self._commits[commit] = State(
                self, {path: _module(path, one.after) for path, one in differs.items() if path.endswith(_MODULES)}
            )
        return self._commits[commit]

    def own(self, change: Change) -> State:
        """Return the state of a change's own tree: its base with its edits and nothing else.

        Raises:
            BadChange: the change does not fit its base.
            MissingObject: the repository does not hold the base.
        """
        delta = dict(self.of(change.base).delta)
        for path, edit in materialise(change, self._repository.view(change.base)).items():
            if path.endswith(_MODULES):
                entry = None if edit is None else edit.entry
                delta[path] = _module(path, entry)
                if edit is not None and entry is not None:
                    self._made[entry.id] = edit.content
        return State(self, delta)


def _is_module(path: RepoPath, entry: Entry) -> bool:
    return path.endswith(_MODULES) and entry.mode not in (SYMLINK, SUBMODULE)


def _module(path: RepoPath, entry: Entry | None) -> str | None:
    return entry.id if entry is not None and _is_module(path, entry) else None
